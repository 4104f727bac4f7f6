"""SentencePiece's files, read by us and cut by the tokenizers library, beside SentencePiece itself."""

import contextlib

import pytest
import sentencepiece

from clearformer.interop.sentencepiece import read_proto, unigram_or_bpe
from interop.spm import train
from interop.texts import mixed_texts


@pytest.mark.parametrize(
    "choices",
    [
        {"model_type": "unigram"},
        {"model_type": "unigram", "normalization_rule_name": "nmt_nfkc_cf"},
        {"model_type": "bpe", "byte_fallback": True, "vocab_size": 700, "normalization_rule_name": "identity",
         "remove_extra_whitespaces": False},
    ],
    ids=["unigram", "folded case", "as Llama has it"],
)  # fmt: skip
def test_the_same_ids(choices, tmp_path):
    path = tmp_path / "some.model"
    train(path, **choices)
    reference = sentencepiece.SentencePieceProcessor(model_file=str(path))
    engine = unigram_or_bpe(read_proto(path))
    differing = [text for text in mixed_texts() if engine.encode(text).ids != reference.encode(text)]
    assert not differing, f"{len(differing)} texts, such as {differing[0]!r}"


def test_every_piece_with_its_score(tmp_path):
    train(tmp_path / "some.model")
    proto = read_proto(tmp_path / "some.model")
    reference = sentencepiece.SentencePieceProcessor(model_file=str(tmp_path / "some.model"))
    assert [piece.text for piece in proto.pieces] == [reference.id_to_piece(n) for n in range(len(reference))]
    assert [piece.score for piece in proto.pieces] == [reference.get_score(n) for n in range(len(reference))]
    assert proto.unk == reference.unk_id()


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "no pieces"),
        (b"\x0a\xff\xff\xff\xff\x0f", "longer than the file"),
        (b"\x0a", "ends inside a number"),
        (b"\xff" * 12, "more than ten bytes"),
        (b"\x0b\x00", "unknown kind 3"),
        (b"\x0a\x03\x0a\x01\xff", "is not a SentencePiece model"),
        (b"\x0a\x03\x0a\x01a\x12\x02\x18\x04", "uses algorithm 4"),
    ],
)
def test_broken_files(data, message, tmp_path):
    path = tmp_path / "broken.model"
    path.write_bytes(data)
    with pytest.raises(ValueError, match=message):
        read_proto(path)


def test_a_file_cut_anywhere_is_refused_or_read_but_never_more(tmp_path):
    train(tmp_path / "some.model")
    data = (tmp_path / "some.model").read_bytes()
    path = tmp_path / "cut.model"
    whole = len(read_proto(tmp_path / "some.model").pieces)
    for end in range(1, len(data), len(data) // 40):
        path.write_bytes(data[:end])
        with contextlib.suppress(ValueError):  # a cut between two fields is a shorter file, not a broken one
            assert 1 <= len(read_proto(path).pieces) <= whole
