"""The LSTM written gate by gate is `torch.nn.LSTM`, and padding is invisible to both of our paths."""

import pytest
import torch
from torch import nn

from clearformer.model.baselines.lstm import Gates, LstmState, recur, step, unroll, unroll_fused

B, T, D, WIDTH = 3, 5, 6, 8
PATHS = [unroll, unroll_fused]


def make(layers=1, both=False, dropout=0.0):
    torch.manual_seed(layers + 10 * both)
    return nn.LSTM(D, WIDTH, layers, batch_first=True, bidirectional=both, dropout=dropout)


def start(lstm):
    count = lstm.num_layers * (2 if lstm.bidirectional else 1)
    return LstmState(torch.randn(count, B, WIDTH), torch.randn(count, B, WIDTH))


@pytest.mark.parametrize("both", [False, True], ids=["forward", "both"])
@pytest.mark.parametrize("layers", [1, 2, 3])
@pytest.mark.parametrize("path", PATHS)
def test_equals_torch_in_values_and_gradients(path, layers, both):
    lstm = make(layers, both)
    state = start(lstm)

    def run(function):
        x = torch.linspace(-1, 1, B * T * D).view(B, T, D).requires_grad_()
        output, (hidden, cell) = function(lstm, x, state)
        total = (output.sin().sum() + hidden.cos().sum() + cell.square().sum()) / output.numel()
        return output, hidden, cell, *torch.autograd.grad(total, [x, *lstm.parameters()])

    ours, theirs = run(path), run(lambda module, *given: module(*given))
    assert ours[0].shape == (B, T, WIDTH * (1 + both))
    assert ours[1].shape == ours[2].shape == (layers * (1 + both), B, WIDTH)
    for mine, reference in zip(ours, theirs, strict=True):
        torch.testing.assert_close(mine, reference, atol=1e-6, rtol=0)


def test_one_step_by_hand():
    """A gate that sees +100 is open, one that sees -100 is shut; then the cell is plain arithmetic."""
    zero = torch.zeros(4, 1)
    x, hidden, cell = torch.ones(1, 1), torch.zeros(1, 1), torch.tensor([[0.5]])

    def cell_after(input_seen, forget_seen):
        bias = torch.tensor([input_seen, forget_seen, 100.0, 100.0])
        return step(x, hidden, cell, zero, zero, bias, torch.zeros(4)).cell.item()

    assert cell_after(100.0, 100.0) == 1.5  # keep and write
    assert cell_after(-100.0, 100.0) == 0.5  # keep only: how an LSTM remembers over any distance
    assert cell_after(100.0, -100.0) == 1.0  # write over
    assert cell_after(-100.0, -100.0) == 0.0  # forget
    assert step(x, hidden, cell, zero, zero, torch.zeros(4), torch.zeros(4)).hidden.item() == pytest.approx(
        0.5 * torch.tensor(0.25).tanh().item()
    )


@pytest.mark.parametrize("both", [False, True], ids=["forward", "both"])
@pytest.mark.parametrize("path", PATHS)
def test_padding_changes_nothing_wherever_it_stands(path, both):
    lstm = make(2, both)
    first = start(lstm)
    x = torch.randn(B, 7, D)
    keep = torch.tensor([[0, 0, 1, 1, 1, 1, 1], [1, 1, 1, 0, 0, 0, 0], [0, 1, 0, 1, 1, 0, 1]], dtype=torch.bool)
    x[~keep] = 1e3  # loud padding
    output, last = path(lstm, x, first, keep=keep)
    assert not output[~keep].any()
    for row in range(B):
        alone, (hidden, cell) = lstm(x[row : row + 1, keep[row]], first.select(torch.tensor([row])))
        torch.testing.assert_close(output[row, keep[row]], alone[0], atol=1e-6, rtol=0)
        torch.testing.assert_close(last.hidden[:, row], hidden[:, 0], atol=1e-6, rtol=0)
        torch.testing.assert_close(last.cell[:, row], cell[:, 0], atol=1e-6, rtol=0)


@pytest.mark.parametrize("path", PATHS)
def test_a_row_of_padding_alone_leaves_the_state_as_it_was(path):
    lstm = make(2)
    first = start(lstm)
    keep = torch.tensor([[True] * T, [False] * T, [True] * T])
    output, last = path(lstm, torch.randn(B, T, D), first, keep=keep)
    assert not output[1].any()
    assert torch.equal(last.hidden[:, 1], first.hidden[:, 1])
    assert torch.equal(last.cell[:, 1], first.cell[:, 1])
    assert not torch.equal(last.cell[:, 0], first.cell[:, 0])


@pytest.mark.parametrize("path", PATHS)
def test_reading_in_two_pieces_is_reading_at_once(path):
    lstm, x = make(2), torch.randn(B, T, D)
    whole, end = path(lstm, x)
    head, state = path(lstm, x[:, :2])
    tail, state = path(lstm, x[:, 2:], state)
    torch.testing.assert_close(torch.cat((head, tail), dim=1), whole, atol=1e-6, rtol=0)
    torch.testing.assert_close(state, end, atol=1e-6, rtol=0)


def test_both_paths_drop_between_layers_and_nowhere_else():
    lstm, x = make(2, dropout=1.0), torch.randn(B, T, D)
    for mode in (True, False):
        lstm.train(mode)
        torch.testing.assert_close(unroll(lstm, x)[0], unroll_fused(lstm, x)[0], atol=1e-6, rtol=0)
    # With everything dropped the second layer reads zeros, but its own memory still moves.
    lstm.train()
    torch.testing.assert_close(unroll(lstm, x)[0], unroll(lstm, torch.randn(B, T, D))[0])


def test_whoever_looks_sees_the_gates_of_the_same_computation():
    lstm, x = make(2, both=True), torch.randn(B, T, D)
    seen = {}
    output, _ = recur(lstm, x, notes=seen.__setitem__)
    torch.testing.assert_close(output, recur(lstm, x)[0], atol=1e-6, rtol=0)
    assert set(seen) == {
        f"{name}.{label}" for name in ("l0", "l0_reverse", "l1", "l1_reverse") for label in Gates._fields
    }
    gates = Gates(*(seen[f"l1.{label}"] for label in Gates._fields))
    assert gates.cell.shape == (B, T, WIDTH)
    for gate in (gates.input_gate, gates.forget_gate, gates.output_gate):
        assert ((gate > 0) & (gate < 1)).all()
    remembered = gates.forget_gate[:, 1:] * gates.cell[:, :-1] + gates.input_gate[:, 1:] * gates.candidate[:, 1:]
    torch.testing.assert_close(gates.cell[:, 1:], remembered)
    torch.testing.assert_close(gates.hidden, output[..., :WIDTH])
    # The backward direction remembers from right to left.
    backward = Gates(*(seen[f"l1_reverse.{label}"] for label in Gates._fields))
    torch.testing.assert_close(backward.cell[:, -1], backward.input_gate[:, -1] * backward.candidate[:, -1])
