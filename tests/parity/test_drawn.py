"""Every family at random places of its configuration space: the published program's numbers, or a refusal.

A few are drawn in every run, several thousand in a soak. `python -m pytest -m soak tests/parity/test_drawn.py`.
"""

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from clearformer.interop.importer import read_hugging_face
from interop.references import PAD, VOCAB, output
from parity.drawn import FAMILIES, drawn
from support.altered_configs import changes, verdict

USUAL, SOAK = 2, 14  # models of each family
ALTERED = 8  # keys that are changed in every run, in one model of each family
STRAY = {
    "sliding_window": 3, "rope_theta": 123.0, "head_dim": 4, "partial_rotary_factor": 0.5, "hidden_act": "relu",
    "attention_bias": True, "mlp_bias": True, "num_key_value_heads": 1, "layer_types": ["sliding_attention"],
    "rope_scaling": {"rope_type": "linear", "factor": 3.0}, "final_logit_softcapping": 2.0, "use_qk_norm": True,
    "attn_logit_softcapping": 2.0, "query_pre_attn_scalar": 5, "embedding_multiplier": 2.0, "logit_scale": 0.5,
    "residual_multiplier": 0.5, "attention_multiplier": 0.5, "hidden_dropout": 0.3, "attention_dropout": 0.2,
    "qk_layernorm": True, "use_parallel_residual": False, "no_rope_layers": [0], "rotary_pct": 0.5,
    "rotary_emb_base": 300, "sliding_window_pattern": 2, "rope_local_base_freq": 77.0, "hidden_activation": "silu",
}  # fmt: skip


@pytest.mark.parametrize("number", range(USUAL))
@pytest.mark.parametrize("family", FAMILIES)
def test_a_drawn_model_agrees(family, number, tmp_path):
    assert (problem := disagreement(drawn(family, number), tmp_path)) is None, problem


@pytest.mark.parametrize("family", FAMILIES)
def test_an_altered_key_of_a_drawn_model(family, tmp_path):
    theirs = drawn(family, 0)
    theirs.save_pretrained(tmp_path)
    plain = json.loads((tmp_path / "config.json").read_text())
    every = list(alterations(plain))
    for name, altered, without in random.Random(family).sample(every, ALTERED):
        assert (problem := verdict(tmp_path, altered, without)) is None, f"{family}, {name}: {problem}"


@pytest.mark.soak
@pytest.mark.parametrize("number", range(USUAL, SOAK))
@pytest.mark.parametrize("family", FAMILIES)
def test_many_drawn_models_and_every_key(family, number, tmp_path):
    theirs = drawn(family, number)
    wrong = [] if (problem := disagreement(theirs, tmp_path)) is None else [problem]
    plain = json.loads((tmp_path / "config.json").read_text())
    for name, altered, without in alterations(plain):
        if problem := verdict(tmp_path, altered, without):
            wrong.append(f"{name}: {problem}")
    assert not wrong, "\n".join([f"{family} {number}", *wrong])


def alterations(plain: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any], dict[str, Any] | None]]:
    """Each key deleted, changed, and put in where it was not; with the file without it."""
    for key in plain:
        if key in ("model_type", "architectures", "id2label", "label2id", "transformers_version", "dtype"):
            continue
        without = {name: value for name, value in plain.items() if name != key}
        yield f"{key} deleted", without, None
        for value in changes(plain[key]):
            yield f"{key} = {value!r}", plain | {key: value}, without
        if isinstance(plain[key], dict):
            for inner, value in plain[key].items():
                for other in (None, *changes(value)):
                    less = {name: one for name, one in plain[key].items() if name != inner}
                    table = less if other is None else less | {inner: other}
                    yield f"{key}.{inner} = {other!r}", plain | {key: table}, None
    for key, value in STRAY.items():
        if key not in plain:
            yield f"{key} = {value!r} added", plain | {key: value}, plain


@torch.no_grad()
def disagreement(theirs: Any, folder: Path) -> str | None:
    """Save, import and compare: padding to the right and to the left, and token by token with a cache."""
    theirs.save_pretrained(folder)
    try:
        found = read_hugging_face(folder).bundle
    except ValueError as error:
        return f"refused: {error}"
    mine, longest = found.model.eval(), 14
    tokens = torch.randint(3, VOCAB, (3, longest), generator=torch.Generator().manual_seed(1))
    one = found.config.head.kind == "class"  # read off the first slot by the published code, even if it is padding
    for side in ("right",) if one else ("right", "left"):
        keep = torch.arange(longest) < torch.tensor([[longest], [longest // 2], [1]])
        keep = keep.flip(1) if side == "left" else keep
        filled = tokens.masked_fill(~keep, PAD)
        places = (keep.long().cumsum(1) - 1).clamp(min=0)
        extra = {} if theirs.config.model_type == "bloom" else {"position_ids": places}
        expected = output(theirs(filled, attention_mask=keep.long(), **extra))
        actual = mine(filled, keep=keep)
        if (gap := apart(actual, expected) if one else apart(actual[keep], expected[keep])) is not None:
            return f"padding to the {side}: {gap}"
    if found.config.shape == "encoder":
        return None
    cache = mine.start_cache()
    parts = [mine(tokens[:, [place]], cache=cache) for place in range(longest)]
    gap = apart(torch.cat(parts, dim=1), output(theirs(tokens)))
    return None if gap is None else f"with a cache: {gap}"


def apart(mine: Tensor, theirs: Tensor) -> str | None:
    """How far two results are apart, relative to the largest number, if it is too far."""
    if mine.shape != theirs.shape:
        return f"shape {tuple(mine.shape)}, not {tuple(theirs.shape)}"
    gap = float((mine - theirs).abs().max() / theirs.abs().max())
    return None if gap < 1e-4 else f"{gap:.1e} of the largest number"
