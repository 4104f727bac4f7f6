"""A model as ONNX graphs that other programs can run: the encoder, and one step of the decoder.

encoder.onnx        source -> the keys and values that each decoder layer looks at, projected once
decoder_step.onnx   one token, its position, the keys and values so far -> scores for the next, keys and values so far
config.json         our description, and the names of the inputs and outputs

A decoder alone has the second file only, an encoder alone the first, with its head's output. All lengths and the batch
size are dynamic. Before the folder is written, the graphs are run and have to agree with the model.
"""

import copy
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from clearformer.folder import bundle
from clearformer.folder.description import open_folder
from clearformer.foundation import storage
from clearformer.model.attention import Attention, gather, share, split
from clearformer.model.attention_context import Memory
from clearformer.model.cache import FixedCache, Projection
from clearformer.model.config import ModelConfig

OPSET = 20
TOLERANCE = 1e-4  # between the graphs and the model, in scores of size ten


def export(folder: Path, out: Path) -> None:
    """Write a model folder's graphs, checked, whole or not at all."""
    opened = open_folder(folder)
    loaded = bundle.load(opened)
    check(loaded.config)
    graphs = list(_graphs(loaded.config, _readable(loaded.model)))
    with storage.new_folder(out) as aside:
        for graph in graphs:
            graph.write(aside)
        _compare(loaded.config, loaded.model, aside)
        told = {graph.name: {"inputs": graph.inputs, "outputs": graph.outputs} for graph in graphs}
        storage.write_json(
            aside / "config.json", opened.description.plain() | {"onnx": {"opset": OPSET, "graphs": told}}
        )
        loaded.preprocessing.save_files(aside)


def check(config: ModelConfig) -> None:
    """Refuse, by name, what these graphs cannot express."""
    if config.shape not in ("encoder-decoder", "encoder", "decoder"):
        raise ValueError(
            f"a {config.family} is not exported to ONNX: its shape is {config.shape}, not one of attention"
        )
    if config.front.kind != "tokens":
        raise ValueError(f"a {config.family} is not exported to ONNX: it reads {config.front.kind}, not tokens")
    places = (config.position, config.decoder_position or config.position)
    if any(place.kind == "relative" for place in places):
        raise ValueError(f"a {config.family} is not exported to ONNX: its positions are relative to its memory")
    if config.head.copy:
        raise ValueError(f"a {config.family} is not exported to ONNX: its head copies from the source")
    if config.experts is not None:
        raise ValueError(f"a {config.family} is not exported to ONNX: which of its experts run depends on the text")
    if config.norm.kind == "batch":
        raise ValueError(f"a {config.family} is not exported to ONNX: its norm depends on the batch")


# ---- graphs ---------------------------------------------------------------------------------------------------------


class Graph:
    """A module with an example of its inputs, and the names of its inputs and outputs."""

    def __init__(self, name: str, module: nn.Module, example: dict[str, Tensor], outputs: list[str]) -> None:
        self.name, self.module, self.example = name, module.eval(), example
        self.inputs, self.outputs = list(example), outputs

    def write(self, folder: Path) -> None:
        """Trace and save."""
        onnx = _onnx()
        with warnings.catch_warnings(), torch.inference_mode():
            warnings.simplefilter(
                "ignore"
            )  # about shapes that become constants: the example is built so that none does
            torch.onnx.export(
                self.module,
                tuple(self.example.values()),
                folder / self.name,
                input_names=self.inputs,
                output_names=self.outputs,
                dynamic_axes={name: _axes(name) for name in (*self.inputs, *self.outputs) if _axes(name)},
                opset_version=OPSET,
                dynamo=False,
            )
        onnx.checker.check_model(str(folder / self.name))


def _axes(name: str) -> dict[int, str]:
    """Which dimensions are dynamic, by the kind of a value: its name up to the first dot."""
    kind = name.split(".")[0]
    return {
        "tokens": {0: "batch", 1: "source"},
        "keep": {0: "batch", 1: "source"},
        "states": {0: "batch", 1: "source"},
        "token": {0: "batch"},
        "position": {0: "batch"},
        "scores": {0: "batch"},
        "past": {0: "batch", 2: "so far"},
        "present": {0: "batch", 2: "with this one"},
        "cross": {0: "batch", 2: "source"},
    }[kind]


def _graphs(config: ModelConfig, model: Any) -> Iterator[Graph]:
    tokens = torch.randint(0, config.vocab_size, (2, 5))
    keep = torch.tensor([[True] * 5, [True, True, True, False, False]])
    source = {"tokens": tokens, "keep": keep}
    if config.shape == "encoder":
        yield Graph("encoder.onnx", Understanding(model), source, ["states"])
        return
    layers = model.decoder.layers
    across = _names("cross", len(layers)) if config.shape == "encoder-decoder" else []
    if across:
        yield Graph("encoder.onnx", Reading(model), source, across)
    heads, width = layers[0].self_attn.heads.kv_count, layers[0].self_attn.heads.key_dim
    past = {name: torch.randn(2, heads, 3, width) for name in _names("past", len(layers))}
    example = {"token": torch.ones(2, 1, dtype=torch.long), "position": torch.full((2, 1), 3)} | past
    if across:
        example |= {"keep": keep} | {name: torch.randn(2, heads, 5, width) for name in across}
    yield Graph("decoder_step.onnx", Writing(model, bool(across)), example, ["scores", *_names("present", len(layers))])


def _names(kind: str, layers: int) -> list[str]:
    return [f"{kind}.{layer}.{part}" for layer in range(layers) for part in ("key", "value")]


class Understanding(nn.Module):
    """An encoder with its head."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.model = model

    def forward(self, tokens: Tensor, keep: Tensor) -> Tensor:
        output: Tensor = self.model(tokens, keep=keep)
        return output


class Reading(nn.Module):
    """An encoder, and each decoder layer's projection of what it read."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.encoder, self.layers = model.encoder, model.decoder.layers

    def forward(self, tokens: Tensor, keep: Tensor) -> list[Tensor]:
        states = self.encoder(tokens, keep=keep).states
        projected = []
        for layer in self.layers:
            look: Any = layer.cross_attn
            projected += [
                split(look.k_proj(states), look.heads.kv_count),
                split(look.v_proj(states), look.heads.kv_count),
            ]
        return projected


class Writing(nn.Module):
    """One step of a decoder; its cache is an input and an output."""

    def __init__(self, model: Any, across: bool) -> None:
        super().__init__()
        self.decoder, self.head, self.across = model.decoder, model.head, across

    def forward(self, token: Tensor, position: Tensor, *remembered: Tensor) -> list[Tensor]:
        count = 2 * len(self.decoder.layers)
        past, rest = remembered[:count], remembered[count:]
        cache = Handed(past, rest[1:])
        # The states themselves are not needed: their keys and values are inputs.
        memory = Memory(rest[0][..., None].float(), rest[0]) if self.across else None
        states = self.decoder(token, memory, positions=position, cache=cache)
        return [self.head(states)[:, -1], *cache.present()]


class Handed:
    """A decoder's cache, given as tensors."""

    def __init__(self, past: tuple[Tensor, ...], across: tuple[Tensor, ...]) -> None:
        self.self_attn = [Appended(*pair) for pair in zip(past[::2], past[1::2], strict=True)]
        pairs = list(zip(across[::2], across[1::2], strict=True))
        self.cross_attn = [FixedCache(pair) for pair in pairs] or [FixedCache() for _ in self.self_attn]

    def next_position(self) -> int:
        return 0  # positions are inputs, too

    def place(self, positions: Tensor, keep: Tensor | None) -> tuple[Tensor, Tensor | None]:
        """The keys stand at 0, 1, … up to the present token."""
        total = self.self_attn[0].keys.shape[2] + 1
        return torch.arange(total, device=positions.device)[None], None

    def present(self) -> list[Tensor]:
        return [part for layer in self.self_attn for part in (layer.keys, layer.values)]


class Appended:
    """Keys and values of one layer; new ones are appended."""

    def __init__(self, keys: Tensor, values: Tensor) -> None:
        self.keys, self.values = keys, values

    def extend(self, project: Projection) -> tuple[Tensor, Tensor]:
        keys, values = project()
        self.keys, self.values = torch.cat((self.keys, keys), dim=2), torch.cat((self.values, values), dim=2)
        return self.keys, self.values


def _readable(model: nn.Module) -> nn.Module:
    """A copy that attends and normalises by the formulas, in operations that every runtime has."""
    twin = copy.deepcopy(model).eval()
    for module in list(twin.modules()):
        if isinstance(module, Attention):
            module.kernel = attend
        for name, part in module.named_children():
            if isinstance(part, nn.RMSNorm):
                setattr(module, name, RootMeanSquare(part))
    return twin


class RootMeanSquare(nn.Module):
    """x / √(mean of x² + eps), times one weight per feature: RMSNorm, which older opsets lack."""

    def __init__(self, norm: nn.RMSNorm) -> None:
        super().__init__()
        self.weight, self.eps = norm.weight, float(norm.eps or torch.finfo(torch.float32).eps)

    def forward(self, x: Tensor) -> Tensor:
        return x * torch.rsqrt(x.square().mean(dim=-1, keepdim=True) + self.eps) * self.weight


def attend(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    *,
    mask: Tensor | None = None,
    bias: Tensor | None = None,
    scale: float | None = None,
    dropout: float = 0.0,
) -> Tensor:
    """The same as `model.attention.attend`, without operations that ONNX lacks."""
    scores = q @ share(k, q.size(1)).transpose(-2, -1) * (q.size(-1) ** -0.5 if scale is None else scale)
    return gather(scores if bias is None else scores + bias, v, mask=mask, dropout=0.0)


# ---- the check ------------------------------------------------------------------------------------------------------


@torch.inference_mode()
def _compare(config: ModelConfig, model: Any, folder: Path) -> None:
    """Run the graphs step by step on other lengths than they were traced with, and compare with the model."""
    generator = torch.Generator().manual_seed(0)
    tokens = torch.randint(0, config.vocab_size, (3, 7), generator=generator)
    keep = torch.arange(7) < torch.tensor([[7], [4], [1]])
    source = {"tokens": tokens.numpy(), "keep": keep.numpy()}
    if config.shape == "encoder":
        found = run(folder / "encoder.onnx", source)["states"]
        real = keep if found.ndim == 3 else slice(None)
        _agree(torch.from_numpy(found)[real], model(tokens, keep=keep)[real], "encoder.onnx")
        return
    target = torch.randint(0, config.target_vocab_size or config.vocab_size, (3, 4), generator=generator)
    fixed: dict[str, Any] = {}
    if config.shape == "encoder-decoder":
        expected = model(tokens, target, source_keep=keep)
        fixed = run(folder / "encoder.onnx", source) | {"keep": source["keep"]}
    else:
        expected = model(target)
    heads = model.decoder.layers[0].self_attn.heads
    empty = np.zeros((3, heads.kv_count, 0, heads.key_dim), dtype=np.float32)
    past = dict.fromkeys(_names("past", len(model.decoder.layers)), empty)
    for step in range(target.size(1)):
        here = {"token": target[:, step : step + 1].numpy(), "position": np.full((3, 1), step)}
        outputs = run(folder / "decoder_step.onnx", here | past | fixed)
        _agree(torch.from_numpy(outputs.pop("scores")), expected[:, step], "decoder_step.onnx")
        past = {name.replace("present", "past"): value for name, value in outputs.items()}


def run(path: Path, inputs: dict[str, Any]) -> dict[str, Any]:
    """A graph's outputs by name."""
    options = _runtime().SessionOptions()
    options.intra_op_num_threads = 1
    session = _runtime().InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    wanted = {one.name for one in session.get_inputs()}
    return dict(zip(names, session.run(None, {key: inputs[key] for key in wanted}), strict=True))


def _agree(found: Tensor, expected: Tensor, name: str) -> None:
    difference = float((found - expected).abs().max())
    if not difference <= TOLERANCE * max(1.0, float(expected.abs().max()) / 10):
        raise ValueError(f"{name} differs from the model by {difference:.2g}; it was not written, please report it")


def _onnx() -> Any:
    try:
        import onnx
    except ImportError:
        raise ValueError("exporting to ONNX needs two packages: pip install 'clearformer[export]'") from None
    return onnx


def _runtime() -> Any:
    try:
        import onnxruntime
    except ImportError:
        raise ValueError("exporting to ONNX needs two packages: pip install 'clearformer[export]'") from None
    return onnxruntime
