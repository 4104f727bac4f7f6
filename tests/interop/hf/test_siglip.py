"""SigLIP's folder, key by key. Numbers: `parity/test_drawn_pairs.py`."""

import json

import pytest

from clearformer.interop.importer import read_hugging_face
from parity.drawn_pairs import drawn


@pytest.fixture
def folder(tmp_path):
    drawn("siglip", 0).save_pretrained(tmp_path)
    return tmp_path


def test_vectors_of_two_widths_are_refused(folder):
    """The published program opens such a model and fails when it compares."""
    plain = json.loads((folder / "config.json").read_text())
    table = plain["text_config"] | {"projection_size": plain["vision_config"]["hidden_size"] + 1}
    (folder / "config.json").write_text(json.dumps(plain | {"text_config": table}))
    with pytest.raises(ValueError, match="they cannot be compared"):
        read_hugging_face(folder)


def test_a_picture_that_is_not_summed_up_is_refused(folder):
    plain = json.loads((folder / "config.json").read_text())
    table = plain["vision_config"] | {"vision_use_head": False}
    (folder / "config.json").write_text(json.dumps(plain | {"vision_config": table}))
    with pytest.raises(ValueError, match="vision_use_head"):
        read_hugging_face(folder)


def test_rows_of_any_number_of_patches_are_refused_by_name(folder):
    plain = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(plain | {"model_type": "siglip2"}))
    with pytest.raises(ValueError, match="siglip2 are not opened here: it reads pictures of any shape"):
        read_hugging_face(folder)
