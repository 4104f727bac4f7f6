"""The studio's routes: each answers with JSON that the library has computed.

Handlers are plain functions, which the framework runs in threads, so a long computation does not keep the pages from
loading. Whatever is asked, the model computes one thing at a time (`Turns`).
"""

from dataclasses import asdict
from importlib import resources
from pathlib import Path
from typing import Annotated, Any

from fastapi import Depends, FastAPI, Query
from torch import Tensor
from torch.nn.functional import adaptive_max_pool2d

from clearformer.serving.admission import Turns
from clearformer.serving.app import asker_left, new_app
from clearformer.serving.assets import Assets
from clearformer.serving.guard import Limits
from clearformer.serving.refusal import Refused
from clearformer.studio import requests as asked
from clearformer.studio.anatomy import anatomy, describe
from clearformer.studio.attention_layers import AttentionLayer, attention_layers
from clearformer.studio.cell import cell
from clearformer.studio.explained_words import WordExplainer, why_fields
from clearformer.studio.head_patterns import pattern
from clearformer.studio.lab_routes import LabAnswers
from clearformer.studio.next_tokens import Left, NextTokens, waits
from clearformer.studio.packing import pack, pack_shades
from clearformer.studio.runs import Runs
from clearformer.studio.schemes import Sizes, schemes
from clearformer.studio.senses import FILE_PATHS, Senses
from clearformer.studio.shown_model import MAX_CHARACTERS, Look, ShownModel
from clearformer.studio.summary import SummaryWriter
from clearformer.studio.trace_cache import TraceCache
from clearformer.studio.writing import Writer
from clearformer.studio.writing_settings import fields_of
from clearformer.text.language import guess_other

STATIC = Path(str(resources.files("clearformer.studio") / "static"))
THUMBNAIL = 40  # cells along a side of a small picture, at most
MAX_NUMBERS = 4_000_000  # in one answer

LIMITS = Limits(file_paths=FILE_PATHS)

LeftAlready = Annotated[Left, Depends(asker_left)]  # who types on does not wait for the answer to an older text


def studio_app(shown_model: ShownModel, runs: Runs) -> FastAPI:
    """Pages and answers for one model and some training runs."""
    app = new_app(Assets(STATIC))
    handlers = Handlers(shown_model, runs)
    app.get("/api/model")(handlers.model)
    app.get("/api/anatomy")(handlers.anatomy)
    app.get("/api/form")(handlers.form)
    app.post("/api/language")(handlers.language)
    app.post("/api/translate")(handlers.translate)
    app.post("/api/trace")(handlers.trace)
    app.post("/api/values")(handlers.values)
    app.post("/api/heads")(handlers.heads)
    app.post("/api/head")(handlers.head)
    app.post("/api/cell")(handlers.cell)
    app.post("/api/tree")(handlers.tree)
    app.post("/api/next")(handlers.next)
    app.post("/api/lens")(handlers.lens)
    app.post("/api/parts")(handlers.parts)
    app.get("/api/summary")(handlers.summary_form)
    app.post("/api/summary")(handlers.summary)
    app.get("/api/why")(handlers.why_form)
    app.post("/api/why")(handlers.why)
    handlers.senses.add_to(app)
    app.get("/api/positions")(handlers.positions)
    app.get("/api/runs")(handlers.list_runs)
    app.get("/api/runs/{run}")(handlers.run)
    app.post("/api/checkpoint")(handlers.checkpoint)
    handlers.lab.add_to(app)
    return app


class Handlers:
    """Answers the requests about one model."""

    def __init__(self, shown_model: ShownModel, runs: Runs) -> None:
        self.shown_model, self.runs = shown_model, runs
        self._turns = Turns()
        self.traces = TraceCache(shown_model, self._turns)
        self.writer = Writer(shown_model, self.traces, self._turns)
        self.next_tokens = NextTokens(shown_model, self.traces)
        self.explainer = WordExplainer(shown_model, self._turns)
        self.summaries = SummaryWriter(shown_model, self._turns)
        self.lab = LabAnswers(self.chosen_head, self._turns)
        self.senses = Senses(shown_model, self.traces, self._turns)
        self.layers = {layer.name: layer for layer in attention_layers(shown_model.model)}
        self._checkpoint: tuple[tuple[int, int], Handlers] | None = None

    # --- the model ---------------------------------------------------------------------------------------------------

    def model(self) -> dict[str, Any]:
        """What the model is, and its attention layers."""
        return describe(self.shown_model, self.writer.task)

    def anatomy(self, length: Annotated[int, Query(ge=1, le=512)] = 32) -> dict[str, Any]:
        """Parameters and operations by part."""
        return anatomy(self.shown_model, length)

    def form(self) -> dict[str, Any]:
        """The settings that a text can be written with; their defaults are the model folder's own."""
        return {"fields": fields_of(self.writer.settings())}

    # --- a sentence --------------------------------------------------------------------------------------------------

    def language(self, request: asked.TextRequest) -> dict[str, Any]:
        """Whether a text is surely in another language than the model reads; language: which, where it is known."""
        expected = self.shown_model.bundle.provenance.get("source_language")
        found = guess_other(request.text[:MAX_CHARACTERS], expected if isinstance(expected, str) else None)
        told = {"other": found is not None, "language": found.language if found else None, "expected": expected}
        try:
            read = request.text if found else self.writer.as_read(request.text)
        except ValueError:  # whatever is wrong with the text is said where its answer would stand
            read = request.text
        return {**told, "read_as": None if read == request.text else read}

    def translate(self, request: asked.TranslateRequest) -> dict[str, Any]:
        """What is written for a text."""
        chosen = self.writer.settings(request.settings.chosen())
        if request.ids is not None:
            return self.writer.result(request.text, request.ids, chosen)
        return self.writer.write(request.text, chosen)

    def trace(self, request: asked.Input) -> dict[str, Any]:
        """The tokens of both sides and the likeliest next ones: where a walk through the model begins and ends."""
        look, read = self.look(request), self.writer.as_read(request.text)
        return {
            **self.shown_model.tokens(look),
            "ids": list(look.target[1:]),
            "predictions": self._predictions(look),
            "read_as": None if read == request.text else read,
        }

    def values(self, request: asked.ValuesRequest) -> dict[str, Any]:
        """Recorded values by name."""
        look = self.look(request.input)
        wanted = list(dict.fromkeys(request.names))
        if any(character in name for name in wanted for character in "*?["):
            raise ValueError("values are asked for by their full names")
        found = self.traces.values(look, wanted)
        if missing := [name for name in wanted if name not in found]:
            raise ValueError(f"this model has no value named {missing[0][:120]!r}")
        if (count := sum(value.numel() for value in found.values())) > MAX_NUMBERS:
            told = "these are {count} numbers, more than {limit}; ask for fewer or a shorter text"
            raise Refused("many", told, count=count, limit=MAX_NUMBERS)
        return {name: pack(found[name]) for name in wanted}

    def heads(self, request: asked.Input) -> dict[str, Any]:
        """Every head as a thumbnail, with its pattern in numbers."""
        look = self.look(request)
        found = self.traces.values(look, [f"{name}.weights" for name in self.layers])
        return {
            **self.shown_model.tokens(look),
            "attention_layers": [
                self._thumbnails(layer, found[f"{name}.weights"]) for name, layer in self.layers.items()
            ],
        }

    def head(self, request: asked.HeadRequest) -> dict[str, Any]:
        """One head in full, or the mean of a layer's heads."""
        layer, chosen = self.layer(request.layer), self.chosen_head(request)
        return {"weights": pack(chosen), "pattern": asdict(pattern(chosen, same_sequence=layer.kind != "cross"))}

    def chosen_head(self, request: asked.HeadRequest) -> Tensor:
        """The weights that a request means: T S."""
        weights = self.weights(self.look(request.input), self.layer(request.layer))
        if request.head is not None and request.head >= len(weights):
            raise ValueError(f"head {request.head} does not exist; there are {len(weights)}, from 0")
        return weights.mean(dim=0) if request.head is None else weights[request.head]

    def cell(self, request: asked.CellRequest) -> dict[str, Any]:
        """The arithmetic of one cell."""
        layer, look = self.layer(request.layer), self.look(request.input)
        place = {"head": request.head, "query": request.query, "key": request.key, "feature": request.feature}
        return cell(self.traces, look, layer, **place)

    def tree(self, request: asked.TreeRequest) -> dict[str, Any]:
        """The whole beam search."""
        return self.writer.tree(request.text, self.writer.settings(request.settings.chosen()), request.prefix)

    def next(self, request: asked.NextRequest, left: LeftAlready = waits) -> dict[str, Any]:
        """What a language model expects next, and how much each token of the text surprised it."""
        return self.next_tokens.likeliest(request, left)

    def lens(self, request: asked.LensRequest, left: LeftAlready = waits) -> dict[str, Any]:
        """What each layer would say."""
        return self.next_tokens.lens(request, left)

    def parts(self, request: asked.PartsRequest, left: LeftAlready = waits) -> dict[str, Any]:
        """What each part of the model adds to a logit."""
        return self.next_tokens.parts(request, left)

    def summary_form(self) -> dict[str, Any]:
        """The settings of a summary; their defaults are the model folder's own."""
        return {"fields": self.summaries.fields()}

    def summary(self, request: asked.SummaryRequest) -> dict[str, Any]:
        """A short text for a long one, and how it came about."""
        return self.summaries.summarize(request.text, request.settings.chosen())

    def why_form(self) -> dict[str, Any]:
        """The settings of an explanation."""
        return {"fields": why_fields()}

    def why(self, request: asked.WhyRequest) -> dict[str, Any]:
        """What a classifier or an answerer says of a text, and how much each word counted for it."""
        return self.explainer.why(request.text, request.question, request.settings.chosen())

    def look(self, given: asked.Input) -> Look:
        """What to run for an input; without a target, the model writes its own."""
        text = self.writer.as_read(given.text)
        target = self.writer.best(text) if given.target is None else given.target
        return self.shown_model.look(text, target)

    def layer(self, name: str) -> AttentionLayer:
        """An attention layer by its name."""
        if name not in self.layers:
            raise ValueError(f"this model has no attention layer {name!r}; it has {', '.join(list(self.layers)[:4])} …")
        return self.layers[name]

    def weights(self, look: Look, layer: AttentionLayer) -> Tensor:
        """All heads of a layer: H T S."""
        return self.traces.value(look, f"{layer.name}.weights")

    # --- without a sentence ------------------------------------------------------------------------------------------

    def positions(
        self,
        length: Annotated[int, Query(ge=2, le=256)] = 64,
        dim: Annotated[int, Query(ge=2, le=256, multiple_of=2)] = 64,
        heads: Annotated[int, Query(ge=1, le=64)] = 8,
    ) -> dict[str, Any]:
        """Position schemes side by side."""
        return schemes(Sizes(length=length, dim=dim, heads=heads), self.shown_model)

    def list_runs(self) -> list[dict[str, Any]]:
        """The training runs that can be shown."""
        return self.runs.list()

    def run(self, run: int) -> dict[str, Any]:
        """The curves of one run."""
        return self.runs.curves(run)

    def checkpoint(self, request: asked.CheckpointRequest) -> dict[str, Any]:
        """Heads of one sentence, as they were at a checkpoint."""
        key = (request.run, request.step)
        if self._checkpoint is None or self._checkpoint[0] != key:
            self._checkpoint = (key, Handlers(self.runs.model_at(*key), self.runs))
        handlers = self._checkpoint[1]
        given = asked.Input(text=request.text, target=request.target)
        look = handlers.look(given)
        tokenizer = handlers.shown_model.target_tokenizer
        return {
            **handlers.shown_model.tokens(look),
            "ids": list(look.target[1:]),
            "text": "" if tokenizer is None else tokenizer.decode(look.target[1:]),
            "attention_layers": [
                {"name": name, "kind": layer.kind, "weights": pack(handlers.weights(look, layer).mean(dim=0))}
                for name, layer in handlers.layers.items()
            ],
        }

    # --- inside ------------------------------------------------------------------------------------------------------

    def _thumbnails(self, layer: AttentionLayer, weights: Tensor) -> dict[str, Any]:
        small = tuple(min(THUMBNAIL, size) for size in weights.shape[1:])
        return {
            **asdict(layer),
            "shades": pack_shades(adaptive_max_pool2d(weights, small)),
            "patterns": [asdict(pattern(head, same_sequence=layer.kind != "cross")) for head in weights],
        }

    def _predictions(self, look: Look) -> list[list[dict[str, Any]]]:
        """The likeliest tokens after each place; nothing for heads that score no tokens."""
        if self.shown_model.config.head.kind != "language-model":
            return []
        return self.writer.likeliest(self.traces.value(look, "logits"))
