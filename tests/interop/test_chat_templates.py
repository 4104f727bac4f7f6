"""A published model's chat template travels: found in any of its files, kept in the folder, written by an export."""

import json

import pytest

from clearformer.folder import bundle
from clearformer.interop import to_hugging_face
from clearformer.interop.chat_templates import find_template, kept_template
from clearformer.interop.importer import import_checkpoint
from clearformer.text.special import SpecialTokens
from interop.folders import gpt2_folder

TEMPLATE = "{% for m in messages %}<{{ m.role }}>{{ m.content }}{{ eos_token }}{% endfor %}"
OTHER = "{{ messages[0].content }}"


@pytest.mark.parametrize(
    "config",
    [
        {"chat_template": TEMPLATE},
        {"chat_template": [{"name": "tool_use", "template": OTHER}, {"name": "default", "template": TEMPLATE}]},
    ],
)
def test_a_template_is_a_key_of_the_tokenizer_s_configuration(tmp_path, config):
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(config))
    assert find_template(tmp_path) == TEMPLATE


def test_a_file_of_its_own_comes_first(tmp_path):
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"chat_template": OTHER}))
    (tmp_path / "chat_template.jinja").write_text(TEMPLATE)
    assert find_template(tmp_path) == TEMPLATE


@pytest.mark.parametrize("config", [{}, {"chat_template": 5}, {"chat_template": [5]}, {"chat_template": None}])
def test_without_one_there_is_none(tmp_path, config):
    assert find_template(tmp_path) is None
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(config))
    assert find_template(tmp_path) is None


def test_what_is_not_understood_is_kept_and_said():
    special = SpecialTokens(eos="</s>")
    assert kept_template(TEMPLATE, special) == (TEMPLATE, ())
    assert kept_template(None, special) == kept_template("  ", special) == (None, ())
    kept, [note] = kept_template("{% macro f() %}{% endmacro %}", special)
    assert kept is not None
    assert "it will not converse" in note
    assert "'macro'" in note
    assert kept_template("a" * 300_000, special)[0] is None


def test_the_template_survives_import_and_export(tmp_path):
    gpt2_folder(tmp_path / "published")
    (tmp_path / "published" / "chat_template.jinja").write_text(TEMPLATE)
    import_checkpoint(tmp_path / "published", tmp_path / "ours")
    assert bundle.load(tmp_path / "ours").preprocessing.chat_template == TEMPLATE
    to_hugging_face.export(tmp_path / "ours", tmp_path / "theirs")
    assert find_template(tmp_path / "theirs") == TEMPLATE
    import_checkpoint(tmp_path / "theirs", tmp_path / "again")
    assert bundle.load(tmp_path / "again").preprocessing.chat_template == TEMPLATE
