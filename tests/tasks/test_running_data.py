"""What language models read: windows that cover the text, an end that is held out, documents that are kept apart."""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch

from clearformer.data.collate import collate_blocks, keep_documents_apart
from clearformer.inference.text_generator import TextGenerator
from clearformer.run.recipe import read_recipe
from clearformer.tasks import language_model
from clearformer.tasks.language_model import NextToken, RunningText, TextScoring, Windows
from clearformer.tasks.task import Judging, Workspace
from clearformer.text.running_text import running_ids
from clearformer.training.distributed import Ranks
from flows.tiny_tasks import write_prose
from run.assembled import assemble


@pytest.fixture
def recipe(tmp_path):
    return read_recipe(write_prose(tmp_path))


def cuts(windows, context, seeds):
    """Every stretch that training would see: (first token, length)."""
    data = RunningText(context=context)

    class Side:
        pad_id = 0

    class Read:
        sides = (Side,)
        markers = None

    collate = language_model.collate(data, Read)
    for seed in seeds:
        batch = collate([windows[index] for index in range(len(windows))], (seed,))
        for row, keep in zip(batch.inputs, batch.keep, strict=True):
            yield int(row[0]), int(keep.sum())


@pytest.mark.parametrize("tokens", [2, 7, 16, 17, 18, 33, 64, 100])
def test_windows_cover_the_stream(tokens):
    """Every token is an input of some cut, and every token but the first is predicted by one."""
    context = 16
    windows = Windows(np.arange(tokens), context)
    seen, wanted = set(), set()
    for first, length in cuts(windows, context, range(200)):
        assert length == min(context, tokens - 1)
        seen |= set(range(first, first + length))
        wanted |= set(range(first + 1, first + length + 1))
    assert wanted == set(range(1, tokens))
    assert seen == set(range(tokens - 1))
    assert len(windows) == max(1, (tokens - 1) // context)  # an epoch reads about as many tokens as there are


def test_what_is_held_out_is_the_end_and_never_in_training(recipe, tmp_path):
    (tmp_path / "prose.txt").write_text("".join(f"{chr(0x4E00 + n)}\n" for n in range(400)), encoding="utf-8")
    recipe = replace(recipe, data=replace(recipe.data, vocabulary=replace(recipe.data.vocabulary, vocab_size=1000)))
    prepared = language_model.prepare(recipe.data, Workspace(folder=tmp_path / "out", base=tmp_path))
    tokenizer = prepared.preprocessing.sides[0]
    read = tokenizer.decode([int(token) for token in prepared.train.stream])
    [held] = prepared.held
    assert not set(read) & set(held) - {"\n"}
    assert len(held) == 80
    assert held[0] == chr(0x4E00 + 360)
    for character in set(held) - {"\n"}:  # nor did the vocabulary learn it
        assert character not in tokenizer._engine.get_vocab()


def test_a_development_file_is_held_out_whole(recipe, tmp_path):
    (tmp_path / "dev.txt").write_text("the end\n")
    prepared = language_model.prepare(
        replace(recipe.data, dev="dev.txt"), Workspace(folder=tmp_path / "out", base=tmp_path)
    )
    assert prepared.held == ["the end\n"]
    assert len(prepared.train.stream) == len((tmp_path / "prose.txt").read_text())


@pytest.mark.parametrize(("train", "dev"), [("", "text\n"), ("text\n", "\n"), ("a\n", None)])
def test_too_little_text_is_refused(train, dev, recipe, tmp_path):
    (tmp_path / "prose.txt").write_text(train)
    if dev is not None:
        (tmp_path / "dev.txt").write_text(dev)
    data = replace(recipe.data, dev="" if dev is None else "dev.txt")
    with pytest.raises(ValueError, match=r"prose\.txt.*: there is too little text to learn from"):
        language_model.prepare(data, Workspace(folder=tmp_path / "out", base=tmp_path))


@pytest.mark.parametrize(
    ("values", "message"),
    [({"hold_out": 0.0}, "hold_out"), ({"context": 1}, "context"), ({"word_dropout": 1.0}, "word_dropout")],
)
def test_settings_are_checked(values, message):
    with pytest.raises(ValueError, match=rf"data\.{message}"):
        RunningText(**values)


# --- documents -------------------------------------------------------------------------------------------------------

DOCUMENTS = [
    f"the {first} dog\nsees {second} snow" for first in ("red", "old", "a") for second in ("a", "the", "old")
] * 3


@pytest.fixture(params=["separator", "blank", "table"])
def documented(request, recipe, tmp_path):
    """27 documents, as they may come; one model has learned positions, which would tell if they went on counting."""
    name, separator = ("documents.jsonl", "") if request.param == "table" else ("documents.txt", "<end>")
    if request.param == "table":
        text = "".join(json.dumps({"text": document}) + "\n" for document in DOCUMENTS)
    else:
        separator = "\n" if request.param == "blank" else separator
        text = "".join(f"{document}\n{separator.strip()}\n" for document in DOCUMENTS)
    (tmp_path / name).write_text(text, encoding="utf-8")
    data = replace(recipe.data, train=name, separator=separator, context=60)
    position = {"kind": "learned" if request.param == "table" else "rotary"}
    return assemble(replace(recipe, data=data, model={**recipe.model, "max_len": 60, "position": position}), tmp_path)


def losses(made, rows):
    """The loss of each row of tokens by itself, and how many tokens it counts."""
    collate = language_model.collate(made.recipe.data, made.prepared.preprocessing)
    model = made.made.model.eval()
    with torch.no_grad():
        found = [language_model.loss(model, collate([np.array(row)], ()), NextToken()) for row in rows]
    return [(float(one.total), one.count) for one in found]


def framed(made, text):
    tokenizer = made.made.tokenizer
    return [tokenizer.bos_id, *running_ids(tokenizer, text), tokenizer.eos_id]


def test_documents_are_held_out_whole_and_framed_by_markers(documented):
    tokenizer, prepared = documented.made.tokenizer, documented.prepared
    assert prepared.held == DOCUMENTS[-3:]
    assert prepared.train.stream.tolist() == [number for one in DOCUMENTS[:-3] for number in framed(documented, one)]
    assert TextGenerator(documented.made).encode("the red") == [tokenizer.bos_id, *running_ids(tokenizer, "the red")]


def test_packed_documents_have_the_loss_that_they_have_alone(documented):
    """No attention and no prediction crosses a border, and positions restart."""
    first, second = framed(documented, DOCUMENTS[0]), framed(documented, "a snow")
    one, other, both = losses(documented, [first, second, first + second])
    assert both[1] == one[1] + other[1]
    assert both[0] == pytest.approx(one[0] + other[0], rel=1e-5)


def test_one_document_never_changes_the_loss_of_another(documented):
    """Another first document: the loss of the row changes by exactly as much as that of the first document alone."""
    fixed = framed(documented, "the old bird sees")
    rows = [framed(documented, text) for text in ("a red cat", "snow. snow", "x")]
    alone, before, after = (losses(documented, given) for given in (
        rows, [row + fixed for row in rows], [fixed + row for row in rows]
    ))  # fmt: skip
    for packed in (before, after):
        rest = [both[0] - one[0] for both, one in zip(packed, alone, strict=True)]
        assert rest == pytest.approx([losses(documented, [fixed])[0][0]] * 3, rel=1e-5)


def test_the_score_of_documents_is_the_sum_of_their_scores(documented):
    generator = TextGenerator(documented.made)
    judging = Judging(options=None, scoring=TextScoring(), ranks=Ranks(), thorough=True)
    whole = language_model.score(generator, DOCUMENTS[:4], judging)
    parts = [language_model.score(generator, [one], judging) for one in DOCUMENTS[:4]]
    assert whole["nats"] * whole["tokens"] == pytest.approx(sum(one["nats"] * one["tokens"] for one in parts))
    assert whole["words"] == 4 * 8  # six words, a line end, and the document's own


def test_a_model_of_documents_reads_a_test_set_as_such(documented, recipe, tmp_path):
    from clearformer.folder import bundle
    from clearformer.folder.description import open_folder

    bundle.save(documented.made, tmp_path / "model")
    files = [tmp_path / documented.recipe.data.train]
    assert language_model.held_out(files, open_folder(tmp_path / "model")) == DOCUMENTS


def test_one_token_may_begin_and_end_documents():
    """As GPT-2's does: then the beginning of the next one is what ends this one, and is learned."""
    batch = collate_blocks([np.array([9, 1, 2, 9, 3, 9, 4])], pad=0)
    apart = keep_documents_apart(batch, start=9, ends=True)
    assert apart.segments.tolist() == [[1, 1, 1, 2, 2, 3]]
    assert apart.keep.all()
    assert keep_documents_apart(batch, start=9, ends=False).keep.tolist() == [[True, True, False, True, False, True]]
