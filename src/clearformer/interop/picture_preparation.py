"""How a published model wants its pictures: preprocessor_config.json, key by key, as facts beside the weights.

The published program resizes, cuts the middle out, rescales and normalises, in this order, each step if the file says
so. What the facts cannot say is refused by name; without the file, what the published code takes is assumed.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from clearformer.folder.preprocessing import PictureFacts
from clearformer.interop.foreign_files import read_json
from clearformer.model.config import FrontConfig

FILE = "preprocessor_config.json"
TOGETHER = "processor_config.json"  # newer files say it there, beside other things; what it says comes first
RESAMPLE = ("nearest", "lanczos", "bilinear", "bicubic", "box", "hamming")  # pillow's numbers
BYTE = 1 / 255

_USUAL = {"do_resize": True, "do_rescale": True, "rescale_factor": BYTE, "do_normalize": True, "do_center_crop": False}
_HALVES = {"image_mean": [0.5, 0.5, 0.5], "image_std": [0.5, 0.5, 0.5]}
_CLIP = {
    "image_mean": [0.48145466, 0.4578275, 0.40821073], "image_std": [0.26862954, 0.26130258, 0.27577711],
}  # fmt: skip
_VIT = {**_USUAL, **_HALVES, "resample": 2, "size": {"height": 224, "width": 224}}
_DEIT = {
    **_USUAL, **_HALVES, "resample": 3, "size": {"height": 256, "width": 256}, "do_center_crop": True,
    "crop_size": {"height": 224, "width": 224},
}  # fmt: skip
_BICUBIC = {**_VIT, "resample": 3}
_SIGLIP = {**_BICUBIC, "default_to_square": False}
_CUT = {
    **_SIGLIP, **_CLIP, "size": {"shortest_edge": 224}, "do_center_crop": True,
    "crop_size": {"height": 224, "width": 224},
}  # fmt: skip
_DEFAULTS: dict[str, Mapping[str, Any]] = {  # by the processor's name
    "ViT": _VIT, "DeiT": _DEIT, "Beit": _BICUBIC, "Siglip": _SIGLIP, "Bit": _CUT, "CLIP": _CUT,
}  # fmt: skip
_ENDINGS = ("ImageProcessor", "ImageProcessorFast", "ImageProcessorPil", "FeatureExtractor")

_KNOWN = {*_DEIT, "image_processor_type", "feature_extractor_type", "default_to_square"}
# What does not change the numbers of a single picture, or what every picture is brought to anyway.
_HARMLESS = {
    "processor_class", "do_convert_rgb", "return_tensors", "data_format", "input_data_format", "device",
    "disable_grouping", "_valid_processor_keys", "image_seq_length", "do_reduce_labels", "reduce_labels",
}  # fmt: skip


def read_picture_facts(
    folder: Path, front: FrontConfig, *, processor: str = "ViT", any_size: bool = False
) -> tuple[PictureFacts | None, tuple[str, ...]]:
    """What the folder says of pictures, and what had to be assumed; None for models that read none.

    processor: the family's own, where the file names none. any_size: pictures may have another size than the model's
    positions, which are then interpolated.
    """
    if front.kind != "patches":
        return None, ()
    path = folder / FILE
    notes: tuple[str, ...] = ()
    together = read_json(folder / TOGETHER).get("image_processor") if (folder / TOGETHER).exists() else None
    if isinstance(together, Mapping):
        path, given = folder / TOGETHER, dict(together)
    elif path.exists():
        given = read_json(path)
    else:
        side = {"height": front.picture, "width": front.picture}
        given = {"size": {"shortest_edge": front.picture}} if _DEFAULTS[processor] is _CUT else {"size": side}
        given |= {"crop_size": side}
        given |= {} if front.channels == 3 else {key: [0.5] * front.channels for key in ("image_mean", "image_std")}
        notes = (f"{FILE} is not there; what the published {processor}ImageProcessor does is assumed",)
    return _facts(path, given, front, processor, any_size=any_size), notes


def _facts(path: Path, given: Mapping[str, Any], front: FrontConfig, processor: str, *, any_size: bool) -> PictureFacts:
    _refuse_unknown(path, given)
    said = {**_defaults(given, processor), **{key: value for key, value in given.items() if value is not None}}
    fit, resized, size = _squares(path, said, front.picture)
    if size != front.picture and not any_size:
        raise ValueError(f"{path} makes pictures of {size} × {size}, and the model reads {front.picture}; correct it")
    scale = 255 * (_number(path, said, "rescale_factor") if _choice(path, said, "do_rescale") else 1.0)
    mean, deviation = (0.0,) * front.channels, (1.0,) * front.channels
    if _choice(path, said, "do_normalize"):
        mean, deviation = (_numbers(path, said, key, front.channels) for key in ("image_mean", "image_std"))
    return PictureFacts(
        size=size,
        channels=front.channels,
        mean=tuple(value / scale for value in mean),  # the facts count in shares of 255
        deviation=tuple(value / scale for value in deviation),
        fit=fit,
        resample=_resample(path, said),
        resized=resized if resized != size else None,
    )


def write_picture_facts(facts: PictureFacts) -> dict[str, Any]:
    """The file for a model that is exported. A middle square is scaled first and cut then, which differs by little."""
    side = facts.resized or facts.size
    whole = facts.fit == "stretch"
    return {
        "image_processor_type": "ViTImageProcessor",
        "do_resize": True,
        "size": {"height": side, "width": side} if whole else {"shortest_edge": side},
        "resample": RESAMPLE.index(facts.resample),
        "do_center_crop": not whole or side != facts.size,
        "crop_size": {"height": facts.size, "width": facts.size},
        "do_rescale": True,
        "rescale_factor": BYTE,
        "do_normalize": True,
        "image_mean": list(facts.mean),
        "image_std": list(facts.deviation),
    }


def _refuse_unknown(path: Path, given: Mapping[str, Any]) -> None:
    for key, value in given.items():
        if key not in _KNOWN and key not in _HARMLESS and value not in (None, False):
            raise ValueError(f"{path}: {key} = {str(value)[:60]!r} changes pictures in a way that is not known here")


def _defaults(given: Mapping[str, Any], usual: str) -> Mapping[str, Any]:
    """What the published class takes where the file is silent; nothing for classes that are not known."""
    named = str(given.get("image_processor_type") or given.get("feature_extractor_type") or usual)
    known = {name + ending: values for name, values in _DEFAULTS.items() for ending in ("", *_ENDINGS)}
    return known.get(named, {})


def _squares(path: Path, said: Mapping[str, Any], picture: int) -> tuple[Any, int, int]:
    """How a picture becomes a square: the way, the side that it is scaled to, and the side that is kept."""
    cut = _choice(path, said, "do_center_crop")
    kept = _side(path, "crop_size", _found(path, said, "crop_size")) if cut else 0
    if not _choice(path, said, "do_resize"):
        if cut and kept != picture:
            raise ValueError(f"{path}: a picture is cut and not resized, which is not known here; set do_resize")
        return "stretch", picture, picture  # others are refused by the published program
    size = _found(path, said, "size")
    if not isinstance(size, Mapping) and said.get("default_to_square", True) is False:
        size = {"shortest_edge": size}  # a number alone
    if isinstance(size, Mapping) and set(size) == {"shortest_edge"}:
        side = _whole(path, "size", size["shortest_edge"])
        if not cut:
            raise ValueError(f"{path}: pictures keep their ratio, so they are no squares; set do_center_crop")
        return "shortest", side, kept
    side = _side(path, "size", size)
    return "stretch", side, kept or side


def _side(path: Path, key: str, value: Any) -> int:
    if isinstance(value, Mapping):
        if set(value) != {"height", "width"} or value["height"] != value["width"]:
            raise ValueError(f"{path}: {key} = {value} is no square, and models here read squares")
        value = value["height"]
    return _whole(path, key, value)


def _whole(path: Path, key: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= 1 << 14:
        raise ValueError(f"{path}: {key} must be a number of pixels, not {str(value)[:60]!r}")
    return value


def _resample(path: Path, said: Mapping[str, Any]) -> Any:
    value = _found(path, said, "resample")
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < len(RESAMPLE):
        raise ValueError(f"{path}: resample is a number from 0 to {len(RESAMPLE) - 1}, not {str(value)[:60]!r}")
    return RESAMPLE[value]


def _numbers(path: Path, said: Mapping[str, Any], key: str, channels: int) -> tuple[float, ...]:
    value = _found(path, said, key)
    values: Sequence[Any] = value if isinstance(value, list) else [value] * channels
    if len(values) != channels or not all(isinstance(one, int | float) and abs(one) < 1e6 for one in values):
        raise ValueError(f"{path}: {key} must be {channels} numbers, one for each channel, not {str(value)[:60]!r}")
    return tuple(float(one) for one in values)


def _number(path: Path, said: Mapping[str, Any], key: str) -> float:
    value = _found(path, said, key)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1e6:
        raise ValueError(f"{path}: {key} must be a number above 0, not {str(value)[:60]!r}")
    return float(value)


def _choice(path: Path, said: Mapping[str, Any], key: str) -> bool:
    value = said.get(key, False) if key == "do_center_crop" else _found(path, said, key)
    if not isinstance(value, bool):
        raise ValueError(f"{path}: {key} must be true or false, not {str(value)[:60]!r}")
    return value


def _found(path: Path, said: Mapping[str, Any], key: str) -> Any:
    if key not in said:
        raise ValueError(f"{path} does not say {key}, and what its program would take is not known here; add it")
    return said[key]
