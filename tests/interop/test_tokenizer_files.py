"""A tokenizer.json from elsewhere: what could end the process is refused, and what is merely large is not."""

import json

import pytest
import tokenizers
from tokenizers import models, pre_tokenizers

from clearformer.interop import tokenizer_files
from clearformer.interop.tokenizer_files import checked, from_definition
from interop.folders import edit_json, wordpiece


def file_of(engine, folder):
    engine.save(str(folder / "tokenizer.json"))
    return folder / "tokenizer.json"


def test_a_good_file_cuts_as_the_library_does(tmp_path):
    found = from_definition(file_of(wordpiece(), tmp_path), "bert", {})
    assert found.encode("two dogs").ids == tuple(wordpiece().encode("two dogs").ids)


def test_a_large_vocabulary_is_no_fault(tmp_path):
    """A quarter of a million pieces, as in the multilingual models."""
    pieces = [(f"▁{number:x}", -float(number % 17)) for number in range(250_000)]
    engine = tokenizers.Tokenizer(models.Unigram([("<unk>", 0.0), *pieces], unk_id=0))
    engine.pre_tokenizer = pre_tokenizers.Metaspace()
    kind, _ = checked(file_of(engine, tmp_path))
    assert kind == "unigram"


@pytest.mark.timeout(60)
def test_a_file_that_takes_gigabytes_is_refused_and_the_process_lives(tmp_path, monkeypatch):
    """With the checks of what the file says left out, the bounded process is what stands between it and us."""
    monkeypatch.setattr(tokenizer_files, "_check_growth", lambda definition: None)
    one = {"type": "Replace", "pattern": {"String": "z"}, "content": "z" * 10}
    path = file_of(wordpiece(), tmp_path)
    edit_json(path, lambda plain: plain.update(normalizer={"type": "Sequence", "normalizers": [one] * 10}))
    with pytest.raises(ValueError, match=r"tokenizer\.json cannot be used: it takes more memory or time"):
        checked(path)


@pytest.mark.timeout(60)
def test_a_file_that_takes_forever_is_refused(tmp_path, monkeypatch):
    sleeper = tmp_path / "sleeper.py"
    sleeper.write_text("import time\ntime.sleep(1000)\n")
    monkeypatch.setattr(tokenizer_files, "PROGRAM", sleeper)
    monkeypatch.setattr(tokenizer_files, "_SECONDS", 1)
    with pytest.raises(ValueError, match="takes longer than a vocabulary of its size"):
        checked(file_of(wordpiece(), tmp_path))


def replace(pattern, content):
    return {"type": "Replace", "pattern": pattern, "content": content}


@pytest.mark.parametrize(
    ("steps", "fine"),
    [
        ([replace({"String": " "}, "▁"), replace({"Regex": " {2,}"}, " ")], True),
        ([replace({"String": "``"}, '"')] * 20, True),
        ([replace({"Regex": "[xy]"}, "xxxx")] * 6, False),
        ([replace({"String": "z"}, "z" * 2000)], False),
        ([{"type": "Prepend", "prepend": "z" * 100}, replace({"String": "z"}, "z" * 100)], False),
    ],
)
def test_growth_is_what_all_replacements_make_together(steps, fine, tmp_path):
    path = file_of(wordpiece(), tmp_path)
    edit_json(path, lambda plain: plain.update(normalizer={"type": "Sequence", "normalizers": steps}))
    if fine:
        checked(path)
    else:
        with pytest.raises(ValueError, match="times as long"):
            checked(path)


def test_padding_and_truncation_are_the_caller_s(tmp_path):
    engine = wordpiece()
    engine.enable_padding(length=50)
    engine.enable_truncation(3)
    _, spelt = checked(file_of(engine, tmp_path))
    assert json.loads(spelt)["padding"] is json.loads(spelt)["truncation"] is None
