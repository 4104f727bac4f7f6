"""The fast engine reads as PyTorch does: every encoder that it can express, every head, alone and in a batch."""

import numpy as np
import pytest
import torch

from clearformer.folder import bundle
from clearformer.foundation import storage
from clearformer.inference.ctranslate2_reader import CTranslate2Encoder
from clearformer.interop.to_ctranslate2 import convert
from support.toy_models import small
from support.toy_readers import ENCODERS, HEADS, SIZES, bert, reader, saved

generator = np.random.default_rng(4)
ROWS = [generator.integers(5, SIZES["vocab_size"], size).tolist() for size in (9, 2, 31, 1, 16)]


def engine_of(tmp_path, config=None, head=None, **choices):
    made = saved(tmp_path / "model", config, head)
    convert(tmp_path / "model", tmp_path / "fast", **choices)
    return made, CTranslate2Encoder(tmp_path / "fast")


def by_torch(made, row, types=None):
    kinds = {} if types is None else {"types": torch.tensor([types])}
    with torch.inference_mode():
        return made.model.encode(torch.tensor([row]), **kinds).states[0].numpy()


@pytest.mark.parametrize("name", ENCODERS)
def test_every_expressible_encoder_has_the_same_states(name, tmp_path):
    """Rows of different lengths in one batch, each compared with PyTorch's of the row alone."""
    made, engine = engine_of(tmp_path, ENCODERS[name])
    found = engine.states(ROWS)
    assert found.lengths.tolist() == [9, 2, 31, 1, 16]
    for row, states in zip(ROWS, found.states, strict=True):
        np.testing.assert_allclose(states[: len(row)], by_torch(made, row), atol=1e-4)


@pytest.mark.parametrize("name", ["bert", "scaled, with types", "roformer"])
def test_types_of_tokens_count(name, tmp_path):
    made, engine = engine_of(tmp_path, ENCODERS[name])
    types = [[place % 2 for place in range(len(row))] for row in ROWS]
    found = engine.states(ROWS, types).states
    for row, kinds, states in zip(ROWS, types, found, strict=True):
        np.testing.assert_allclose(states[: len(row)], by_torch(made, row, kinds), atol=1e-4)
    assert np.abs(found - engine.states(ROWS).states).max() > 0.01


@pytest.mark.parametrize("name", HEADS)
def test_every_head_says_alone_what_it_says_in_a_batch(name, tmp_path):
    made, engine = engine_of(tmp_path, head=HEADS[name])
    together = engine.run(ROWS)
    for row, among in zip(ROWS, together, strict=True):
        [alone] = engine.run([row])
        with torch.inference_mode():
            [expected] = made.model(torch.tensor([row])).numpy()
        np.testing.assert_allclose(alone, expected, atol=1e-4)
        np.testing.assert_allclose(among if among.ndim == 1 else among[: len(row)], alone, atol=1e-4)


def test_eight_bits_stay_near(tmp_path):
    made, engine = engine_of(tmp_path, bert(init_std=0.02), HEADS["tags"], quantization="int8")
    assert engine.quantization == "int8"
    for row, states in zip(ROWS, engine.states(ROWS).states, strict=True):
        expected = by_torch(made, row)
        cosine = (states[: len(row)] * expected).sum(-1)
        cosine /= np.linalg.norm(states[: len(row)], axis=-1) * np.linalg.norm(expected, axis=-1)
        assert cosine.min() > 0.99


@pytest.mark.parametrize(
    ("rows", "types", "reason"),
    [
        ([], None, "nothing to read in an empty row"),
        ([[5], []], None, "nothing to read in an empty row"),
        ([[5] * 65], None, "a row has 65 tokens, and the model reads 64; shorten it"),
        ([[5, -1]], None, r"-1 is outside this model's \d+ tokens"),
        ([[5, 10**6]], None, r"1000000 is outside this model's \d+ tokens"),
        ([[5, 6]], [[0]], "there must be a type for each token"),
        ([[5, 6]], [[0, 2]], r"2 is outside this model's 2 types \(0 to 1\)"),
    ],
)
def test_what_the_tables_have_no_row_for_is_refused(rows, types, reason, tmp_path):
    _, engine = engine_of(tmp_path)
    with pytest.raises(ValueError, match=reason):
        engine.run(rows, types)


def test_types_of_a_model_without_types_are_refused(tmp_path):
    _, engine = engine_of(tmp_path, ENCODERS["waves, no types"])
    with pytest.raises(ValueError, match="token types were given, but this model has none"):
        engine.run([[5]], [[0]])


def test_a_folder_of_another_kind_is_refused(tmp_path):
    bundle.save(reader(), tmp_path / "plain")
    with pytest.raises(ValueError, match="plain holds no weights for ctranslate2; convert it first"):
        CTranslate2Encoder(tmp_path / "plain")
    bundle.save(small(), tmp_path / "translator")
    convert(tmp_path / "translator", tmp_path / "fast")
    with pytest.raises(ValueError, match="fast holds a model that translates; use `clearformer translate`"):
        CTranslate2Encoder(tmp_path / "fast")


def test_a_damaged_head_is_never_used(tmp_path):
    engine_of(tmp_path, head=HEADS["tags"])
    path = tmp_path / "fast" / "head.safetensors"
    path.write_bytes(path.read_bytes()[:-4])
    with pytest.raises(storage.DamagedError, match=r"head\.safetensors is damaged"):
        CTranslate2Encoder(tmp_path / "fast")
