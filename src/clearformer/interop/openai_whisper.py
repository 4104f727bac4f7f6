"""OpenAI's own Whisper files: one .pt with `dims` and `model_state_dict`, in a folder with the vocabulary.

The file says nothing of pieces, so `tokenizer.json` has to lie beside it. It is opened by the closed converter; sizes
are those of the tensors, and heads are 64 features wide, as in every model that was published.
"""

import tempfile
from pathlib import Path

import torch
from torch import Tensor

from clearformer.folder.bundle import Bundle
from clearformer.folder.preprocessing import Preprocessing, SoundFacts
from clearformer.interop import torch_files
from clearformer.interop.imported import Imported, assemble
from clearformer.interop.renaming import RenamingTable, Store, pairs, under
from clearformer.interop.sound_preparation import languages_of, unsaid
from clearformer.interop.tensor_files import Safetensors
from clearformer.interop.tokenizer_files import from_definition
from clearformer.model.config import FrontConfig, ModelConfig
from clearformer.model.families import whisper
from clearformer.model.positions import Tensor2TensorSinusoidal

VOCABULARY, HEAD = "tokenizer.json", 64
_TELLING = {"encoder.positional_embedding", "decoder.token_embedding.weight", "encoder.blocks.0.attn.query.weight"}

LAYER = pairs(
    {
        "self_attn.q_proj": "attn.query",
        "self_attn.k_proj": "attn.key",
        "self_attn.v_proj": "attn.value",
        "self_attn.out_proj": "attn.out",
        "self_attn_residual.before": "attn_ln",
        "cross_attn.q_proj": "cross_attn.query",
        "cross_attn.k_proj": "cross_attn.key",
        "cross_attn.v_proj": "cross_attn.value",
        "cross_attn.out_proj": "cross_attn.out",
        "cross_attn_residual.before": "cross_attn_ln",
        "ffn.up_proj": "mlp.0",
        "ffn.down_proj": "mlp.2",
        "ffn_residual.before": "mlp_ln",
    }
)


def find(folder: Path) -> Path | None:
    """The one file of PyTorch in a folder without config.json, if its name is a published one's."""
    if not folder.is_dir() or (folder / "config.json").exists():
        return None
    files = [path for path in sorted(folder.glob("*.pt")) if torch_files.can_read(path)]
    named = [path for path in files if path.stem.split(".")[0].split("-")[0] in SIZES]
    return named[0] if len(files) == len(named) == 1 else None


SIZES = ("tiny", "base", "small", "medium", "large", "turbo")


def read(folder: Path) -> Imported:
    """Open it."""
    path = find(folder)
    assert path is not None
    if not (folder / VOCABULARY).is_file():
        raise ValueError(
            f"{path} is a Whisper of OpenAI's, whose pieces are in another file; put the {VOCABULARY} of the same "
            "model beside it"
        )
    with tempfile.TemporaryDirectory(prefix="clearformer-") as aside:
        converted = Path(aside) / "model.safetensors"
        torch_files.convert(path, converted)
        store = Safetensors({"model": converted})
        if not store.shapes.keys() >= _TELLING:
            raise ValueError(f"{path} has the name of a Whisper of OpenAI's, but other tensors")
        config = _config(path, store)
        model, unused = assemble(config, names(config), store)
    ends = {f"{role}_token": "<|endoftext|>" for role in ("bos", "eos", "unk")}
    tokenizer = from_definition(folder / VOCABULARY, config.family, ends)
    if tokenizer.vocab_size > config.vocab_size:
        raise ValueError(f"{folder / VOCABULARY} has {tokenizer.vocab_size} pieces, and the model {config.vocab_size}")
    never, never_first = unsaid(tokenizer)
    sound = SoundFacts(
        mels=config.front.mels, never=never, never_first=never_first,
        tongues=languages_of(tokenizer, config.vocab_size),
    )  # fmt: skip
    return Imported(
        bundle=Bundle(
            config=config,
            model=model,
            preprocessing=Preprocessing(tokenizer=tokenizer, sound=sound),
            provenance={"imported_from": path.name, "format": "openai-whisper"},
        ),
        aside=unused,
        notes=("heads are taken to be 64 features wide, as in every published Whisper",),
    )


def names(config: ModelConfig) -> RenamingTable:
    """Our names and theirs."""
    ends = pairs(
        {
            "encoder.front.narrow": "encoder.conv1",
            "encoder.front.halve": "encoder.conv2",
            "encoder.norm": "encoder.ln_post",
            "decoder.norm": "decoder.ln",
            "decoder.front.embed": "decoder.token_embedding",
            "decoder.front.position.table.weight": "decoder.positional_embedding",
        }
    )
    layers = [
        rule for stack in ("encoder", "decoder") for rule in under(f"{stack}.layers.*", f"{stack}.blocks.*", LAYER)
    ]
    return RenamingTable(
        [*ends, *layers],
        fixed={"encoder.positional_embedding": _waves},
        aside={"decoder.mask": "what a decoder may look at follows from its length", "alignment_heads": "kept apart"},
    )


def _config(path: Path, store: Store) -> ModelConfig:
    shapes = store.shapes

    def count(stack: str) -> int:
        return len({name.split(".")[2] for name in shapes if name.startswith(f"{stack}.blocks.")})

    vocab, dim = _two(path, store, "decoder.token_embedding.weight")
    hidden, _ = _two(path, store, "encoder.blocks.0.mlp.0.weight")
    places, _ = _two(path, store, "decoder.positional_embedding")
    convolution = shapes.get("encoder.conv1.weight", ())
    if len(convolution) != 3 or dim % HEAD:
        raise ValueError(f"{path} has the name of a Whisper of OpenAI's, but tensors of other shapes")
    return whisper(
        vocab_size=vocab, dim=dim, hidden_dim=hidden, layers=count("encoder"), decoder_layers=count("decoder"),
        heads=dim // HEAD, max_len=places, front=FrontConfig(kind="sound", mels=convolution[1]),
    )  # fmt: skip


def _two(path: Path, store: Store, name: str) -> tuple[int, int]:
    shape = store.shapes.get(name, ())
    if len(shape) != 2:
        raise ValueError(f"{path} has no matrix {name}, so it is no Whisper of OpenAI's")
    return shape[0], shape[1]


def _waves(shape: tuple[int, ...]) -> Tensor:
    return Tensor2TensorSinusoidal(shape[-1]).embed(torch.arange(shape[0]))
