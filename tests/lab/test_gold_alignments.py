"""Gold alignments as they are on disk."""

import pytest

from clearformer.lab.experiment import DataNeededError
from clearformer.lab.gold_alignments import chinese_english, german_english


def test_each_file_in_its_own_counting(tmp_path, monkeypatch):
    monkeypatch.setenv("CLEARFORMER_DATA", str(tmp_path))
    files = {
        "de-en/test.de": "\ufeffguten tag !\n",
        "de-en/test.en": "hello !\n",
        "de-en/de-en.wa": "0-0 1-0 2-1\n",
        "zh-en/src-tgt": "你 好 ||| hello there\n",
        "zh-en/gold": "1-1 2p2\n",
        "zh-en/awesome-align": "1-0\n",
    }
    for name, text in files.items():
        path = tmp_path / "alignment" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    [german] = german_english()
    assert (german.source, german.target) == (["hello", "!"], ["guten", "tag", "!"])
    assert german.links == {(0, 0), (0, 1), (1, 2)}  # English first
    [chinese] = chinese_english()
    assert (chinese.links, chinese.possible, chinese.others) == ({(0, 0)}, {(1, 1)}, {(1, 0)})


def test_without_the_data_it_says_what_is_needed(monkeypatch, tmp_path):
    monkeypatch.setenv("CLEARFORMER_DATA", str(tmp_path))
    with pytest.raises(DataNeededError, match=r"alignment/de-en; set CLEARFORMER_DATA"):
        german_english()
