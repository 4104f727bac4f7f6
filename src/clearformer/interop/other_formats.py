"""Formats that are not opened, known by their files, so that a refusal names the format and says what to do.

Nothing is read but names, the first bytes, and in a file of PyTorch the words of its list of contents, which is
searched and never unpickled.
"""

import struct
import zipfile
from pathlib import Path

from clearformer.interop.foreign_files import open_binary

# Endings, most exact first, with what they are and what opens them.
_ENDINGS = {
    ".onnx": ("an ONNX graph", "import the folder that it was exported from, with its safetensors"),
    ".h5": ("TensorFlow weights", "load it with from_pretrained(..., from_tf=True) where that runs, and save it again"),
    ".ckpt.index": ("a TensorFlow checkpoint", "convert it with the script of its own project to safetensors"),
    ".ckpt.meta": ("a TensorFlow checkpoint", "convert it with the script of its own project to safetensors"),
    ".pb": ("a TensorFlow graph", "convert it with the script of its own project to safetensors"),
    ".tflite": ("a TensorFlow Lite graph", "import the model that it was made from"),
    ".msgpack": (
        "Flax weights",
        "load it with from_pretrained(..., from_flax=True) where that runs, and save it again",
    ),
    ".mlmodel": ("a Core ML model", "import the model that it was made from"),
    ".mlpackage": ("a Core ML model", "import the model that it was made from"),
    ".keras": ("a Keras model", "convert it with its own program to safetensors"),
    ".safetensors": ("a file of tensors alone", "give the folder that also holds its config.json"),
    ".npz": ("a file of arrays alone", "give the folder that also holds its config.json"),
    ".nemo": ("a NeMo archive", "unpack it with its own program and save the weights as safetensors"),
}
_ALONE = (".safetensors", ".npz")  # opened with what lies beside them
_TORCH = (".pt", ".pth", ".bin", ".ckpt")
_LOOKED_AT = 1 << 20  # bytes of a list of contents: enough for its first names

# Words of a file of PyTorch, of which all have to be there, with what it is and what to do.
_WORDS = (
    (
        (b"dims", b"n_audio_ctx", b"model_state_dict"),
        "a Whisper of OpenAI's",
        "give the folder that holds it under its published name (tiny.en.pt), with the tokenizer.json of that model",
    ),
    (
        (b"pytorch-lightning_version",),
        "a checkpoint of Lightning",
        "save the model that is in it with its own program, as safetensors with a config.json",
    ),
    (
        (b"in_proj_weight", b"self_attn", b"linear1"),
        "a state_dict of torch.nn's own Transformer layers, which names no vocabulary, heads or activation",
        "build the module again and train it here, or export it to a format that says them",
    ),
    (
        (b"model", b"embed_tokens", b"args"),
        "a checkpoint of fairseq",
        "convert it with the script that transformers has for its family, then import that folder",
    ),
    (
        (b"model", b"embed_tokens", b"cfg"),
        "a checkpoint of fairseq",
        "convert it with the script that transformers has for its family, then import that folder",
    ),
)
_LLAMA2C = struct.Struct("<7i")  # its header: sizes, which every one of these files begins with


def refusal(source: Path) -> str | None:
    """Why a file, or a folder without config.json, is not opened; None if its format is not known either."""
    if not source.is_dir():
        return _of_file(source)
    names = sorted(path for path in (*source.iterdir(), *source.glob("onnx/*")) if path.is_file())
    found = next((said for path in names if path.suffix not in _ALONE and (said := _by_ending(path))), None)
    torch = next((path for path in names if _is_torch(path)), None)
    return _by_ending(source) or found or (None if torch is None else _torch(torch)) or _llama2c(names)


def _of_file(path: Path) -> str | None:
    return _by_ending(path) or (_torch(path) if _is_torch(path) else _llama2c([path]))


def _by_ending(path: Path) -> str | None:
    known = next((told for ending, told in _ENDINGS.items() if path.name.endswith(ending)), None)
    return None if known is None else f"{path} is {known[0]}, which is not opened here; {known[1]}"


def _is_torch(path: Path) -> bool:
    if not path.is_file() or path.suffix not in _TORCH:
        return False
    with open_binary(path) as file:
        start = file.read(4)
    return start == b"PK\x03\x04" or start[:1] == b"\x80"


def _llama2c(paths: list[Path]) -> str | None:
    """Of a file that begins with the sizes of a model, and is as large as these say."""
    for path in paths:
        if path.suffix != ".bin" or path.stat().st_size < _LLAMA2C.size:
            continue
        with open_binary(path) as file:
            dim, hidden, layers, heads, groups, vocabulary, length = _LLAMA2C.unpack(file.read(_LLAMA2C.size))
        if min(dim, hidden, layers, heads, groups, length) < 1 or vocabulary == 0 or dim % heads:
            continue
        numbers = abs(vocabulary) * dim + layers * (
            2 * dim * dim + 2 * dim * (dim // heads * groups) + 3 * dim * hidden
        )
        if numbers <= path.stat().st_size // 4 <= 2 * numbers + (length + 4 * layers) * dim:
            return (
                f"{path} is a model of llama2.c, whose pieces are in another file; give the folder that holds it "
                "beside its tokenizer (tok512.bin, tokenizer.bin)"
            )
    return None


def _contents(path: Path) -> bytes:
    """Where a file of PyTorch names its tensors: a member of an archive, or, in the older format, its beginning."""
    try:
        with zipfile.ZipFile(path) as archive:
            listed = next((name for name in archive.namelist() if name.endswith("data.pkl")), None)
            if listed is None:
                return b""
            with archive.open(listed) as member:
                return member.read(_LOOKED_AT)
    except (OSError, ValueError, RuntimeError, NotImplementedError, zipfile.BadZipFile):
        with open_binary(path) as file:
            return file.read(_LOOKED_AT)


def _torch(path: Path) -> str:
    contents = _contents(path)
    for words, what, remedy in _WORDS:
        if all(word in contents for word in words):
            return f"{path} is {what}; {remedy}"
    return (
        f"{path} holds weights of PyTorch (a fairseq checkpoint, a plain state_dict, a training run), which do not say "
        "which model they belong to; put a config.json of a known family beside it, or convert it with the program "
        "that wrote it"
    )
