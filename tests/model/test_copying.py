"""A head that copies: a mixture of two distributions is one, and what it points at is what it repeats."""

from dataclasses import replace

import pytest
import torch

from clearformer.decoding.greedy import greedy
from clearformer.decoding.rules import Rules
from clearformer.inference.steppers import Seq2SeqStepper, pad_sources, stepper_for
from clearformer.interop.to_ctranslate2 import reasons_against
from clearformer.model.build import build
from clearformer.model.config import FrontConfig, HeadConfig
from clearformer.model.described import described
from clearformer.model.families import bart, gpt2, t5, transformer
from clearformer.model.fast.decoder import capture_decoder
from clearformer.model.trace import trace

SIZES = {"vocab_size": 30, "dim": 16, "hidden_dim": 32, "layers": 2, "heads": 2, "max_len": 32}


@pytest.fixture(params=[transformer, bart, t5])
def model(request):
    torch.manual_seed(1)
    return build(request.param(**SIZES, head=HeadConfig(copy=True))).eval()


def rows(*lengths):
    torch.manual_seed(2)
    tokens = torch.randint(4, 30, (len(lengths), max(lengths)))
    keep = torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]
    return tokens, keep


def test_the_probabilities_sum_to_one(model):
    source, keep = rows(7, 4)
    logits = model(source, rows(5, 5)[0], source_keep=keep)
    assert logits.shape == (2, 5, 30)
    torch.testing.assert_close(logits.exp().sum(-1), torch.ones(2, 5))
    torch.testing.assert_close(logits.log_softmax(-1), logits)  # log-probabilities are logits of themselves


def test_it_can_write_alone_or_copy_alone(model):
    """Pushed to one end it is the plain language model, at the other it says nothing that the source does not have."""
    source, keep = rows(7, 4)
    target = rows(5, 5)[0]
    with torch.no_grad():
        model.head.write.weight.zero_()
        model.head.write.bias.fill_(40.0)
        memory = model.encode(source, keep=keep)
        plain = model.head.words(model.decoder(target, memory)).log_softmax(-1)
        torch.testing.assert_close(model(source, target, source_keep=keep), plain)
        model.head.write.bias.fill_(-40.0)
        copied = model(source, target, source_keep=keep).exp()
    for row in range(2):
        present = set(source[row][keep[row]].tolist())
        absent = [token for token in range(30) if token not in present]
        assert copied[row][:, absent].max() < 1e-12
        torch.testing.assert_close(copied[row][:, sorted(present)].sum(-1), torch.ones(5))


def test_a_token_that_stands_twice_gets_both_shares(model):
    source = torch.tensor([[5, 6, 5]])
    with torch.no_grad():
        model.head.write.weight.zero_()
        model.head.write.bias.fill_(-40.0)
        with trace(model) as seen:
            found = model(source, torch.tensor([[1]])).exp()
    shares = seen["head.weights"][0, 0]
    torch.testing.assert_close(found[0, 0, 5], shares[0] + shares[2])
    torch.testing.assert_close(found[0, 0, 6], shares[1])


def test_padding_changes_nothing_and_steps_equal_the_whole(model):
    source, keep = rows(7, 4)
    target = rows(5, 5)[0]
    whole = model(source, target, source_keep=keep)
    torch.testing.assert_close(model(source[1:, :4], target[1:]), whole[1:], atol=1e-5, rtol=1e-4)
    memory, cache = model.encode(source, keep=keep), model.start_cache()
    steps = [model.decode(target[:, place : place + 1], memory, cache=cache) for place in range(5)]
    torch.testing.assert_close(torch.cat(steps, dim=1), whole, atol=1e-5, rtol=1e-4)


def test_the_fast_path_refuses_and_the_same_text_comes_alone_and_in_company(model):
    assert capture_decoder(model) is None
    stepper = stepper_for(model, bos=1)
    assert isinstance(stepper, Seq2SeqStepper)
    texts = [[7, 8, 9, 2], [5, 6, 2], [11, 12, 13, 14, 15, 2]]
    rules = Rules(eos=2, banned=(0, 1, 3))
    together = greedy(stepper, pad_sources(texts, 0), rules=rules, max_len=6)
    alone = [greedy(stepper, pad_sources([text], 0), rules=rules, max_len=6)[0] for text in texts]
    assert [one.tokens for one in together] == [one.tokens for one in alone]


def test_a_memory_keeps_its_tokens_when_rows_are_chosen_and_joined(model):
    source, keep = rows(7, 4)
    memory = model.encode(source, keep=keep)
    assert memory.select(torch.tensor([1, 1])).tokens.tolist() == [source[1].tolist()] * 2
    joined = memory.join(model.encode(torch.tensor([[9, 2]])))
    assert joined.tokens[2].tolist() == [9, 2, 0, 0, 0, 0, 0]
    assert joined.keep[2].tolist() == [True, True] + [False] * 5


def test_it_learns_to_repeat_what_it_was_never_told(model):
    """Every gradient is a number, and a token that only the source has becomes likely."""
    torch.manual_seed(3)
    optimiser = torch.optim.Adam(model.parameters(), lr=5e-3)
    for _ in range(60):
        source = torch.randint(4, 30, (8, 4))
        loss = torch.nn.functional.cross_entropy(model(source, torch.ones(8, 1, dtype=torch.long))[:, 0], source[:, 0])
        optimiser.zero_grad()
        loss.backward()
        assert all(weight.grad is None or weight.grad.isfinite().all() for weight in model.parameters())
        optimiser.step()
    assert loss.item() < 2.0  # of 26 tokens, chance would be 3.3


def test_a_source_that_another_model_read_is_refused(model):
    memory = model.encode(torch.tensor([[5, 6]]))._replace(tokens=None)
    with pytest.raises(ValueError, match="needs the source's tokens"):
        model.decode(torch.tensor([[1]]), memory)


def test_what_has_no_tokens_or_two_vocabularies_cannot_copy():
    config = transformer(**SIZES)
    with pytest.raises(ValueError, match="reads sound has no tokens to copy"):
        replace(config, front=FrontConfig(kind="sound"), head=HeadConfig(copy=True))
    with pytest.raises(ValueError, match="one vocabulary"):
        replace(
            config, target_vocab_size=20, head=HeadConfig(copy=True), embedding=replace(config.embedding, tie="output")
        )
    assert described(config)["head"]["copy"] is False
    assert "copy" not in described(gpt2(**SIZES))["head"]
    assert described(replace(config, head=HeadConfig(copy=True)))["head"]["copy"] is True
    assert "its head copies from the source" in reasons_against(replace(config, head=HeadConfig(copy=True)))
