"""The table of published defaults is the published one."""

import dataclasses
from typing import Any

import pytest
import transformers as hf

from clearformer.interop.config_keys import Keys
from clearformer.interop.hf.defaults import DEFAULTS
from clearformer.interop.hf.model_types import FAMILIES
from interop.references import LLAMA

PUBLISHED = [name for name in DEFAULTS if name != "transfo-xl"]  # whose class has left the library
ENTRIES = [(name, key) for name in PUBLISHED for key in DEFAULTS[name]]
_BASES = {  # those that have one for each kind of layer
    "gemma3_text": {"rope_theta": "global", "rope_local_base_freq": "local"},
    "modernbert": {"global_rope_theta": "global", "local_rope_theta": "local"},
}
ELSEWHERE = {"rope_theta": "default_theta"}  # keys that the class keeps under another name


def test_every_model_type_has_a_table():
    assert DEFAULTS.keys() == FAMILIES.keys()


@pytest.mark.parametrize(("name", "key"), ENTRIES, ids=[f"{name}-{key}" for name, key in ENTRIES])
def test_an_entry_is_what_the_published_class_has(name, key):
    kind: Any = hf.CONFIG_MAPPING[name]
    declared = {field.name: field.default for field in dataclasses.fields(kind)}
    value = declared[key] if key in declared else getattr(kind(), ELSEWHERE.get(key, key), False)
    if key in _BASES.get(name, {}):
        value = kind.default_theta[_BASES[name][key]]
    if (name, key) == ("gpt_neox", "partial_rotary_factor"):
        value = kind().rope_parameters[key]
    assert value == DEFAULTS[name][key]


def test_a_mistral_file_without_a_window_has_the_published_one():
    """4,096 tokens are more than the test of every key reads, so it cannot see this one."""
    plain = {**LLAMA, "num_key_value_heads": 4, "model_type": "mistral", "architectures": ["MistralForCausalLM"]}
    read = FAMILIES["mistral"].read_config
    assert read(Keys(plain)).attention.window == 4095
    assert read(Keys(plain | {"sliding_window": None})).attention.window is None
    assert read(Keys(plain | {"sliding_window": 7})).attention.window == 6


def test_no_key_of_a_transformer_xl_that_changes_it_may_be_missing():
    """Without cutoffs, div_val or same_length it is the model of the paper, which is not built here."""
    absent = {"model_type": "transfo-xl", "architectures": ["TransfoXLLMHeadModel"], "d_model": 8}
    with pytest.raises(ValueError, match=r"cutoffs is not there, for which the published code takes \[20000"):
        FAMILIES["transfo-xl"].read_config(Keys(absent))


def test_the_family_that_the_caller_names_decides_the_defaults():
    plain = {**LLAMA, "num_key_value_heads": 4, "architectures": ["MistralForCausalLM"]}
    assert FAMILIES["mistral"].read_config(Keys(plain, model_type="mistral")).attention.window == 4095
