"""The vocabulary of labels beside the published tokenizer: the same ids, the same text, there and back."""

import json

import pytest
import transformers as hf

from clearformer.interop.frame_label_vocabulary import FILE, read, write
from clearformer.text.train_tokenizer import TokenizerConfig, train_from

PIECES = ["<pad>", "<s>", "</s>", "<unk>", "|", "E", "T", "A", "'", "Ü", "我"]


def folder_with(folder, pieces=PIECES, **told):
    numbered = pieces if isinstance(pieces, dict) else {piece: number for number, piece in enumerate(pieces)}
    (folder / FILE).write_text(json.dumps(numbered))
    (folder / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "Wav2Vec2CTCTokenizer", **told}))
    return folder


def opened(folder, rows=11):
    return read(folder, rows, json.loads((folder / "tokenizer_config.json").read_text()))[0]


def test_ids_and_text_are_the_published_ones(tmp_path):
    mine = opened(folder_with(tmp_path))
    theirs = hf.Wav2Vec2CTCTokenizer.from_pretrained(tmp_path)
    for text in ("TEA AT", "ÜT'A", "我 E", "Q", "A  E", ""):
        assert list(mine.encode(text).ids) == theirs(text)["input_ids"], text
    ids = [6, 5, 7, 4, 7, 6, 4]
    assert mine.decode(ids).strip() == theirs.decode(ids, group_tokens=False) == "TEA AT"
    assert mine.pad_id == 0


def test_missing_marks_are_numbered_as_the_published_program_does(tmp_path):
    folder = folder_with(tmp_path, ["[PAD]", "[UNK]", "|", "E"], pad_token="[PAD]", unk_token="[UNK]")
    theirs = hf.Wav2Vec2CTCTokenizer.from_pretrained(folder)
    mine = opened(folder, rows=6)
    assert (mine.bos_id, mine.eos_id) == (theirs.bos_token_id, theirs.eos_token_id) == (4, 5)
    fewer = opened(folder, rows=4)  # the published model has no row for them, so they are never written
    assert (fewer.vocab_size, fewer.special.bos, fewer.pad_id) == (4, None, 0)


def test_there_and_back(tmp_path):
    mine = opened(folder_with(tmp_path))
    (tmp_path / "back").mkdir()
    write(tmp_path / "back", mine)
    assert opened(tmp_path / "back") == mine
    theirs = hf.AutoTokenizer.from_pretrained(tmp_path / "back")
    assert theirs("TEA AT")["input_ids"] == list(mine.encode("TEA AT").ids)


def test_a_vocabulary_learned_here_is_written_too(tmp_path):
    learned = train_from(TokenizerConfig(kind="character", min_frequency=1), ["ein bus", "zwei busse"])
    write(tmp_path, learned)
    theirs = hf.AutoTokenizer.from_pretrained(tmp_path)
    ids = learned.encode("zwei busse", add_special=False).ids
    assert theirs("zwei busse")["input_ids"] == list(ids)
    assert theirs.decode(ids, group_tokens=False) == "zwei busse"
    assert theirs.pad_token_id == learned.pad_id


def test_no_file_or_another_program_is_said(tmp_path):
    assert read(tmp_path, 3, {}) == (None, ("the folder has no vocabulary, so the model labels frames with numbers",))
    folder_with(tmp_path)
    found, [note] = read(tmp_path, 11, {"tokenizer_class": "Wav2Vec2PhonemeCTCTokenizer"})
    assert found is None
    assert "Wav2Vec2PhonemeCTCTokenizer writes in its own way" in note


@pytest.mark.parametrize(
    ("pieces", "rows", "told", "message"),
    [
        (["|", "E"], 2, {}, "has no piece '<pad>', which stands for nothing"),
        ({"<pad>": 0, "A": 1, "B": 1}, 2, {}, "gives two pieces the same number"),
        ({"<pad>": 0, "A": "1"}, 2, {}, "'A' must have a whole number, not '1'"),
        ({"eng": {"<pad>": 0}}, 2, {}, "a vocabulary for each of several languages"),
        (PIECES, 11, {"do_lower_case": True}, "do_lower_case writes other letters"),
        (PIECES, 13, {}, "does not say what label 11 means, and the model has 13"),
    ],
)
def test_what_cannot_be_honoured_is_refused(pieces, rows, told, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        opened(folder_with(tmp_path, pieces, **told), rows)
