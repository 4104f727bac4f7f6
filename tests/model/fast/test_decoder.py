"""The written-out step beside the readable decoder: the same logits, whatever the beams do."""

import pytest
import torch

from clearformer.model.config import AttentionConfig, EmbeddingConfig, HeadConfig
from clearformer.model.fast.decoder import capture_decoder
from model.specimens import PLAIN, VOCAB, padded, sentences, specimen

VARIANTS = {
    **PLAIN,
    "shrunk states, untied": (
        "transformer",
        {"head": HeadConfig(shrink=True), "embedding": EmbeddingConfig(tie="none")},
    ),
    "shallow decoder": ("transformer", {"decoder_layers": 1}),
}


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_step_of_a_search_equals_the_full_pass(variant):
    check_a_search(variant)


@pytest.mark.parametrize("variant", VARIANTS)
def test_so_it_does_with_packed_weights(variant, monkeypatch):
    monkeypatch.setattr("clearformer.model.fast.packed.LARGE", 0)
    check_a_search(variant)


@torch.inference_mode()
def check_a_search(variant):
    """One row a sentence, then a beam of three that forks and forgets, then one sentence less."""
    torch.manual_seed(3)
    family, choices = VARIANTS[variant]
    model = specimen(family, **choices)
    tokens, keep = padded(sentences(5, 9, 2, 7), "right")
    memory = model.encode(tokens, keep=keep)
    decoder = capture_decoder(model)
    groups = decoder.start(memory)
    histories, owners = [[] for _ in range(4)], list(range(4))
    selections = [
        [row for row in range(4) for _ in range(3)],
        [0, 2, 2, 5, 4, 3, 6, 6, 6, 10, 11, 9],
        [0, 1, 2, 9, 11, 10, 6, 8, 7],  # the last sentence takes the place of the second
        [3, 3, 5, 1],  # rows in no order at all
        [0, 1, 2, 3],
    ]
    for rows in selections:
        fed = torch.randint(VOCAB, (len(owners),))
        histories = [[*history, token] for history, token in zip(histories, fed.tolist(), strict=True)]
        logits = decoder.step(fed, groups)
        expected = model.decode(torch.tensor(histories), memory.select(torch.tensor(owners)))[:, -1]
        assert logits.shape == (len(owners), VOCAB)
        torch.testing.assert_close(logits, expected, rtol=1e-5, atol=1e-5)
        groups = groups.select(torch.tensor(rows))
        histories, owners = [histories[row] for row in rows], [owners[row] for row in rows]


@pytest.mark.parametrize(
    ("family", "choices"),
    [
        ("t5", {}),
        ("transformer", {"attention": AttentionConfig(heads=4, kv_heads=2)}),
        ("transformer", {"attention": AttentionConfig(heads=4, window=3)}),
        ("transformer", {"gated": True}),
        ("lstm", {}),
        ("convolution", {}),
        ("gpt2", {}),
        ("bert", {}),
    ],
)
def test_what_it_does_not_know_it_leaves_alone(family, choices):
    assert capture_decoder(specimen(family, **choices)) is None


@torch.inference_mode()
def test_learned_positions_end_in_words_not_in_an_index_error():
    model = specimen("bart", max_len=3)
    decoder = capture_decoder(model)
    groups = decoder.start(model.encode(torch.tensor([[4, 5]])))
    for _ in range(3):
        decoder.step(torch.tensor([4]), groups)
    with pytest.raises(ValueError, match="learned only 3 positions"):
        decoder.step(torch.tensor([4]), groups)


def test_it_is_stale_once_a_weight_was_written_or_replaced():
    model = specimen("transformer")
    decoder = capture_decoder(model)
    assert not decoder.stale()
    with torch.no_grad():
        model.decoder.layers[1].ffn.up_proj.weight.mul_(2)
    assert decoder.stale()
    decoder = capture_decoder(model)
    model.double()
    assert decoder.stale()
