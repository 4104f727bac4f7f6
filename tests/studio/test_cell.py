"""The operands of a cell, put together again in Python: they give the model's numbers."""

import base64
import math

import numpy as np
import pytest
import torch

from clearformer.studio.cell import cell


def unpack(packed):
    return np.frombuffer(base64.b64decode(packed["f32"]), "<f4").astype(np.float64).reshape(packed["shape"])


def some_cells(handlers, count=6):
    look = handlers.shown_model.look("two dogs play in the snow", (7, 9, 11))
    generator = np.random.default_rng(3)
    for layer in handlers.layers.values():
        shape = handlers.weights(look, layer).shape
        for _ in range(count):
            head, query, key = (int(generator.integers(size)) for size in shape)
            feature = int(generator.integers(handlers.shown_model.config.dim))
            yield look, layer, cell(handlers.traces, look, layer, head=head, query=query, key=key, feature=feature)


def test_scores_softmax_and_gathered_values(handlers):
    for look, layer, found in some_cells(handlers):
        scores = unpack(found["k"]) @ unpack(found["q"]) * found["scale"]
        if found["bias"] is not None:
            scores = scores + unpack(found["bias"])
        scores[found["hidden"]] = -math.inf
        weights = np.exp(scores - scores.max())
        weights /= weights.sum()
        traced = handlers.weights(look, layer)[found["head"], found["query"]].numpy()
        assert np.allclose(weights, traced, atol=1e-5)
        assert np.allclose(weights @ unpack(found["v"]), unpack(found["gathered"]), atol=1e-5)


def test_output_residual_and_norm(handlers):
    for _, _, found in some_cells(handlers):
        feature, norm = found["feature"], found["norm"]
        output = unpack(found["concat"]) @ unpack(found["out_weight"]) + (found["out_bias"] or 0)
        assert output == pytest.approx(unpack(found["output"])[feature], abs=1e-5)
        assert unpack(found["input"])[feature] + output == pytest.approx(unpack(found["sum"])[feature], abs=1e-5)
        x = unpack(norm["of"])
        if norm["kind"] == "rms":
            normed = x[feature] / math.sqrt((x**2).mean() + norm["eps"]) * norm["gain"]
        else:
            mean = norm.get("mean", x.mean())
            variance = norm.get("variance", x.var())
            normed = (x[feature] - mean) / math.sqrt(variance + norm["eps"]) * norm["gain"] + norm["shift"]
        assert normed == pytest.approx(unpack(norm["result"])[feature], abs=1e-5)


def test_rotated_vectors_come_from_the_unrotated_ones(all_handlers):
    for _, _, found in some_cells(all_handlers["llama"]):
        turn = found["rotation"]
        assert turn["pairs"] == "halves"
        for raw, row, turned in ((turn["q"], 0, unpack(found["q"])), (turn["k"], 1, unpack(found["k"])[found["key"]])):
            first, second = np.split(unpack(raw), 2)
            cos, sin = unpack(turn["cos"])[row], unpack(turn["sin"])[row]
            assert np.allclose(
                np.concatenate([first * cos - second * sin, first * sin + second * cos]), turned, atol=1e-5
            )


def test_the_future_is_hidden_in_a_masked_layer(all_handlers):
    handlers = all_handlers["llama"]
    look = handlers.shown_model.look("two dogs play", ())
    layer = next(iter(handlers.layers.values()))
    found = cell(handlers.traces, look, layer, head=0, query=1, key=0, feature=0)
    assert found["hidden"] == list(range(2, len(look.source)))


def test_cells_that_do_not_exist_are_refused(all_handlers):
    handlers = all_handlers["transformer"]
    look = handlers.shown_model.look("two dogs", ())
    layer = next(iter(handlers.layers.values()))
    place = {"head": 0, "query": 0, "key": 0, "feature": 0}
    for name in place:
        with pytest.raises(ValueError, match=f"{name} 99 does not exist"):
            cell(handlers.traces, look, layer, **{**place, name: 99})


def test_grouped_heads_share_their_keys(all_handlers):
    handlers = all_handlers["llama"]
    look = handlers.shown_model.look("two dogs", ())
    layer = next(iter(handlers.layers.values()))
    keys = [
        torch.tensor(unpack(cell(handlers.traces, look, layer, head=head, query=1, key=0, feature=0)["k"]))
        for head in range(4)
    ]
    assert torch.equal(keys[0], keys[1])
    assert not torch.equal(keys[1], keys[2])
