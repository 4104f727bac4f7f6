"""Language models: offsets by the seed, likelihood that counts every token once, vocabularies of words and bytes."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from clearformer.decoding.stream import TokenChoice
from clearformer.inference.generation_settings import GenerationConfig, usual_writing
from clearformer.inference.text_generator import TextGenerator
from clearformer.run.recipe import read_recipe
from clearformer.tasks import language_model
from clearformer.tasks.language_model import NextToken, TextScoring
from clearformer.tasks.task import Judging, Workspace
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


def test_the_folder_remembers_what_the_model_saw_at_a_time_and_how_it_writes(recipe):
    wanted = {"data": "prose.txt", "context": 16, "decoding": {"temperature": 0.8}}
    assert language_model.facts(recipe) == wanted
    assert usual_writing(wanted) == GenerationConfig(temperature=0.8)
    with pytest.raises(ValueError, match=r"decoding\.temperature = 'hot', which is no such setting"):
        usual_writing({"decoding": {"temperature": "hot"}})


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


def test_a_model_of_words_writes_line_after_line(worded, monkeypatch):
    """The token that ends other texts is a line end here: it is written, and the text goes on. What the model says is
    given; what comes of it is the generator's."""
    generator, tokenizer = TextGenerator(worded.made), worded.made.tokenizer
    wanted = " old dog\n\nthe red cat sees\na bird"
    ids = running_ids(tokenizer, wanted)

    def say(given, config):
        for token in ids[: config.max_new]:
            yield TokenChoice(0, token, -1.0)
            if token == given.rules.eos:
                return

    monkeypatch.setattr("clearformer.inference.text_generator.write_tokens", say)
    [found] = generator.continuations("the", max_new=60)
    assert (found.text, found.ended) == (wanted, "length")
    assert "".join(generator.stream("the", max_new=60)) == wanted
    [stopped] = generator.continuations("the", max_new=60, stop_text="\n")
    assert (stopped.text, stopped.ended) == (" old dog", "stop")


def test_unknown_words_are_counted_and_make_no_bits(worded):
    judging = Judging(options=None, scoring=TextScoring(cache=5), ranks=Ranks(), thorough=True)
    known = language_model.score(TextGenerator(worded.made), ["the red dog sees\n"], judging)
    assert "unknown" not in known
    assert known["bits_per_byte"] > 0
    unknown = language_model.score(TextGenerator(worded.made), ["the red zebra sees\n"], judging)
    assert unknown["unknown"] == 1
    assert not [name for name in unknown if "bits_per_byte" in name]
    assert unknown["signature"].endswith("no bits per byte, since unknown words were never spelled")
    assert unknown.keys() - {"unknown"} == {name for name in known if "bits_per_byte" not in name}


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
