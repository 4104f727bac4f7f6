"""How well an imported model agrees with the published program: the same inputs through both, layer by layer.

Where `transformers` is installed, an import ends with this table; where it is not, or does not open the format, the
model is held against its own promises (`self_check`), and the table says so. The published program opens the folder
itself, so nothing of our own reading is shared by the two sides. A model that does not agree, or breaks a promise, has
a fault, and the import of it fails.
"""

import contextlib
import importlib
import importlib.util
import logging
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from clearformer.folder.bundle import Bundle
from clearformer.interop.foreign_files import read_json
from clearformer.interop.pair_certificate import compare_pair
from clearformer.interop.self_check import SelfCheck, check_itself
from clearformer.interop.tensor_files import PICKLED
from clearformer.interop.value_gaps import DisagreementError, difference, fault
from clearformer.model.config import ModelConfig
from clearformer.model.trace import trace

log = logging.getLogger(__name__)

TEXTS = (
    "Two dogs play in the snow.",
    "Ein Mann liest am Fenster die Zeitung von gestern.",
    "他在河边看见一只白色的鸟。",
    "It cost 3,14 €, didn't it? 🙂",
    "The quick brown fox jumps over the lazy dog, and nobody who saw it could say afterwards why it had done so.",
)
_GREEDY_STEPS = 12
_LONGEST = 48  # tokens of a text: enough to reach every part, and quick


@dataclass(frozen=True, kw_only=True)
class Certificate:
    """The outcome. layers: the largest difference at each layer's output; greedy: one verdict per text. alone: what the
    model showed by itself, where no reference could be asked.

    fault: what is wrong with the model, if something is.
    """

    checked: bool
    reason: str = ""
    reference: str = ""
    layers: dict[str, float] = field(default_factory=dict)
    logits: float | None = None
    greedy: tuple[bool, ...] = ()
    tokens: tuple[bool, ...] = ()
    alone: SelfCheck | None = None
    fault: str = ""

    def as_json(self) -> dict[str, Any]:
        """For config.json."""
        if not self.checked:
            told = {"checked": False, "reason": self.reason}
            return told if self.alone is None else {**told, "self_check": self.alone.as_json()}
        return {
            "checked": True,
            "reference": self.reference,
            "largest_difference": {**self.layers, "logits": self.logits},
            "greedy_equal": list(self.greedy),
            "tokens_equal": list(self.tokens),
        }


def certify(bundle: Bundle, source: Path, *, prose: bool = True) -> Certificate:
    """Compare; where that cannot be done, say why, and let the model show what it can by itself.

    source: the published folder or file. prose: whether a language model is one of sentences.
    """
    made = _compared(bundle, source)
    if made.checked:
        return made
    alone = check_itself(bundle, prose=prose)
    return replace(made, alone=alone, fault=alone.fault)


def _compared(bundle: Bundle, source: Path) -> Certificate:
    if importlib.util.find_spec("transformers") is None:
        return _unchecked("transformers is not installed")
    if source.is_file():
        return _unchecked(f"transformers is not asked about a single {source.suffix or 'nameless'} file")
    if any((source / name).is_file() for name in PICKLED) and not any(source.glob("*.safetensors")):
        return _unchecked("transformers would have to unpickle the weights")
    if not (source / "config.json").is_file() or not any(source.glob("*.safetensors")):
        return _unchecked("transformers does not open a folder of this format")
    try:
        with _quiet():
            return _compare(bundle, source)
    except DisagreementError as apart:
        return Certificate(checked=True, fault=str(apart))
    except Exception as error:  # a folder that their program cannot open is not a failed import
        return _unchecked(f"transformers could not run it ({_line(error)})")


def _unchecked(reason: str) -> Certificate:
    return Certificate(checked=False, reason=reason)


@torch.no_grad()
def _compare(bundle: Bundle, folder: Path) -> Certificate:
    transformers = importlib.import_module("transformers")
    theirs = _their_model(transformers, folder, bundle.config)
    ours, config = bundle.model.eval(), bundle.config
    reference_name = f"transformers {transformers.__version__}, {type(theirs).__name__}"
    if config.pair is not None:
        return _compare_pair(transformers, bundle, theirs, folder, reference_name)
    inputs = _inputs(bundle, theirs)
    with trace(ours, only=["*front.output", "*layers.*.output", "*coder.output", "logits"]) as seen:
        mine = inputs.run_ours(ours)
    reference = inputs.run_theirs(theirs)
    compared = {name: difference(seen[name], states, keep) for name, states, keep in _pairs(config, reference, inputs)}
    expected = _output(config, reference)
    if config.shape == "encoder-decoder" and "logits" not in reference:  # a model that was published without a head
        mine = seen["decoder.output" if config.norm.place != "post" else f"decoder.layers.{_last(config)}.output"]
    logits = difference(mine, expected, inputs.output_keep(config))
    return Certificate(
        checked=True,
        reference=reference_name,
        layers={name: gap.largest for name, gap in compared.items()},
        logits=logits.largest,
        fault=fault(compared | {"logits": logits}),
        greedy=_greedy(config, ours, theirs, inputs, mine, expected),
        tokens=_tokens(transformers, bundle, folder),
    )


def _compare_pair(transformers: Any, bundle: Bundle, theirs: Any, folder: Path, reference: str) -> Certificate:
    """Both halves of a pair, and the scores of the texts at random pictures."""
    seen = compare_pair(bundle, theirs, TEXTS)
    gaps = dict(seen.gaps)
    logits = gaps.pop("logits")
    return Certificate(
        checked=True,
        reference=reference,
        layers={name: gap.largest for name, gap in gaps.items()},
        logits=logits.largest,
        fault=fault(seen.gaps),
        greedy=seen.same,
        tokens=_tokens(transformers, bundle, folder),
    )


@dataclass(frozen=True, kw_only=True)
class _Inputs:
    """One batch for both programs: tokens, frames or pictures, and for an encoder–decoder a target."""

    source: Tensor
    keep: Tensor | None
    target: Tensor | None = None
    target_keep: Tensor | None = None
    name: str = "input_ids"

    def run_ours(self, model: nn.Module) -> Tensor:
        if self.target is None:
            output: Tensor = model(self.source, keep=self.keep) if self.keep is not None else model(self.source)
        else:
            output = model(self.source, self.target, source_keep=self.keep, target_keep=self.target_keep)
        return output

    def run_theirs(self, model: Any) -> Any:
        given: dict[str, Any] = {self.name: self.source.mT if self.name == "input_features" else self.source}
        if self.keep is not None and self.name == "input_ids":
            given["attention_mask"] = self.keep.long()
        if self.target is not None:
            given["decoder_input_ids"] = self.target
            if self.target_keep is not None:
                given["decoder_attention_mask"] = self.target_keep.long()
        return model(**given, output_hidden_states=True)

    def output_keep(self, config: ModelConfig) -> Tensor | None:
        """Which positions of the output are not padding."""
        if config.head.kind == "class":
            return None
        return self.keep if self.target is None else self.target_keep


def _their_model(transformers: Any, folder: Path, config: ModelConfig) -> Any:
    """The class that config.json names, if it is one of the library's own; of an encoder of sound without a head, the
    class without one."""
    named = read_json(folder / "config.json").get("architectures") or ["AutoModel"]
    if config.front.kind == "samples" and config.head.kind == "states":
        named = ["AutoModel"]
    kind = getattr(transformers, str(named[0]), None)
    if kind is None:
        raise ValueError(f"it has no {named[0]}")
    safe = {"local_files_only": True, "trust_remote_code": False, "use_safetensors": True}
    return kind.from_pretrained(folder, dtype=torch.float32, **safe).eval()  # half precision would round their tables


def _inputs(bundle: Bundle, theirs: Any) -> _Inputs:
    config = bundle.config
    generator = torch.Generator().manual_seed(2017)
    if config.front.kind == "patches":
        size = config.front.picture
        return _Inputs(
            source=torch.randn(5, config.front.channels, size, size, generator=generator),
            keep=None,
            name="pixel_values",
        )
    if config.front.kind == "sound":
        frames = 2 * theirs.config.max_source_positions
        source, keep = torch.randn(5, frames, config.front.mels, generator=generator), None
        target, target_keep = _rows(bundle, generator, theirs.config.pad_token_id)
        return _Inputs(source=source, keep=keep, target=target, target_keep=target_keep, name="input_features")
    if config.front.kind == "samples":
        count = config.samples.reach + 48 * config.samples.hop
        return _Inputs(source=torch.randn(5, count, generator=generator), keep=None, name="input_values")
    source, real = _rows(bundle, generator, theirs.config.pad_token_id)
    if config.shape != "encoder-decoder":
        return _Inputs(source=source, keep=real)
    target, target_keep = _rows(bundle, generator, theirs.config.pad_token_id)
    target = target % (config.target_vocab_size or config.vocab_size)
    return _Inputs(source=source, keep=real, target=target, target_keep=target_keep)


def _rows(bundle: Bundle, generator: torch.Generator, pad: int | None) -> tuple[Tensor, Tensor]:
    """The five texts as ids, or random ids where there is no vocabulary; padded on the right.

    The padding id must be theirs: some of their models find the end of a text by it.
    """
    pad, longest = pad or 0, min(_LONGEST, bundle.config.max_len)
    if bundle.tokenizer is not None:
        rows = [list(bundle.tokenizer.encode(text).ids)[:longest] or [0] for text in TEXTS]
    else:
        lengths = [max(1, longest * part // 5) for part in (5, 4, 3, 2, 1)]
        words = [token for token in range(bundle.config.vocab_size) if token != pad] or [pad]
        chance = [torch.randint(len(words), (length,), generator=generator).tolist() for length in lengths]
        rows = [[words[number] for number in row] for row in chance]
    width = max(map(len, rows))
    keep = torch.arange(width) < torch.tensor([[len(row)] for row in rows])
    return torch.tensor([row + [pad] * (width - len(row)) for row in rows]), keep


def _pairs(config: ModelConfig, reference: Any, inputs: _Inputs) -> Iterator[tuple[str, Tensor, Tensor | None]]:
    """Our name for each state that the reference returns, the state, and which positions are not padding."""
    if config.shape == "encoder-decoder":
        stacks = (
            ("encoder", reference.encoder_hidden_states, config.layers, _encoder_keep(inputs)),
            ("decoder", reference.decoder_hidden_states, config.decoder_layers or config.layers, inputs.target_keep),
        )
    else:
        stacks = ((config.shape, reference.hidden_states, config.layers, inputs.keep),)  # type: ignore[assignment]
    for stack, states, layers, keep in stacks:
        if len(states) != layers + 1:
            raise DisagreementError(f"transformers returns {len(states)} states, and {layers} layers make {layers + 1}")
        yield f"{stack}.front.output", states[0], keep
        for layer in range(layers):
            # They return the last state after the final norm, except for pictures and samples.
            normed = config.norm.place != "post" and config.front.kind not in ("patches", "samples")
            last = layer == layers - 1 and normed
            yield (f"{stack}.output" if last else f"{stack}.layers.{layer}.output"), states[layer + 1], keep


def _encoder_keep(inputs: _Inputs) -> Tensor | None:
    return inputs.keep if inputs.name == "input_ids" else None


def _output(config: ModelConfig, reference: Any) -> Tensor:
    if config.head.kind == "span":
        return torch.stack((reference.start_logits, reference.end_logits), dim=-1)
    output: Tensor = reference.logits if "logits" in reference else reference.last_hidden_state
    return output


def _last(config: ModelConfig) -> int:
    return (config.decoder_layers or config.layers) - 1


def _greedy(
    config: ModelConfig, ours: nn.Module, theirs: Any, inputs: _Inputs, mine: Tensor, expected: Tensor
) -> tuple[bool, ...]:
    """Whether both programs choose the same tokens: in a greedy continuation, or by argmax if it only reads."""
    if config.head.kind == "states" or mine.shape[-1] == config.dim != config.vocab_size:
        return ()
    if config.shape == "encoder" or config.head.kind != "language-model":
        choices = mine.argmax(-1) == expected.argmax(-1)
        keep = inputs.output_keep(config)
        if config.head.kind == "class":
            return tuple(choices.tolist())
        if config.head.kind == "span":  # the best start and the best end, never at padding
            starts = _best(mine, keep) == _best(expected, keep)
            return tuple(starts.all(-1).tolist())
        rows = choices if keep is None else choices | ~keep
        return tuple(rows.all(1).tolist())
    return tuple(_continued(config, ours, theirs, inputs, row) for row in range(len(inputs.source)))


def _best(logits: Tensor, keep: Tensor | None) -> Tensor:
    """B T 2 -> B 2: the likeliest start and end."""
    real = logits if keep is None else logits.masked_fill(~keep[..., None], -torch.inf)
    return real.argmax(1)


def _continued(config: ModelConfig, ours: nn.Module, theirs: Any, inputs: _Inputs, row: int) -> bool:
    keep = None if inputs.keep is None else inputs.keep[row : row + 1]
    source = inputs.source[row : row + 1]
    if inputs.target is None:
        assert keep is not None
        source = source[keep][None]
        results = [_write(model, source, None, limit=config.max_len) for model in (ours, theirs)]
    else:
        if keep is not None:
            source = source[keep][None]
        start = getattr(theirs.config, "decoder_start_token_id", None)
        first = torch.tensor([[0 if start is None else start]])
        results = [_write(model, first, source, limit=config.max_len) for model in (ours, theirs)]
    return results[0] == results[1]


def _write(model: Any, tokens: Tensor, source: Tensor | None, *, limit: int) -> list[int]:
    """Continue greedily. The whole sequence is run each time: slow, but nothing except argmax is involved."""
    foreign = hasattr(model, "generation_config") or hasattr(model, "base_model_prefix")
    for _ in range(min(_GREEDY_STEPS, limit - tokens.size(1))):
        if source is None:
            logits = model(tokens).logits if foreign else model(tokens)
        elif foreign:
            name = "input_features" if source.dim() == 3 else "input_ids"
            logits = model(**{name: source.mT if source.dim() == 3 else source}, decoder_input_ids=tokens).logits
        else:
            logits = model(source, tokens)
        tokens = torch.cat((tokens, logits[:, -1:].argmax(-1)), dim=1)
    return [int(token) for token in tokens[0]]


def _tokens(transformers: Any, bundle: Bundle, folder: Path) -> tuple[bool, ...]:
    """Whether their tokenizer gives the same ids for the five texts; empty if either side has no tokenizer."""
    if bundle.tokenizer is None:
        return ()
    try:
        theirs = transformers.AutoTokenizer.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
        return tuple(list(bundle.tokenizer.encode(text).ids) == theirs(text)["input_ids"] for text in TEXTS)
    except Exception as error:
        log.debug("their tokenizer could not be opened: %s", error)
        return ()


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Silence what their library prints on stderr."""
    reports = importlib.import_module("transformers.utils.logging")
    level = reports.get_verbosity()
    reports.set_verbosity_error()
    reports.disable_progress_bar()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        reports.set_verbosity(level)


def _line(error: BaseException) -> str:
    return f"{type(error).__name__}: {str(error).splitlines()[0][:160] if str(error) else ''}"
