"""Tags of words: from a CoNLL file to a tagger that finds names, in words and in characters."""

import random

import numpy as np
import pytest
import torch

import clearformer as cf
from clearformer.data.collate import UNTAGGED
from clearformer.data.entity_tags import to_bio
from clearformer.data.readers.conll import TaggedSentence
from clearformer.inference.word_tagger import Tagger
from clearformer.run.evaluation import evaluate
from clearformer.run.recipe import parse_recipe
from clearformer.run.train import Interrupted, train
from clearformer.tasks import word_tags
from clearformer.tasks.word_tags import TaggedData, TagObjective
from run.assembled import assemble
from support.every_kind import TEXTS, make
from support.stopping import StopsAt

NAMES = {"PER": ("Ada Lovelace", "Alan", "Grace Hopper"), "LOC": ("Paris", "New York", "Rome")}
WORDS = ("saw", "in", "the", "met", "and", "to", "near", "with", ",", "'s", ".")
ZH_NAMES = {"PER": ("王小明", "李华"), "LOC": ("北京", "上海市")}
ZH_WORDS = tuple("我在的人说去看了")


def write_conll(path, sentences, seed=1, *, names=NAMES, words=WORDS, apart=str.split):
    """Names of people and places between other words."""
    draw = random.Random(seed)
    lines = []
    for _ in range(sentences):
        for kind in draw.choices(list(names), k=2):
            lines += [f"{word}\tO" for word in draw.choices(words, k=draw.randint(1, 4))]
            first, *rest = apart(draw.choice(names[kind]))
            lines += [f"{first}\tB-{kind}", *(f"{word}\tI-{kind}" for word in rest)]
        lines.append("")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def recipe(changes=None):
    plain = {
        "task": "tagging",
        "data": {"train": "train.conll", "max_length": 24, "vocabulary": {"kind": "wordpiece", "vocab_size": 300}},
        "model": {
            "family": "bert", "dim": 32, "hidden_dim": 64, "layers": 1, "max_len": 24, "attention": {"heads": 2},
            "dropout": {"embedding": 0.1, "residual": 0.1},
        },
        "training": {
            "steps": 60, "save_every": 20, "validate_every": 20, "log_every": 10, "batch_tokens": 400,
            "schedule": {"kind": "cosine", "peak": 0.01, "warmup": 0.1},
        },
    }  # fmt: skip
    for key, value in (changes or {}).items():
        section, name = key.split(".")
        plain[section][name] = value
    return parse_recipe(plain, "test")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("names")
    write_conll(folder / "train.conll", 300)
    write_conll(folder / "test.conll", 60, seed=2)
    return folder


@pytest.fixture(scope="module")
def model(folder):
    return train(recipe(), folder / "run", base=folder)


@pytest.fixture(scope="module")
def tagger(model):
    return cf.load(model)


def test_names_are_learned_and_found_at_their_places(folder, model, tagger):
    scores = evaluate(model, [folder / "test.conll"])
    assert scores["f1"] > 0.95
    assert scores["f1_low"] <= scores["f1"] <= scores["f1_high"]
    assert scores["f1:PER"] > 0.9
    assert isinstance(tagger, Tagger)
    text = "  the Ada Lovelace met, in  New York's Alan."
    found = tagger.entities(text)
    assert [(one.text, one.kind) for one in found] == [("Ada Lovelace", "PER"), ("New York", "LOC"), ("Alan", "PER")]
    for one in found:
        assert text[one.start : one.end] == one.text
        assert 0.0 < one.probability <= 1.0


def test_alone_and_in_company_a_sentence_has_the_same_tags(tagger):
    sentences = [["Alan"], ["the", "Ada", "Lovelace", "met", "New", "York"], ["in", "unheard", "of"], []]
    together = tagger.tag_words(sentences)
    assert together == [tagger.tag_words([one])[0] for one in sentences] == tagger.tag_words(sentences, batch=2)
    assert [len(tags) for tags in together] == [1, 6, 3, 0]


def test_tags_are_legal_whatever_the_network_says(folder):
    made = assemble(recipe(), folder).made  # untrained
    torch.nn.init.normal_(made.model.head.classify.weight, std=3.0)
    tagger = Tagger(made)
    draw = random.Random(3)
    sentences = [draw.choices([*WORDS, "Ada", "Rome", "New"], k=draw.randint(1, 15)) for _ in range(50)]
    found = tagger.tag_words(sentences)
    assert len({tag for tags in found for tag in tags}) > 2
    assert all(to_bio(tags) == (tags, []) for tags in found)


def test_tags_of_a_text_are_those_of_its_words(tagger):
    text = "the Ada Lovelace met, near Rome."
    tags = tagger.tag(text)
    assert [tag.word for tag in tags] == ["the", "Ada", "Lovelace", "met", ",", "near", "Rome", "."]
    assert all(text[tag.start : tag.end] == tag.word for tag in tags)
    assert [tag.label for tag in tags] == tagger.tag_words([[tag.word for tag in tags]])[0]
    assert tagger.tag(" ") == tagger.entities("") == []


def test_a_long_text_is_read_in_windows(tagger):
    sentence = "saw the Ada Lovelace and met in New York "
    text = sentence * 20
    found = tagger.entities(text)
    assert [(one.start, one.text) for one in found] == [
        (len(sentence) * number + sentence.index(name), name)
        for number in range(20)
        for name in ("Ada Lovelace", "New York")
    ]


def test_chinese_is_read_by_characters(tmp_path):
    write_conll(tmp_path / "train.conll", 300, names=ZH_NAMES, words=ZH_WORDS, apart=list)
    changes = {"data.vocabulary": {"kind": "character", "vocab_size": 400, "min_frequency": 1},
               "data.words": "characters"}  # fmt: skip
    tagger = cf.load(train(recipe(changes), tmp_path / "run", base=tmp_path))
    text = "我看了王小明在上海市说"
    assert [(one.text, one.kind, one.start) for one in tagger.entities(text)] == [
        ("王小明", "PER", 3), ("上海市", "LOC", 7),
    ]  # fmt: skip


def test_a_stopped_and_resumed_run_ends_with_the_same_bits(folder, tmp_path, monkeypatch):
    changes = {"data.word_dropout": 0.2}
    whole = train(recipe(changes), tmp_path / "whole", base=folder)
    monkeypatch.setattr("clearformer.run.train.Stop", lambda: StopsAt(27))
    with pytest.raises(Interrupted):
        train(recipe(changes), tmp_path / "parts", base=folder)
    monkeypatch.undo()
    parts = train(recipe(changes), tmp_path / "parts", base=folder, resume=True)
    assert (whole / "model.safetensors").read_bytes() == (parts / "model.safetensors").read_bytes()


def test_hidden_words_are_whole_and_a_function_of_the_seed(folder):
    made = assemble(recipe({"data.word_dropout": 0.5}), folder)
    collate = word_tags.collate(made.recipe.data, made.prepared.preprocessing)
    rows = [made.prepared.train[index] for index in range(20)]
    plain, once, again, other = (collate(rows, seed) for seed in ((), (1, 2), (1, 2), (1, 3)))
    assert torch.equal(once.ids, again.ids)
    assert not torch.equal(once.ids, other.ids)
    assert torch.equal(plain.tags, once.tags)
    changed = (plain.ids != once.ids).numpy()
    tokenizer = made.made.tokenizer
    assert set(once.ids[torch.from_numpy(changed)].tolist()) == {tokenizer.special_id("mask")}
    for ids, tags, hidden in zip(plain.ids.tolist(), plain.tags.numpy(), changed, strict=True):
        word = np.cumsum(tags != UNTAGGED)
        inner = ~np.isin(ids, list(tokenizer.special_ids.values()))
        assert not hidden[~inner].any()  # markers and padding stay
        for number in set(word[inner]):
            assert len(set(hidden[(word == number) & inner])) == 1  # all pieces of a word, or none


def test_the_loss_counts_first_pieces_alone(folder):
    made = assemble(recipe(), folder)
    rows = [made.prepared.train[index] for index in range(8)]
    batch = word_tags.collate(made.recipe.data, made.prepared.preprocessing)(rows, ())
    model = made.made.model.eval()
    wanted = torch.nn.functional.cross_entropy(
        model(batch.ids, keep=batch.keep).flatten(0, 1), batch.tags.flatten(), reduction="sum", ignore_index=UNTAGGED
    )
    found = word_tags.loss(model, batch, TagObjective())
    assert found.total.item() == pytest.approx(wanted.item(), rel=1e-5)
    assert found.count == sum(int((tags != UNTAGGED).sum()) for _, tags in rows)


def test_a_long_sentence_is_learned_from_in_parts_and_no_tag_is_lost(folder):
    made = assemble(recipe(), folder)
    tokenizer, labels = made.made.tokenizer, made.made.labels
    draw = random.Random(4)
    for count in (1, 21, 22, 23, 100):
        tags = tuple(draw.choices(("O", "B-PER", "B-LOC"), k=count))
        one = TaggedSentence(tuple(draw.choices(["Lovelace", "unheard", "in"], k=count)), tags, 1)
        rows = list(word_tags.encode(tokenizer, one, labels, TaggedData(max_length=24)))
        assert all(len(ids) == len(row_tags) <= 24 for ids, row_tags in rows)
        kept = [labels[number] for _, row in rows for number in row if number != UNTAGGED]
        assert tuple(kept) == tags
    giant = TaggedSentence(("in", "x" * 90, "in"), ("O", "B-PER", "O"), 1)
    tokenizer = assemble(recipe({"data.vocabulary": {"kind": "byte", "vocab_size": 300}}), folder).made.tokenizer
    rows = list(word_tags.encode(tokenizer, giant, labels, TaggedData(max_length=24)))
    assert [labels[n] for _, row in rows for n in row if n != UNTAGGED] == ["O", "B-PER", "O"]
    assert all(len(ids) <= 24 for ids, _ in rows)


def test_illegal_tags_are_refused_or_repaired_aloud(tmp_path, caplog):
    write_conll(tmp_path / "train.conll", 40)
    text = (tmp_path / "train.conll").read_text()
    (tmp_path / "train.conll").write_text(f"Rome\tI-LOC\n\n{text}")
    with pytest.raises(ValueError, match=r"train\.conll, line 1: I-LOC at the beginning"):
        assemble(recipe(), tmp_path)
    assemble(recipe({"data.illegal": "repair"}), tmp_path)
    assert "1 lines were repaired, the first is line 1" in caplog.text


def test_a_tag_that_training_never_saw_is_named(tmp_path):
    write_conll(tmp_path / "train.conll", 40)
    (tmp_path / "dev.conll").write_text("Rome\tB-CITY\n")
    with pytest.raises(ValueError, match=r"dev\.conll: the tag 'B-CITY' does not occur in training"):
        assemble(recipe({"data.dev": "dev.conll"}), tmp_path)


def test_several_files_are_one(tmp_path):
    write_conll(tmp_path / "a.conll", 40)
    write_conll(tmp_path / "b.conll", 40, seed=5)
    both = assemble(recipe({"data.train": ["a.conll", "b.conll"]}), tmp_path).prepared
    assert len(both.train) + len(both.dev) == 80


def test_every_word_of_an_imported_model_has_a_tag(tmp_path):
    model = cf.load(make("bert tags", tmp_path / "m"))
    assert isinstance(model, word_tags.TASK.use)
    tags = model.tag(TEXTS[0])
    assert [tag.word for tag in tags] == TEXTS[0].split()
    assert all(TEXTS[0][tag.start : tag.end] == tag.word for tag in tags)
    assert word_tags.TASK.verb.line(tags) == " ".join(f"{tag.word}/{tag.label}" for tag in tags)


def test_capitals_are_given_back_to_a_vocabulary_that_forgets_them(tmp_path):
    """Every word is sometimes a name, and only a capital tells: without shapes there is nothing to learn from."""
    draw = random.Random(2)
    lines = []
    for _ in range(300):
        for word in draw.choices(["rose", "ada", "rome", "saw", "near"], k=draw.randint(3, 6)):
            name = draw.random() < 0.4
            lines.append(f"{word.title()}\tB-PER" if name else f"{word}\tO")
        lines.append("")
    (tmp_path / "train.conll").write_text("\n".join(lines) + "\n", encoding="utf-8")
    vocabulary = {"kind": "wordpiece", "vocab_size": 300, "normalise": ["lowercase"]}
    found = {}
    for shapes in (False, True):
        made = train(
            recipe({"data.shapes": shapes, "data.vocabulary": vocabulary}), tmp_path / str(shapes), base=tmp_path
        )
        found[shapes] = evaluate(made, [tmp_path / "train.conll"])["f1"]
    assert found[True] > 0.99
    assert found[False] < 0.8
    tagger = cf.load(tmp_path / "True")
    alone = [tagger.tag_words([words])[0] for words in (["Rose", "saw", "ada"], ["ada"])]
    assert tagger.tag_words([["Rose", "saw", "ada"], ["ada"]]) == alone == [["B-PER", "O", "O"], ["O"]]
