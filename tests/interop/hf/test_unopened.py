"""What people ask for and is not opened is refused by its name, with the reason, before a weight is read."""

import json

import pytest
import transformers as hf

from clearformer.interop.hf.model_types import FAMILIES
from clearformer.interop.hf.unopened import UNOPENED
from clearformer.interop.importer import read_checkpoint


@pytest.mark.parametrize("word", UNOPENED)
def test_it_is_a_published_family_and_the_refusal_says_why(word, tmp_path):
    assert word in hf.CONFIG_MAPPING
    assert word not in FAMILIES
    (tmp_path / "config.json").write_text(json.dumps({"model_type": word}))
    with pytest.raises(ValueError, match=f"family {word} are not opened here: ") as refused:
        read_checkpoint(tmp_path)
    assert "\n" not in str(refused.value)
