"""CLIP's folder, key by key: two tables in one file, each said once or twice. Numbers: `parity/test_drawn_pairs.py`."""

import json

import pytest
import transformers as hf

from clearformer.interop.importer import read_hugging_face
from parity.drawn_pairs import drawn


@pytest.fixture
def folder(tmp_path):
    drawn("clip", 0).save_pretrained(tmp_path)
    return tmp_path


def altered(folder, **changes):
    plain = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(plain | changes))
    return plain


def test_what_a_table_leaves_out_is_assumed_by_its_name(folder):
    plain = altered(folder)
    table = {key: value for key, value in plain["text_config"].items() if key not in ("hidden_act", "layer_norm_eps")}
    altered(folder, text_config=table)
    found = read_hugging_face(folder)
    assert found.assumed["text_config.hidden_act"] == "quick_gelu"
    assert found.assumed["text_config.layer_norm_eps"] == 1e-5
    assert found.bundle.config.of_texts.activation == "quick-gelu"


def test_a_key_of_a_table_that_nobody_knows_is_refused_by_its_place(folder):
    plain = altered(folder)
    altered(folder, vision_config=plain["vision_config"] | {"windowed": True})
    with pytest.raises(ValueError, match=r"config\.json, vision_config has windowed"):
        read_hugging_face(folder)


def test_a_class_of_half_a_model_is_refused(folder):
    altered(folder, architectures=["CLIPForImageClassification"])
    with pytest.raises(ValueError, match="head for class, which is not supported"):
        read_hugging_face(folder)


def test_the_second_table_of_an_old_file_counts(folder):
    """With it, whatever it leaves out is the class's own default, not what the first table says."""
    plain = altered(folder)
    both = {**plain["text_config"], "layer_norm_eps": 0.25}
    altered(folder, text_config={**plain["text_config"], "eos_token_id": 2}, text_config_dict=both)
    found = read_hugging_face(folder).bundle.config.of_texts
    end = plain["text_config"]["eos_token_id"]
    assert (found.norm.eps, found.head.end) == (0.25, None if end == 2 else end)
    theirs = hf.CLIPConfig.from_pretrained(folder).text_config
    assert (theirs.layer_norm_eps, theirs.eos_token_id) == (0.25, end)
