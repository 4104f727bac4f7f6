"""Language models: windows that cover the text, offsets by the seed, likelihood that counts every token once."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from clearformer.data.collate import collate_blocks, keep_documents_apart
from clearformer.evaluation.likelihood import summarise
from clearformer.inference.text_generator import TextGenerator
from clearformer.run.recipe import read_recipe
from clearformer.tasks import language_model
from clearformer.tasks.language_model import NextToken, RunningText, TextScoring, Windows
from clearformer.tasks.task import Judging, Scoring, Workspace
from clearformer.text.running_text import running_ids
from clearformer.training.distributed import Ranks
from flows.tiny_tasks import prose, write_prose
from run.assembled import assemble


@pytest.fixture
def recipe(tmp_path):
    return read_recipe(write_prose(tmp_path))


@pytest.fixture
def made(recipe, tmp_path):
    return assemble(recipe, tmp_path)


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


def test_offsets_vary_with_the_seed_and_with_nothing_else(made, recipe):
    collate = language_model.collate(recipe.data, made.prepared.preprocessing)
    rows = [made.prepared.train[index] for index in range(10)]
    one, same, other = (collate(rows, seed).inputs for seed in ((1, 5, 0), (1, 5, 0), (1, 6, 0)))
    assert torch.equal(one, same)
    assert not torch.equal(one, other)
    batch = collate(rows, (3,))
    assert torch.equal(batch.inputs[:, 1:], batch.targets[:, :-1])


def test_development_blocks_predict_every_token_once_and_as_they_stand(made):
    dev, tokenizer = made.prepared.dev, made.made.tokenizer
    ids = running_ids(tokenizer, made.prepared.held[0])
    assert [*dev[0][:1], *(token for block in dev for token in block[1:])] == ids
    assert max(map(len, dev)) == 17


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


@pytest.mark.parametrize("stride", [1, 3, 8, 16])
def test_likelihood_counts_every_token_once_whatever_the_stride(made, stride):
    generator = TextGenerator(made.made)
    ids = running_ids(generator.tokenizer, prose(3))
    assert 16 < len(ids) < 200
    found = generator.likelihood(ids, stride=stride)
    assert sum(map(len, found.blocks)) == len(ids) - 1
    assert (found.context, found.stride) == (16, stride)
    with torch.inference_mode():
        for place, score in zip((20, 30, 40), np.concatenate(found.blocks)[[19, 29, 39]], strict=True):
            # token `place` is predicted from between context - stride + 1 and context tokens before it
            expected = [
                -float(generator.model(torch.tensor([ids[place - past : place]])).log_softmax(-1)[0, -1, ids[place]])
                for past in range(16 - stride + 1, 17)
            ]
            assert any(math.isclose(score, one, abs_tol=1e-4) for one in expected)


@pytest.mark.parametrize("stride", [1, 5, 16])
def test_a_text_that_fits_is_read_in_one_pass(made, stride):
    generator = TextGenerator(made.made)
    ids = running_ids(generator.tokenizer, "the red dog sees\n")[:17]
    found = generator.likelihood(ids, stride=stride)
    with torch.inference_mode():
        logits = generator.model(torch.tensor([ids[:-1]])).log_softmax(-1)[0]
    whole = -logits.gather(-1, torch.tensor(ids[1:])[:, None]).sum()
    assert sum(map(sum, found.blocks)) == pytest.approx(float(whole), rel=1e-5)
    assert len(found.blocks) == 1


@pytest.mark.parametrize("stride", [0, -1, 17])
def test_a_stride_that_would_leave_tokens_out_is_refused(made, stride):
    with pytest.raises(ValueError, match=f"stride must be at least 1.*, not {stride}"):
        TextGenerator(made.made).likelihood([1, 2, 3], stride=stride)


def test_the_loss_is_the_plain_cross_entropy_of_the_next_token(made):
    batch = made.parts().batch_at(0)
    model = made.made.model.eval()
    with torch.no_grad():
        found = language_model.loss(model, batch, NextToken())
        logits = model(batch.inputs).log_softmax(-1)
    expected = -logits.gather(-1, batch.targets[..., None])[..., 0][batch.keep].sum()
    torch.testing.assert_close(found.total, expected)
    assert found.count == int(batch.keep.sum())


def test_a_thorough_score_says_nats_with_an_interval_and_how_it_was_measured(made):
    generator, [held] = TextGenerator(made.made), made.prepared.held
    judging = Judging(options=None, scoring=TextScoring(), ranks=Ranks(), thorough=True)
    scores = language_model.score(generator, [held], judging)
    assert scores["nats_low"] <= scores["nats"] <= scores["nats_high"]
    assert scores["perplexity"] == pytest.approx(math.exp(scores["nats"]))
    ids = running_ids(generator.tokenizer, held)
    assert scores["tokens"] == len(ids)  # the first is predicted, too: from a line end
    assert str(scores["signature"]).startswith("context 16, stride 8, per token, whole text")
    assert scores == summarise(generator.likelihood(running_ids(generator.tokenizer, "\n") + ids), text=held)


def test_a_look_during_training_shows_a_sample_of_the_development_text(made, recipe):
    judging = Judging(options=recipe.use, scoring=Scoring(), ranks=Ranks())
    scores = language_model.score(TextGenerator(made.made), made.prepared.held, judging)
    assert list(scores) == ["sample_0"]
    assert scores["sample_0"].startswith(made.prepared.held[0][:5])
    assert scores == language_model.score(TextGenerator(made.made), made.prepared.held, judging)


@pytest.mark.parametrize(
    ("values", "message"),
    [({"hold_out": 0.0}, "hold_out"), ({"context": 1}, "context"), ({"word_dropout": 1.0}, "word_dropout")],
)
def test_settings_are_checked(values, message):
    with pytest.raises(ValueError, match=rf"data\.{message}"):
        RunningText(**values)


def test_the_folder_remembers_what_the_model_saw_at_a_time(recipe):
    assert language_model.facts(recipe) == {"data": "prose.txt", "context": 16}


def test_a_prompt_is_read_as_training_read_text(made):
    """No marker that the model never saw stands before it; without a prompt a text begins with a new line."""
    generator, tokenizer = TextGenerator(made.made), made.made.tokenizer
    assert generator.encode("two dogs") == running_ids(tokenizer, "two dogs")
    assert generator.encode("") == running_ids(tokenizer, "\n")
    stream = made.prepared.train[0]
    assert not set(stream.tolist()) & set(tokenizer.special_ids.values())


@pytest.fixture
def worded(recipe, tmp_path):
    """The same prose, word by word."""
    vocabulary = replace(recipe.data.vocabulary, kind="word", vocab_size=100)
    return assemble(replace(recipe, data=replace(recipe.data, vocabulary=vocabulary)), tmp_path)


def test_a_model_of_words_has_one_perplexity(worded):
    """Where tokens are words and line ends, the perplexity per token is the one per word."""
    judging = Judging(options=None, scoring=TextScoring(), ranks=Ranks(), thorough=True)
    generator = TextGenerator(worded.made)
    scores = language_model.score(generator, worded.prepared.held, judging)
    assert scores["tokens"] == scores["words"]
    assert scores["perplexity"] == pytest.approx(scores["perplexity_per_word"])
    assert "unknown" not in scores
    assert generator.encode("") == [worded.made.tokenizer.eos_id]  # a line end, as training has it
    scores = language_model.score(generator, ["the zebra sees\n<unk> snow.\n"], judging)
    assert scores["unknown"] == 1  # zebra; what the text itself calls unknown does not count


def test_a_line_is_learned_without_a_space_before_it(recipe, tmp_path):
    """A BPE vocabulary puts a space before each text, where lines are no texts of their own."""
    vocabulary = replace(recipe.data.vocabulary, kind="bpe", prefix_space=True)
    prepared = language_model.prepare(
        replace(recipe.data, vocabulary=vocabulary), Workspace(folder=tmp_path / "out", base=tmp_path)
    )
    tokenizer = prepared.preprocessing.sides[0]
    read = tokenizer.decode([int(token) for token in prepared.train.stream])
    assert (read + prepared.held[0]) == (tmp_path / "prose.txt").read_text()


def test_hidden_words_are_still_asked_for(worded, recipe):
    """Only inputs are hidden, by the seed, and in training alone."""
    rows = [worded.prepared.train[index] for index in range(len(worded.prepared.train))]
    read = worded.prepared.preprocessing
    plain = language_model.collate(recipe.data, read)
    hiding = language_model.collate(replace(recipe.data, word_dropout=0.5), read)
    before, after = plain(rows, (1, 2)), hiding(rows, (1, 2))
    assert torch.equal(before.targets, after.targets)
    hidden = before.inputs != after.inputs
    assert 0.3 < float(hidden[before.keep].float().mean()) < 0.7
    assert set(after.inputs[hidden].tolist()) == {worded.made.tokenizer.unk_id}
    assert not hidden[~before.keep].any()
    assert torch.equal(after.inputs, hiding(rows, (1, 2)).inputs)
    assert torch.equal(plain(rows[:3], ()).inputs, hiding(rows[:3], ()).inputs)


# --- bytes -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def spelled(recipe, tmp_path):
    """The same prose, byte by byte."""
    vocabulary = replace(recipe.data.vocabulary, kind="byte")
    return assemble(replace(recipe, data=replace(recipe.data, vocabulary=vocabulary)), tmp_path)


def test_a_model_of_bytes_knows_every_text(spelled):
    """256 bytes and four special tokens, though the prose has twenty letters; nothing is ever unknown."""
    tokenizer = spelled.made.tokenizer
    assert tokenizer.vocab_size == spelled.made.config.vocab_size == 260
    for text in ("雪 ❄ 👩‍👩‍👧", "\x00\x7f\u2028\r\n", "<unk><eos>"):
        ids = running_ids(tokenizer, text)
        assert len(ids) == len(text.encode())
        assert min(ids) >= 4
        assert tokenizer.decode(ids) == text
    judging = Judging(options=None, scoring=TextScoring(), ranks=Ranks(), thorough=True)
    scores = language_model.score(TextGenerator(spelled.made), ["雪下得很大 🙂\n"], judging)
    assert scores["tokens"] == len("雪下得很大 🙂\n".encode())
    assert scores["bits_per_byte"] == pytest.approx(scores["nats"] / math.log(2))
    assert "unknown" not in scores


def test_characters_of_several_bytes_are_shown_whole(spelled):
    """Whatever the model wants to write: it is made to write these, one byte at a time."""
    generator, wanted = TextGenerator(spelled.made), "a🙂雪é"
    shown = list(generator.stream("the", choices=[wanted], max_new=12))
    assert shown == list(wanted)
    free = list(generator.stream("雪", temperature=1.5, max_new=40, seed=3))  # random bytes, mostly no characters
    assert not any(piece.endswith("\ufffd") for piece in free)
    cut = list(generator.stream("the", choices=[wanted, "a"], max_new=12, seed=1))
    assert "".join(cut) in (wanted, "a")


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
