"""What a tagger learns from: parts that do not overlap, and text without tags split as in use."""

from dataclasses import replace

from clearformer.tasks.tagged_data import TaggedData, labels_in, split, unlabelled


def conll(tmp_path, rows=20):
    sentences = [f"word{n}\tO\nAda\tB-PER\n\n" if n % 2 else f"word{n}\tO\n\n" for n in range(rows)]
    (tmp_path / "train.conll").write_text("".join(sentences))
    return TaggedData(train="train.conll", hold_out=0.2)


def test_sentences_are_held_out_where_there_is_no_dev(tmp_path):
    train, dev = split(conll(tmp_path), tmp_path)
    assert (len(train), len(dev)) == (16, 4)
    assert {one.words for one in train} & {one.words for one in dev} == set()
    assert labels_in(train) == ("O", "B-PER", "I-PER")


def test_text_without_tags_is_split_as_in_use(tmp_path):
    data = replace(conll(tmp_path), unlabelled="more.txt")
    (tmp_path / "more.txt").write_text("Ada lived there.\n\nAnd so on\n")
    assert list(unlabelled(data, tmp_path)) == [("Ada", "lived", "there", "."), ("And", "so", "on")]
    (tmp_path / "more.txt").write_text("艾达\n")
    assert list(unlabelled(replace(data, words="characters"), tmp_path)) == [("艾", "达")]
    tagged = replace(data, unlabelled="train.conll")
    assert next(unlabelled(tagged, tmp_path)) == ("word0",)
