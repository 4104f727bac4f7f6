import torch

from clearformer.decoding.candidates import Beam, rank


def beam(totals):
    sentences, width = len(totals), len(totals[0])
    tokens = torch.arange(sentences * width).view(sentences, width, 1)
    return Beam(torch.arange(sentences), torch.tensor(totals).double(), tokens, -tokens.double())


def test_shapes_of_a_fresh_beam():
    fresh = Beam.start(3)
    assert (fresh.width, fresh.step) == (1, 0)
    assert fresh.tokens.shape == fresh.token_log_probs.shape == (3, 1, 0)


def test_rank_by_total_then_token_then_slot():
    two = beam([[-1.0, -2.0]])
    log_probs = torch.tensor([[-1.0, -2.0, -9.0], [-0.5, -1.0, -1.0]])  # totals -2 -3 -10 and -2.5 -3 -3
    tokens = torch.tensor([[7, 5, 1], [6, 5, 4]])
    ranked = rank(two, log_probs, tokens)
    assert ranked.totals.tolist() == [[-2.0, -2.5, -3.0, -3.0, -3.0, -10.0]]
    assert ranked.tokens.tolist() == [[7, 6, 4, 5, 5, 1]]
    assert ranked.slots.tolist() == [[0, 1, 1, 0, 1, 0]]
    assert ranked.log_probs.tolist() == [[-1.0, -0.5, -1.0, -2.0, -1.0, -9.0]]


def test_grow_carries_history_along_and_empties_slots_that_ended():
    two = beam([[-1.0, -2.0]])
    ranked = rank(two, torch.tensor([[-1.0], [-0.5]]), torch.tensor([[7], [6]]))
    grown = two.grow(ranked, kept=torch.tensor([[1, 0]]), ends=torch.tensor([[True, False]]))
    assert grown.tokens.tolist() == [[[1, 6], [0, 7]]]
    assert grown.token_log_probs.tolist() == [[[-1.0, -0.5], [0.0, -1.0]]]
    assert grown.totals.tolist() == [[-2.5, -torch.inf]]
    assert grown.select(torch.tensor([], dtype=torch.int64)).tokens.shape == (0, 2, 2)
