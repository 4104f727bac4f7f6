"""Presets: the published sizes, to the last parameter, and the largest one without its memory."""

import resource

import pytest
import torch

from clearformer.model.build import build
from clearformer.model.config import HeadConfig
from clearformer.model.families import bert
from clearformer.model.presets import PRESETS, preset


def count(config):
    """Parameters, tied ones once. On the meta device nothing is allocated or drawn."""
    with torch.device("meta"):
        return sum(parameter.numel() for parameter in build(config).parameters())


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("base", 63_082_496),  # 37,000 tied pieces; the paper rounds to 65 million
        ("gpt2", 124_439_808),
        ("bert-base", 109_482_240),  # with the pooler
        ("vit-b16", 86_567_656),  # with 1,000 classes
        ("t5-small", 60_506_624),
        # Published as 139,420,416, where the bias a token on the output is a buffer of zeros that nobody counts or
        # trains. Here it is a parameter, so that it can be fine-tuned: 50,265 more.
        ("bart-base", 139_420_416 + 50_265),
    ],
)
def test_published_sizes_are_exact(name, parameters):
    assert count(preset(name)) == parameters


def test_base_by_hand():
    """Where the 63,082,496 come from."""
    d, hidden, pieces = 512, 2048, 37_000
    attention, ffn, norm = 4 * (d * d + d), 2 * d * hidden + hidden + d, 2 * d
    encoder, decoder = attention + ffn + 2 * norm, 2 * attention + ffn + 3 * norm
    assert count(preset("base")) == pieces * d + 6 * (encoder + decoder) == 63_082_496


def test_big_has_the_papers_size():
    """Table 3 says 213 million; with 37,000 pieces it is 214.2 million."""
    assert count(preset("big")) == pytest.approx(213e6, rel=0.01)


@pytest.mark.parametrize(("name", "layers"), [("tiny", 6), ("base", 12)])
def test_a_fast_preset_reads_deeply_and_writes_with_one_layer(name, layers):
    model, config = build(preset(f"{name}-fast", vocab_size=50)), preset(name)
    assert (len(model.encoder.layers), len(model.decoder.layers)) == (layers, 1)
    assert preset(f"{name}-fast").dim == config.dim


def test_tiny_is_tiny():
    assert count(preset("tiny")) <= 2_700_000
    config = preset("tiny")
    assert (config.layers, config.dim, config.attention.heads, config.hidden_dim) == (4, 128, 4, 256)


def test_gpt3_is_counted_without_its_memory():
    """175 billion parameters would be 700 gigabytes; the count grows this process by less than a thousandth of one."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # kilobytes, the most so far
    parameters = count(preset("gpt3"))
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert parameters == 174_604_259_328
    assert grown < 200_000
    assert preset("gpt3").dim == 96 * 128 == 12_288


def test_bert_without_its_pooler():
    assert count(bert(vocab_size=30_522, head=HeadConfig(kind="states"))) == 109_482_240 - (768 * 768 + 768)


def test_a_vocabulary_of_ones_own():
    assert count(preset("base", vocab_size=10_000)) == 63_082_496 - 27_000 * 512
    assert preset("tiny", vocab_size=77).vocab_size == 77


def test_an_unknown_name_is_answered_with_the_known_ones():
    with pytest.raises(
        ValueError,
        match=r"there is no preset 'huge'; choose one of tiny, tiny-fast, small, base,",
    ):
        preset("huge")


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_can_be_built_and_run(name):
    """On the meta device: shapes fit from one end to the other."""
    with torch.device("meta"):
        config = preset(name)
        model, tokens = build(config), torch.zeros(2, 7, dtype=torch.long)
        inputs = {"encoder-decoder": (tokens, tokens[:, :5])}.get(config.shape, (tokens,))
        if config.front.kind == "patches":
            inputs = (torch.zeros(2, 3, 224, 224),)
        output = model(*inputs)
    assert output.size(0) == 2
    assert output.size(-1) in (config.vocab_size, config.dim, config.head.labels)
