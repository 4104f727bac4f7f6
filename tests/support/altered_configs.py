"""A published folder whose config.json is altered: what the import makes of it, and what the library makes of it.

A key that is read wrongly gives a model that runs and answers wrongly, and no other test would see it. The published
library opens each altered folder itself; what it cannot open, or opens with parts that it had to invent, must be
refused.
"""

import copy
import json
from pathlib import Path
from typing import Any

import torch
import transformers as hf
from huggingface_hub.errors import StrictDataclassError
from torch import Tensor

from clearformer.interop.importer import read_hugging_face
from interop.references import VOCAB, output


def changes(value: Any) -> list[Any]:
    """Other values of the same kind, and null."""
    if isinstance(value, bool):
        return [not value, None]
    if isinstance(value, int):
        return [value + 1, 2 * value, -1, None]
    if isinstance(value, float):
        return [0.37, -0.5, None]
    if isinstance(value, str):
        return [*(word for word in ("relu", "silu", "gelu", "gelu_new", "gated-relu") if word != value), "x", None]
    if isinstance(value, dict):
        return [{}, None]
    if isinstance(value, list) and all(isinstance(one, int) for one in value):
        return [value[:-1], [one + 1 for one in value], [*value, 1], [], [0] * len(value), None]
    return [2, 0.5, True, "gelu_new"] if value is None else []


def verdict(folder: Path, plain: dict[str, Any], without: dict[str, Any] | None = None) -> str | None:
    """What is wrong with how an altered config.json is imported, if something is.

    without: the file without the altered key. The library checks the type of every key, also of those that nothing
    depends on (use_cache = null); where it stops at the type, an import must at least give what the absent key gives.
    """
    mine, refusal = import_or_refusal(folder, plain)
    if refusal is not None:
        return None if "\n" not in refusal else f"refused in more than a sentence: {refusal}"
    try:
        return agreement(folder, mine, plain)
    except StrictDataclassError:
        return None if without is None else agreement(folder, mine, without)


def agreement(folder: Path, mine: Any, plain: dict[str, Any]) -> str | None:
    """How far an imported model is from what the library makes of a config.json, if it is."""
    (folder / "config.json").write_text(json.dumps(plain))
    try:
        theirs = opened_by_the_library(folder, plain)
        expected = answer(theirs, theirs.config, None)
    except StrictDataclassError:
        raise
    except Exception as error:
        return f"imported, though the library does not open it ({str(error)[:90]})"
    found = answer(mine.model, theirs.config, mine.config)
    if found.shape != expected.shape:
        return f"shape {tuple(found.shape)}, not {tuple(expected.shape)}"
    gap = float((found - expected).abs().max())
    return None if gap < 1e-4 else f"off by {gap:.1e}"


def import_or_refusal(folder: Path, plain: dict[str, Any]) -> tuple[Any, str | None]:
    (folder / "config.json").write_text(json.dumps(plain))
    try:
        return read_hugging_face(folder).bundle, None
    except ValueError as error:
        return None, str(error)


def opened_by_the_library(folder: Path, plain: dict[str, Any]) -> Any:
    named = plain.get("architectures") or ["AutoModel"]
    model, report = getattr(hf, named[0]).from_pretrained(
        folder, dtype=torch.float32, output_loading_info=True, local_files_only=True
    )
    invented = report["missing_keys"] or report["mismatched_keys"]
    if invented:
        raise ValueError(f"it invents {copy.copy(invented)}")
    return model.eval()


@torch.no_grad()
def answer(model: Any, theirs: Any, ours: Any) -> Tensor:
    """The same sequence through either program. ours: our configuration, where it is our model."""
    torch.manual_seed(5)
    tokens, target = torch.randint(5, VOCAB, (2, 15)), torch.randint(5, VOCAB, (2, 14))
    if hasattr(theirs, "vision_config"):
        seen = theirs.vision_config
        pictures = torch.randn(2, seen.num_channels, seen.image_size, seen.image_size)
        given = model(pictures, tokens) if ours else model(input_ids=tokens, pixel_values=pictures).logits_per_image
        return torch.as_tensor(given)
    if hasattr(theirs, "patch_size"):
        pictures = torch.randn(2, theirs.num_channels, theirs.image_size, theirs.image_size)
        return model(pictures) if ours else output(model(pictures))
    if hasattr(theirs, "conv_dim"):
        samples = torch.randn(2, 3000)
        return model(samples) if ours else output(model(samples))
    if hasattr(theirs, "num_mel_bins"):
        frames = torch.randn(2, 2 * theirs.max_source_positions, theirs.num_mel_bins)
        return model(frames, target) if ours else output(model(input_features=frames.mT, decoder_input_ids=target))
    if theirs.is_encoder_decoder and ours is None:
        return output(model(input_ids=tokens, decoder_input_ids=target))
    if ours is not None and ours.shape == "encoder-decoder":  # a file that names no head is a model without one
        return model(tokens, target) if theirs.architectures else model.states(tokens, target)
    return model(tokens) if ours else output(model(tokens))
