"""The studio's routes: each answers with JSON that the library has computed.

Handlers are plain functions, which the framework runs in threads, so a long computation does not keep the pages from
loading. Whatever is asked, the model computes one thing at a time (`Turns`).
"""

from dataclasses import asdict
from importlib import resources
from pathlib import Path
from typing import Annotated, Any

from fastapi import FastAPI, Query
from torch import Tensor
from torch.nn.functional import adaptive_max_pool2d

from clearformer.serving.admission import Turns
from clearformer.serving.app import new_app
from clearformer.serving.assets import Assets
from clearformer.serving.refusal import Refused
from clearformer.studio import requests as asked
from clearformer.studio.anatomy import anatomy, describe
from clearformer.studio.attention_layers import Site, sites_of
from clearformer.studio.cell import cell
from clearformer.studio.head_patterns import pattern
from clearformer.studio.packing import pack, pack_shades
from clearformer.studio.runs import Runs
from clearformer.studio.schemes import Sizes, schemes
from clearformer.studio.shown_model import MAX_CHARACTERS, Look, ShownModel
from clearformer.studio.trace_cache import TraceCache
from clearformer.studio.writing import Writer
from clearformer.studio.writing_settings import fields_of
from clearformer.text.language import guess_other

STATIC = Path(str(resources.files("clearformer.studio") / "static"))
THUMBNAIL = 40  # cells along a side of a small picture, at most
MAX_NUMBERS = 4_000_000  # in one answer


def studio_app(subject: ShownModel, runs: Runs) -> FastAPI:
    """Pages and answers for one model and some training runs."""
    app = new_app(Assets(STATIC))
    desk = Handlers(subject, runs)
    app.get("/api/model")(desk.model)
    app.get("/api/anatomy")(desk.anatomy)
    app.get("/api/form")(desk.form)
    app.post("/api/language")(desk.language)
    app.post("/api/translate")(desk.translate)
    app.post("/api/trace")(desk.trace)
    app.post("/api/values")(desk.values)
    app.post("/api/heads")(desk.heads)
    app.post("/api/head")(desk.head)
    app.post("/api/cell")(desk.cell)
    app.post("/api/tree")(desk.tree)
    app.get("/api/positions")(desk.positions)
    app.get("/api/runs")(desk.list_runs)
    app.get("/api/runs/{run}")(desk.run)
    app.post("/api/checkpoint")(desk.checkpoint)
    return app


class Handlers:
    """Where questions about one model are answered."""

    def __init__(self, subject: ShownModel, runs: Runs) -> None:
        self.subject, self.runs = subject, runs
        self._turns = Turns()
        self.seen = TraceCache(subject, self._turns)
        self.writer = Writer(subject, self.seen, self._turns)
        self.sites = {site.name: site for site in sites_of(subject.model)}
        self._checkpoint: tuple[tuple[int, int], Handlers] | None = None

    # --- the model ---------------------------------------------------------------------------------------------------

    def model(self) -> dict[str, Any]:
        """What the model is and where it attends."""
        return describe(self.subject, self.writer.task)

    def anatomy(self, length: Annotated[int, Query(ge=1, le=512)] = 32) -> dict[str, Any]:
        """Parameters and operations by part."""
        return anatomy(self.subject, length)

    def form(self) -> dict[str, Any]:
        """The settings that a text can be written with; their defaults are the model folder's own."""
        return {"fields": fields_of(self.writer.settings())}

    # --- a sentence --------------------------------------------------------------------------------------------------

    def language(self, request: asked.TextRequest) -> dict[str, Any]:
        """Whether a text is surely in another language than the model reads; language: which, where it is known."""
        expected = self.subject.bundle.provenance.get("source_language")
        found = guess_other(request.text[:MAX_CHARACTERS], expected if isinstance(expected, str) else None)
        return {"other": found is not None, "language": found.language if found else None, "expected": expected}

    def translate(self, request: asked.TranslateRequest) -> dict[str, Any]:
        """What is written for a text."""
        chosen = self.writer.settings(request.settings.chosen())
        if request.ids is not None:
            return self.writer.result(request.text, request.ids, chosen)
        return self.writer.write(request.text, chosen)

    def trace(self, request: asked.Input) -> dict[str, Any]:
        """The tokens of both sides and the likeliest next ones: where a walk through the model begins and ends."""
        look = self.look(request)
        return {**self.subject.tokens(look), "ids": list(look.target[1:]), "predictions": self._predictions(look)}

    def values(self, request: asked.ValuesRequest) -> dict[str, Any]:
        """Recorded values by name."""
        look = self.look(request.input)
        wanted = list(dict.fromkeys(request.names))
        if any(character in name for name in wanted for character in "*?["):
            raise ValueError("values are asked for by their full names")
        found = self.seen.values(look, wanted)
        if missing := [name for name in wanted if name not in found]:
            raise ValueError(f"this model has no value named {missing[0][:120]!r}")
        if (count := sum(value.numel() for value in found.values())) > MAX_NUMBERS:
            told = "these are {count} numbers, more than {limit}; ask for fewer or a shorter text"
            raise Refused("many", told, count=count, limit=MAX_NUMBERS)
        return {name: pack(found[name]) for name in wanted}

    def heads(self, request: asked.Input) -> dict[str, Any]:
        """Every head as a thumbnail, with what it does in numbers."""
        look = self.look(request)
        found = self.seen.values(look, [f"{name}.weights" for name in self.sites])
        return {
            **self.subject.tokens(look),
            "sites": [self._thumbnails(site, found[f"{name}.weights"]) for name, site in self.sites.items()],
        }

    def head(self, request: asked.HeadRequest) -> dict[str, Any]:
        """One head in full, or the mean of a layer's heads."""
        site, look = self.site(request.site), self.look(request.input)
        weights = self.weights(look, site)
        if request.head is not None and request.head >= len(weights):
            raise ValueError(f"head {request.head} does not exist; there are {len(weights)}, from 0")
        chosen = weights.mean(dim=0) if request.head is None else weights[request.head]
        return {"weights": pack(chosen), "pattern": asdict(pattern(chosen, same_sequence=site.kind != "cross"))}

    def cell(self, request: asked.CellRequest) -> dict[str, Any]:
        """The arithmetic of one cell."""
        site, look = self.site(request.site), self.look(request.input)
        place = {"head": request.head, "query": request.query, "key": request.key, "feature": request.feature}
        return cell(self.seen, look, site, **place)

    def tree(self, request: asked.TreeRequest) -> dict[str, Any]:
        """The whole beam search."""
        return self.writer.tree(request.text, self.writer.settings(request.settings.chosen()), request.prefix)

    def look(self, given: asked.Input) -> Look:
        """What to run for an input; without a target, the model writes its own."""
        target = self.writer.best(given.text) if given.target is None else given.target
        return self.subject.look(given.text, target)

    def site(self, name: str) -> Site:
        """Where the model attends, by name."""
        if name not in self.sites:
            raise ValueError(f"this model does not attend at {name!r}; it does at {', '.join(list(self.sites)[:4])} …")
        return self.sites[name]

    def weights(self, look: Look, site: Site) -> Tensor:
        """All heads of a site: H T S."""
        return self.seen.value(look, f"{site.name}.weights")

    # --- without a sentence ------------------------------------------------------------------------------------------

    def positions(
        self,
        length: Annotated[int, Query(ge=2, le=256)] = 64,
        dim: Annotated[int, Query(ge=2, le=256, multiple_of=2)] = 64,
        heads: Annotated[int, Query(ge=1, le=64)] = 8,
    ) -> dict[str, Any]:
        """Position schemes side by side."""
        return schemes(Sizes(length=length, dim=dim, heads=heads), self.subject)

    def list_runs(self) -> list[dict[str, Any]]:
        """The training runs that can be looked at."""
        return self.runs.list()

    def run(self, run: int) -> dict[str, Any]:
        """The curves of one run."""
        return self.runs.curves(run)

    def checkpoint(self, request: asked.CheckpointRequest) -> dict[str, Any]:
        """Heads of one sentence, as they were at a checkpoint."""
        key = (request.run, request.step)
        if self._checkpoint is None or self._checkpoint[0] != key:
            self._checkpoint = (key, Handlers(self.runs.subject(*key), self.runs))
        desk = self._checkpoint[1]
        given = asked.Input(text=request.text, target=request.target)
        look = desk.look(given)
        means = {name: desk.weights(look, site).mean(dim=0) for name, site in desk.sites.items()}
        return {
            **desk.subject.tokens(look),
            "ids": list(look.target[1:]),
            "text": ""
            if desk.subject.target_tokenizer is None
            else desk.subject.target_tokenizer.decode(look.target[1:]),
            "sites": [
                {"name": name, "kind": desk.sites[name].kind, "weights": pack(mean)} for name, mean in means.items()
            ],
        }

    # --- inside ------------------------------------------------------------------------------------------------------

    def _thumbnails(self, site: Site, weights: Tensor) -> dict[str, Any]:
        small = tuple(min(THUMBNAIL, size) for size in weights.shape[1:])
        return {
            **asdict(site),
            "shades": pack_shades(adaptive_max_pool2d(weights, small)),
            "patterns": [asdict(pattern(head, same_sequence=site.kind != "cross")) for head in weights],
        }

    def _predictions(self, look: Look) -> list[list[dict[str, Any]]]:
        """The likeliest tokens after each place; nothing for heads that score no tokens."""
        if self.subject.config.head.kind != "language-model":
            return []
        return self.writer.likeliest(self.seen.value(look, "logits"))
