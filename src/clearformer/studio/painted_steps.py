"""Pictures while they are painted: what is there after each step, and what the network takes it for.

They are painted by the object behind `clearformer paint`. N pictures, Y X height and width, C channels.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import torch

from clearformer.data.readers.pictures import Pixels
from clearformer.inference.painter import GROUP, STEPS, STEPS_OF_CODES, Painter, PaintingStep
from clearformer.inference.painting_settings import PaintingConfig, usual_painting
from clearformer.serving.admission import Turns
from clearformer.serving.refusal import Refused
from clearformer.studio.packing import PackedBytes, pack_bytes
from clearformer.studio.shown_model import ShownModel

MOST_FRAMES = 24  # of the steps, that are sent to the page
MOST_STEPS = 100  # somebody waits for them


class PaintViewer:
    """Paints. Answers are plain data, ready for JSON."""

    def __init__(self, shown_model: ShownModel, turns: Turns) -> None:
        self.shown_model, self._turns = shown_model, turns

    @cached_property
    def painter(self) -> Painter:
        """The object behind `clearformer paint`."""
        try:
            return Painter(self.shown_model.bundle)
        except ValueError as error:
            raise Refused("nopaint", "this model does not paint pictures") from error

    def form(self) -> dict[str, Any]:
        """What may be chosen, and what the model folder's own recipe says."""
        usual = usual_painting(self.painter.provenance)
        steps = STEPS if self.painter.way == "flow" else STEPS_OF_CODES
        return {
            "labels": list(self.painter.labels),
            "way": self.painter.way,
            "steps": None if self.painter.way == "left-to-right" else usual.steps or steps,
            "guidance": usual.guidance,
            "temperature": usual.temperature,
            "most": GROUP,
            "most_steps": MOST_STEPS,
        }

    def paint(self, label: str, chosen: PaintingConfig, left: Callable[[], bool]) -> dict[str, Any]:
        """Pictures of a class, and the steps that led to them; of many steps some, from the first to the last."""
        if label not in self.painter.labels:
            raise ValueError(f"this model does not paint {label[:120]!r}")
        usual = usual_painting(self.painter.provenance)
        steps: list[PaintingStep] = []
        with self._turns.mine(left):
            config = replace(chosen, steps=chosen.steps or usual.steps)
            painted = self.painter.paint(label, config, on_step=steps.append)
        return {
            "label": label,
            "way": self.painter.way,
            "pictures": _together([one.pixels for one in painted]),
            "count": len(steps),
            "steps": [{"number": number + 1, **self._frame(steps[number])} for number in _some(len(steps))],
        }

    def _frame(self, step: PaintingStep) -> dict[str, Any]:
        hidden = None if step.hidden is None else pack_bytes(torch.from_numpy(step.hidden))
        return {
            "share": step.share,
            "pictures": _together(step.pictures),
            "guesses": None if step.guesses is None else _together(step.guesses),
            "hidden": hidden,
        }


def _together(pictures: list[Pixels]) -> PackedBytes:
    """N Y X C."""
    return pack_bytes(torch.from_numpy(np.stack(pictures)))


def _some(count: int) -> list[int]:
    """So many places at most, evenly, from the first to the last."""
    return sorted({round(place) for place in np.linspace(0, count - 1, min(count, MOST_FRAMES))})
