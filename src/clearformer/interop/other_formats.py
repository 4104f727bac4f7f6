"""Formats that are not opened, known by their files, so that a refusal names the format and says what to do.

Nothing is read but names and the first bytes.
"""

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
    ".nemo": ("a NeMo archive", "unpack it with its own program and save the weights as safetensors"),
}
_TORCH = (".pt", ".pth", ".bin", ".ckpt")


def refusal(source: Path) -> str | None:
    """Why a file, or a folder without config.json, is not opened; None if its format is not known either."""
    if source.is_dir():
        names = sorted(path for path in (*source.iterdir(), *source.glob("onnx/*")) if path.is_file())
        found = next((said for path in names if (said := _by_ending(path)) is not None), None)
        torch = next((path for path in names if _is_torch(path)), None)
        return found or (None if torch is None else _torch(torch))
    return _by_ending(source) or (_torch(source) if _is_torch(source) else None)


def _by_ending(path: Path) -> str | None:
    known = next((told for ending, told in _ENDINGS.items() if path.name.endswith(ending)), None)
    return None if known is None else f"{path} is {known[0]}, which is not opened here; {known[1]}"


def _is_torch(path: Path) -> bool:
    if not path.is_file() or path.suffix not in _TORCH:
        return False
    with open_binary(path) as file:
        start = file.read(4)
    return start == b"PK\x03\x04" or start[:1] == b"\x80"


def _torch(path: Path) -> str:
    return (
        f"{path} holds weights of PyTorch (a fairseq checkpoint, a plain state_dict, a training run), which do not say "
        "which model they belong to; put a config.json of a known family beside it, or convert it with the program "
        "that wrote it"
    )
