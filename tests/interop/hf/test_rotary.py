"""Rotary positions and windows as config.json spells them, old and new."""

import pytest
import transformers as hf

from clearformer.interop.config_keys import Keys
from clearformer.interop.hf.llama import read_config
from clearformer.interop.hf.rotary import LayerWindows, layer_types
from interop.references import LLAMA, check, reference

THREE = {"factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 8}


def read(**more):
    return read_config(Keys({**LLAMA, "model_type": "llama", **more}))


def test_llama3_scaling_agrees(tmp_path):
    """With a trained length of eight, all three ranges of frequencies occur."""
    rope = {"rope_type": "llama3", "rope_theta": 100.0, **THREE}
    check(reference("LlamaForCausalLM", hf.LlamaConfig(**LLAMA, head_dim=16, rope_parameters=rope)), tmp_path)


def test_old_and_new_files_say_the_same():
    old = read(rope_theta=500.0, rope_scaling={"rope_type": "llama3", **THREE})
    new = read(rope_parameters={"rope_theta": 500.0, "rope_type": "llama3", **THREE})
    assert old.position == new.position
    assert (new.position.scaling, new.position.trained, new.position.high) == ("llama3", 8, 4.0)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"low_freq_factor": 4.0}, "a low_freq_factor below its high_freq_factor"),
        ({"original_max_position_embeddings": None}, "as a whole number, not 1, 4 and None"),
        ({"factor": 0}, "the factor of a llama3 scaling of the rotary angles must be above 0"),
        ({"beta_fast": 32}, r"of the kind 'llama3' \(beta_fast\) are not supported"),
    ],
)
def test_a_scaling_that_is_not_whole_is_refused(change, sentence):
    with pytest.raises(ValueError, match=sentence):
        read(rope_scaling={"rope_type": "llama3", **THREE, **change})


def test_windows_by_layer():
    keys = Keys({"layer_types": ["sliding_attention", "full_attention", "sliding_attention"]})
    windows = LayerWindows.read(keys, 3, width=5, sliding={})
    assert windows == LayerWindows(4, (1,))
    assert layer_types(windows.back, windows.wide, 3) == keys.plain["layer_types"]
    assert LayerWindows.read(Keys({}), 2, width=5, sliding={0: False, 1: False}) == LayerWindows(None, ())
    with pytest.raises(ValueError, match="layer_types must name full_attention or sliding_attention for each layer"):
        LayerWindows.read(Keys({"layer_types": ["chunked_attention"]}), 1, width=5, sliding={})
    with pytest.raises(ValueError, match="sliding_window does not say how wide"):
        LayerWindows.read(keys, 3, width=None, sliding={})
