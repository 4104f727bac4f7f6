"""The tables of defaults of the two halves of a pair are the published ones."""

import dataclasses

import pytest
import transformers as hf

from clearformer.interop.hf.pair_defaults import HALF_DEFAULTS, PAIR_DEFAULTS

ENTRIES = [(name, key) for table in (HALF_DEFAULTS, PAIR_DEFAULTS) for name in table for key in table[name]]


@pytest.mark.parametrize(("name", "key"), ENTRIES, ids=[f"{name}-{key}" for name, key in ENTRIES])
def test_an_entry_is_what_the_published_class_has(name, key):
    declared = {field.name: field.default for field in dataclasses.fields(hf.CONFIG_MAPPING[name])}
    assert declared[key] == PAIR_DEFAULTS.get(name, HALF_DEFAULTS.get(name))[key]
