"""How a published model that reads samples wants its recordings, there and back: preprocessor_config.json.

What the facts cannot say is refused by its key.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from clearformer.folder.preprocessing import SoundFacts
from clearformer.foundation import settings
from clearformer.interop.foreign_files import read_json
from clearformer.model.config import ModelConfig

FILE, PROCESSOR = "preprocessor_config.json", "processor_config.json"
SECONDS = 30.0  # that are read at a time: longer recordings are cut where it is quiet, for attention grows as a square
# What changes no recording that is read alone: padding is never heard here, and bookkeeping.
_HARMLESS = {"feature_extractor_type", "processor_class", "return_attention_mask", "padding_side", "model_input_names"}
_KIND = "Wav2Vec2FeatureExtractor"


def read_sample_facts(folder: Path, config: ModelConfig) -> SoundFacts:
    """What the folder says of recordings. Without a word: 16,000 samples a second, normalised."""
    path, given = _given(folder)
    normalise, kind = given.get("do_normalize", True), given.get("feature_extractor_type", _KIND)
    if not isinstance(normalise, bool):
        raise ValueError(f"{path}: do_normalize must be true or false, not {str(normalise)[:60]!r}")
    if kind != _KIND:
        raise ValueError(f"{path}: recordings are prepared by {str(kind)[:60]!r}, and only {_KIND} is known here")
    if given.get("feature_size", 1) != 1:
        raise ValueError(
            f"{path}: feature_size is {str(given['feature_size'])[:60]}, and a recording has one channel here"
        )
    for key, value in given.items():
        known = {*_HARMLESS, "do_normalize", "feature_size", "sampling_rate"}
        if key not in known and value not in (None, False, 0):
            raise ValueError(f"{path}: {key} = {str(value)[:60]!r} changes sound in a way that is not known here")
    rate = given.get("sampling_rate", 16_000)
    if isinstance(rate, bool) or not isinstance(rate, int) or not 1000 <= rate <= 192_000:
        raise ValueError(f"{path}: sampling_rate must be a whole number from 1,000 to 192,000, not {str(rate)[:60]!r}")
    facts = {"sample_rate": rate, "normalise": normalise, "window": config.samples.reach, "hop": config.samples.hop}
    return settings.parse(SoundFacts, {"reads": "samples", "seconds": SECONDS, "fill": False, **facts}, str(path))


def write_sample_facts(facts: SoundFacts, config: ModelConfig) -> dict[str, Any]:
    """The inverse. Models that norm each place were trained with a mask for padding, the others without."""
    return {
        "feature_extractor_type": _KIND,
        "feature_size": 1,
        "sampling_rate": facts.sample_rate,
        "padding_value": 0.0,
        "padding_side": "right",
        "do_normalize": facts.normalise,
        "return_attention_mask": config.samples.norm == "each",
    }


def _given(folder: Path) -> tuple[Path, Mapping[str, Any]]:
    """The file that says it; newer folders have it inside another one."""
    path, whole = folder / FILE, folder / PROCESSOR
    if not path.is_file() and whole.is_file():
        inner = read_json(whole).get("feature_extractor")
        return whole, inner if isinstance(inner, Mapping) else {}
    return path, read_json(path) if path.is_file() else {}
