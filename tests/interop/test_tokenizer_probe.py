"""The probe as the program that it is: a good file passes in silence, a bad one gets a line, a greedy one ends."""

import json
import subprocess
import sys

from clearformer.interop import tokenizer_probe
from interop.folders import edit_json, wordpiece


def probe(path, texts=("two dogs",), memory=1 << 30, seconds=20):
    return subprocess.run(
        [sys.executable, tokenizer_probe.__file__, str(path), str(memory), str(seconds)],
        input="".join(json.dumps(text) + "\n" for text in texts),
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_good_file_passes_in_silence(tmp_path):
    wordpiece().save(str(tmp_path / "tokenizer.json"))
    done = probe(tmp_path / "tokenizer.json", ["two dogs", "玩\n🙂", ""])
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_file_that_the_library_does_not_take_is_said_in_a_line(tmp_path):
    (tmp_path / "tokenizer.json").write_text("{}")
    done = probe(tmp_path / "tokenizer.json")
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1


def test_memory_is_bounded(tmp_path):
    wordpiece().save(str(tmp_path / "tokenizer.json"))
    one = {"type": "Replace", "pattern": {"String": "z"}, "content": "z" * 100}
    bomb = {"type": "Sequence", "normalizers": [one] * 4}
    edit_json(tmp_path / "tokenizer.json", lambda plain: plain.update(normalizer=bomb))
    assert probe(tmp_path / "tokenizer.json", ["a"]).returncode == 0, "without the letter it is harmless"
    assert probe(tmp_path / "tokenizer.json", ["z"] * 3).returncode != 0
