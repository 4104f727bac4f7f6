"""A language model in use: cached equals full, alone equals in a batch, and characters come whole."""

import json
import os
import re
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
import torch

from clearformer.inference.text_generator import TextGenerator
from clearformer.interop.importer import read_checkpoint, read_hugging_face
from clearformer.model.build import build
from interop.folders import gpt2_folder
from support.random_schemas import fits, random_schema


@pytest.fixture(scope="module")
def generator(tmp_path_factory):
    folder = tmp_path_factory.mktemp("gpt2")
    torch.manual_seed(0)
    gpt2_folder(folder)
    return TextGenerator(read_hugging_face(folder).bundle)


def test_each_token_is_the_likeliest_after_all_before_it(generator):
    """The cache changes nothing: a full pass over what was written chooses the same tokens."""
    prompt = generator.encode("two dogs")
    tokens = [choice.token for choice in generator.choices(prompt, max_new=8)]
    with torch.inference_mode():
        logits = generator.model(torch.tensor([[*prompt, *tokens]]))[0]
    assert logits[len(prompt) - 1 : -1].argmax(-1).tolist() == tokens


def test_half_a_character_is_never_shown(generator):
    """Single bytes are tokens here: what random weights write is mostly not text, and must never crash the stream."""
    pieces = list(generator.stream("雪", max_new=12, temperature=2.0, seed=3))
    assert all(not piece.endswith("\ufffd") for piece in pieces[:-1])


def test_a_prompt_that_fills_the_context_is_refused(generator):
    with pytest.raises(ValueError, match=f"room for {generator.window}"):
        list(generator.choices([5] * generator.window))


def test_past_the_context_a_text_goes_on_with_the_newer_half_and_says_so(generator, caplog):
    """24 positions were learned: after them the model reads the last 13 tokens afresh, and so it was announced."""
    caplog.set_level("INFO")
    prompt = [5, 6, 7]
    tokens = [choice.token for choice in generator.choices(prompt, max_new=40)]
    assert len(tokens) == 40
    assert "the model sees 24 tokens at a time" in caplog.text
    read = [*prompt, *tokens]
    begin = 0
    with torch.inference_mode():
        for place in range(len(prompt), len(read)):
            if place - begin > generator.window:
                begin = place - (generator.window // 2 + 1)
            assert generator.model(torch.tensor([read[begin:place]]))[0, -1].argmax() == read[place]


def test_samples_in_a_batch_are_those_drawn_alone(generator):
    settings = {"max_new": 30, "temperature": 1.3}
    together = generator.continuations("two dogs", samples=5, seed=7, **settings)
    assert [found.seed for found in together] == [7, 8, 9, 10, 11]
    assert len({found.tokens for found in together}) > 1
    for found in together:
        [alone] = generator.continuations("two dogs", seed=found.seed, **settings)
        assert alone.tokens == found.tokens
        assert alone.text == found.text
        assert alone.log_probs == pytest.approx(found.log_probs, abs=1e-4)


def test_a_stop_text_ends_each_sample_by_itself(generator):
    """Random weights write random bytes: any letter that comes up in a free text stops it at its first place."""
    settings = {"max_new": 40, "temperature": 1.5, "samples": 4}
    free = generator.continuations("two", **settings)
    letter = next(letter for letter in free[0].text[3:] if letter.isascii())
    for one, stopped in zip(free, generator.continuations("two", stop_text=letter, **settings), strict=True):
        assert stopped.text == one.text.partition(letter)[0]
        assert stopped.ended == ("stop" if letter in one.text else one.ended)
        assert stopped.tokens == one.tokens[: len(stopped.tokens)]


def test_an_empty_prompt_begins_a_text(generator):
    assert generator.encode("") == [generator.tokenizer.special_ids["bos"]]
    assert generator.generate("", max_new=5) == generator.continuations("", max_new=5)[0].text


def test_one_stream_cannot_show_several_samples(generator):
    with pytest.raises(ValueError, match=r"use continuations\(\)"):
        generator.generate("two", samples=2, temperature=1.0)


def test_rows_that_the_vocabulary_has_no_piece_for_are_never_written(generator):
    """A table may be longer than its vocabulary; however likely such a row is, it is no text."""
    known = generator.tokenizer.vocab_size
    grown = replace(generator.bundle.config, vocab_size=known + 8)
    model = build(grown)
    with torch.no_grad():
        model.head.table[known:] *= 50
    longer = TextGenerator(replace(generator.bundle, config=grown, model=model))
    for seed in range(4):
        tokens = [choice.token for choice in longer.choices([5, 6], max_new=20, temperature=3.0, seed=seed)]
        assert tokens
        assert max(tokens) < known


def test_every_token_but_the_first_is_judged_once_whatever_the_stride(generator):
    ids = torch.randint(0, 200, (57,)).tolist()
    for context, stride in ((8, 4), (8, 8), (8, 1), (5, 3), (20, 7)):
        found = generator.likelihood(ids, context=context, stride=stride)
        assert sum(map(len, found.blocks)) == len(ids) - 1
        assert len(found.blocks[0]) == context
        assert all(len(block) <= stride for block in found.blocks[1:])


def test_the_likelihood_of_a_short_text_is_one_pass(generator):
    ids = generator.encode("two dogs play")
    found = generator.likelihood(ids)
    with torch.inference_mode():
        scores = generator.model(torch.tensor([ids]))[0, :-1].log_softmax(-1)
    expected = [-float(scores[place, token]) for place, token in enumerate(ids[1:])]
    assert len(found.blocks) == 1
    assert list(found.blocks[0]) == pytest.approx(expected, abs=1e-4)


def test_each_token_is_predicted_from_the_context_before_it_and_no_more(generator):
    """With a stride of one, token n is what a fresh pass over the `context` tokens before it says."""
    ids, context = torch.randint(0, 200, (20,)).tolist(), 6
    found = [value for block in generator.likelihood(ids, context=context, stride=1).blocks for value in block]
    for place in range(1, len(ids)):
        past = ids[max(0, place - context) : place]
        with torch.inference_mode():
            said = generator.model(torch.tensor([past]))[0, -1].log_softmax(-1)
        assert found[place - 1] == pytest.approx(-float(said[ids[place]]), abs=1e-4)


def test_a_single_token_cannot_be_judged(generator):
    with pytest.raises(ValueError, match="two tokens at least"):
        generator.likelihood([5])


def test_a_context_that_the_model_has_no_room_for_is_refused(generator):
    with pytest.raises(ValueError, match=f"a context of 1000 tokens .* {generator.longest}"):
        generator.likelihood([5] * 2000, context=1000)


@pytest.mark.parametrize("temperature", [0.0, 1.5])
def test_whatever_the_weights_say_a_text_keeps_to_its_form(generator, temperature):
    """Random weights want to write random bytes; what they may choose from is all that a form leaves."""
    asked = {"temperature": temperature, "max_new": 20}
    assert generator.generate("two", choices=["dogs", "cats", "雪"], **asked) in ("dogs", "cats", "雪")
    assert re.fullmatch(r"\d{4}-[雪a]+", generator.generate("two", pattern=r"\d{4}-[雪a]+", **asked))
    schema = {"type": "object", "properties": {"dogs": {"type": "integer", "maximum": 9}}, "required": ["dogs"]}
    [found] = generator.continuations("two", schema=schema, **asked)
    assert json.loads(found.text)["dogs"] <= 9
    assert all(number < 0 for number in found.log_probs)


def test_random_schemas_are_kept_to_in_batches(generator):
    for seed in range(12):
        schema = random_schema(Random(1000 + seed), depth=2)
        asked = {"temperature": 1.0, "max_new": 90, "samples": 3, "seed": seed}
        for found in generator.continuations("two", schema=schema, **asked):
            assert fits(json.loads(found.text), schema, schema), (seed, found.text)


def test_log_probabilities_are_the_model_s_own_whatever_was_forbidden(generator):
    """A form removes choices and changes no number: the text scored freely has the same log-probabilities."""
    [found] = generator.continuations("two", pattern="dogs!?", max_new=8)
    ids = [*generator.encode("two"), *found.tokens]
    with torch.inference_mode():
        scores = generator.model(torch.tensor([ids]))[0, :-1].log_softmax(-1)
    told = [float(scores[place - 1, ids[place]]) for place in range(len(ids) - len(found.tokens), len(ids))]
    assert found.log_probs == pytest.approx(told, abs=1e-4)


@pytest.mark.parametrize(
    ("form", "reason"),
    [
        ({"pattern": "a{30}"}, "takes 30 tokens, and at most 10"),
        ({"pattern": "a[^\\s\\S]"}, "no text fits"),
        ({"schema": {"enum": []}}, "no value to choose"),
        ({"choices": []}, "choices are empty"),
        ({"choices": ["a"], "pattern": "a"}, "two forms for one text"),
        ({"pattern": "a", "stop_text": "b"}, "stop_text would cut off"),
    ],
)
def test_what_cannot_be_written_is_refused_before_the_first_token(generator, monkeypatch, form, reason):
    monkeypatch.setattr(generator.stepper, "step", None)  # it is never asked
    with pytest.raises(ValueError, match=reason):
        next(generator.stream("two", max_new=10, **form))


@pytest.mark.corpora
def test_a_sentencepiece_vocabulary_keeps_to_a_form_also_where_a_text_begins():
    """An empty prompt: then the vocabulary takes the first space off, and the form still begins where the text does."""
    stories = TextGenerator(read_checkpoint(Path(os.environ["CLEARFORMER_DATA"]) / "pretrained" / "stories260K").bundle)
    for prompt in ("Once upon a time", ""):
        for pattern in ("[A-Z][a-z]+ was (big|small)[.]", "雪 😀", " ?two"):
            assert re.fullmatch(pattern, stories.generate(prompt, pattern=pattern, max_new=30))


@pytest.mark.parametrize("settings", [{}, {"repetition_penalty": 1.2}, {"pattern": "[a-z ]{3,40}"}])
def test_guessing_where_a_text_repeats_itself_changes_no_token(generator, settings):
    prompt = generator.encode("two dogs two dogs")
    plain = list(generator.choices(prompt, max_new=10, lookup=0, **settings))
    guessed = list(generator.choices(prompt, max_new=10, lookup=5, **settings))
    assert [one.token for one in guessed] == [one.token for one in plain]
    assert [one.log_prob for one in guessed] == pytest.approx([one.log_prob for one in plain], abs=1e-4)


def test_two_texts_in_turns_are_written_as_each_would_be_alone(generator):
    """The past of the last text is kept for the next; two at a time must not share it."""
    prompts = [generator.encode(text) for text in ("two dogs", "two dogs play")]
    alone = [[choice.token for choice in generator.choices(prompt, max_new=8)] for prompt in prompts]
    streams = [generator.choices(prompt, max_new=8) for prompt in prompts]
    turns = [[next(stream).token for stream in streams] for _ in range(8)]
    assert [list(row) for row in zip(*turns, strict=True)] == alone


def test_a_prompt_that_begins_like_the_last_text_is_not_read_again(generator):
    generator.generate("two dogs", max_new=4)
    again = generator.encode("two dogs")
    assert list(generator.choices(again, max_new=1))
    assert generator._kept.read == 1  # its last token, which the answer depends on
