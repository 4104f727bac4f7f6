"""The routes of the page about the lab."""

from collections.abc import Callable
from typing import Annotated, Any, Literal

from fastapi import FastAPI, Query
from torch import Tensor

from clearformer.model.config import PositionKind
from clearformer.serving.admission import Turns
from clearformer.studio import requests as asked
from clearformer.studio.lab_knobs import turn_distance, turn_schedule, turn_softmax, turn_temperature
from clearformer.studio.shown_lab import ShownLab
from clearformer.training.schedule import ScheduleConfig

Width = Annotated[int, Query(ge=1, le=4096)]
Temperature = Annotated[float, Query(ge=0.05, le=20)]
Kind = Literal["inverse-sqrt", "cosine", "linear", "constant"]


class LabAnswers:
    """Experiments and knobs. head: the weights of a head of the model that is shown."""

    def __init__(self, head: Callable[[asked.HeadRequest], Tensor], turns: Turns) -> None:
        self._head, self._turns = head, turns
        self.shown = ShownLab(turns)

    def add_to(self, app: FastAPI) -> None:
        """Every route of the page."""
        app.get("/api/lab")(self.shown.list)
        app.get("/api/lab/experiments/{name}")(self.shown.experiment)
        app.post("/api/lab/experiments/{name}")(self.shown.measure)
        app.get("/api/lab/softmax")(self.softmax)
        app.get("/api/lab/distance")(self.distance)
        app.get("/api/lab/schedule")(self.schedule)
        app.post("/api/lab/temperature")(self.temperature)

    def softmax(self, width: Width = 64, temperature: Temperature = 1.0, scaled: bool = True) -> dict[str, Any]:
        """Weights and sizes of random scores."""
        return turn_softmax(width, temperature, scaled=scaled)

    def distance(self, kind: PositionKind = "sinusoidal") -> dict[str, Any]:
        """Scores by distance under a position scheme."""
        with self._turns.mine():  # a fresh model is drawn, from numbers that all threads share
            return turn_distance(kind)

    def schedule(
        self,
        dim: Annotated[int, Query(ge=16, le=16_384)] = 512,
        warmup: Annotated[int, Query(ge=1, le=20_000)] = 4000,
        kind: Kind = "inverse-sqrt",
    ) -> dict[str, Any]:
        """A learning rate over steps."""
        return turn_schedule(ScheduleConfig(kind=kind, warmup=warmup), dim)

    def temperature(self, request: asked.TemperatureRequest) -> dict[str, Any]:
        """A trained head at another temperature."""
        return turn_temperature(self._head(request), request.temperature)
