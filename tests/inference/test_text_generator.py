"""A language model in use: cached equals full, alone equals in a batch, and characters come whole."""

from dataclasses import replace

import pytest
import torch

from clearformer.inference.text_generator import DecoderStepper, TextGenerator
from clearformer.interop.importer import read_hugging_face
from clearformer.model.build import build
from interop.folders import gpt2_folder


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


def test_a_short_prompt_beside_a_long_one_goes_on_as_it_does_alone(generator):
    stepper, prompts = DecoderStepper(generator.model), [[5, 6, 7, 8, 9], [5]]
    last, state = stepper.start(prompts)
    together, _ = stepper.step(last, state)
    for row, prompt in enumerate(prompts):
        alone, _ = stepper.step(*stepper.start([prompt]))
        torch.testing.assert_close(together[row], alone[0], rtol=1e-5, atol=1e-5)


def test_half_a_character_is_never_shown(generator):
    """Single bytes are tokens here: what random weights write is mostly not text, and must never crash the stream."""
    pieces = list(generator.stream("雪", max_new=12, temperature=2.0, seed=3))
    assert all(not piece.endswith("\ufffd") for piece in pieces[:-1])


def test_the_model_s_room_is_a_limit(generator):
    room = generator.longest
    assert len(list(generator.choices([5] * (room - 3), max_new=50))) <= 3
    with pytest.raises(ValueError, match=f"room for {room}"):
        list(generator.choices([5] * room))


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
