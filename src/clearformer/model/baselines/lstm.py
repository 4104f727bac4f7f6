"""The long short-term memory (LSTM) twice: written out gate by gate, and with PyTorch's kernel, equal to 1e-6.

Both run on the parameters of one `torch.nn.LSTM`, for any number of layers, in one direction or both, with padding
wherever it stands.

B batch, T length, D width, L layers × directions.
"""

from collections.abc import Callable
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from clearformer.model.dropout import drop

Notes = Callable[[str, Tensor], None]


class LstmState(NamedTuple):
    """All that an LSTM knows of what it has read. hidden, cell: L B D."""

    hidden: Tensor
    cell: Tensor

    def where(self, real: Tensor, before: "LstmState") -> "LstmState":
        """This state in rows that read a real token, the one before in rows that read padding. real: B."""
        rows = real[None, :, None]
        return LstmState(torch.where(rows, self.hidden, before.hidden), torch.where(rows, self.cell, before.cell))

    def select(self, rows: Tensor) -> "LstmState":
        """The same state with other batch rows: `rows[i]` becomes row i."""
        return LstmState(self.hidden.index_select(1, rows), self.cell.index_select(1, rows))


def unroll(
    lstm: nn.LSTM, x: Tensor, state: LstmState | None = None, *, keep: Tensor | None = None, notes: Notes | None = None
) -> tuple[Tensor, LstmState]:
    """Read a sequence step by step, layer by layer (Hochreiter and Schmidhuber, 1997; Gers et al., 2000).

    x: B T D; keep: B T, True = real. At padding, wherever it stands, the state waits and the output is zeros. Returns
    the top layer's outputs, B T D per direction, side by side, and the last state.
    """
    first = _zeros(lstm, x) if state is None else state
    last: list[tuple[Tensor, Tensor]] = []
    for layer in range(lstm.num_layers):
        if layer:
            x = drop(x, lstm.dropout) if lstm.training else x
        outputs = []
        for direction in ("", "_reverse") if lstm.bidirectional else ("",):
            hidden, cell = first.hidden[len(last)], first.cell[len(last)]
            output, hidden, cell = _read(lstm, f"l{layer}{direction}", x, hidden, cell, keep, notes)
            outputs.append(output)
            last.append((hidden, cell))
        x = torch.cat(outputs, dim=-1)
    return x, LstmState(torch.stack([hidden for hidden, _ in last]), torch.stack([cell for _, cell in last]))


def _read(
    lstm: nn.LSTM, name: str, x: Tensor, hidden: Tensor, cell: Tensor, keep: Tensor | None, notes: Notes | None
) -> tuple[Tensor, Tensor, Tensor]:
    """One layer in one direction. name: how PyTorch's names end, such as l0_reverse; hidden, cell: B D."""
    weights = tuple(getattr(lstm, f"{kind}_{name}") for kind in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"))
    steps = range(x.size(1))
    seen: dict[int, Gates] = {}
    for t in reversed(steps) if name.endswith("_reverse") else steps:
        gates = step(x[:, t], hidden, cell, *weights)
        seen[t] = gates
        if keep is None:
            hidden, cell = gates.hidden, gates.cell
        else:
            real = keep[:, t, None]
            hidden, cell = torch.where(real, gates.hidden, hidden), torch.where(real, gates.cell, cell)
    if notes:
        for label in Gates._fields:
            notes(f"{name}.{label}", torch.stack([getattr(seen[t], label) for t in steps], dim=1))
    output = torch.stack([seen[t].hidden for t in steps], dim=1)
    return (output if keep is None else output * keep[..., None]), hidden, cell


class Gates(NamedTuple):
    """What one step of an LSTM computes, B D each."""

    input_gate: Tensor
    forget_gate: Tensor
    candidate: Tensor
    output_gate: Tensor
    cell: Tensor
    hidden: Tensor


def step(
    x: Tensor, hidden: Tensor, cell: Tensor, weight_ih: Tensor, weight_hh: Tensor, bias_ih: Tensor, bias_hh: Tensor
) -> Gates:
    """Forget some of the cell, add something new, show some of the result. x, hidden, cell: B D.

    The weights hold the four gates stacked in PyTorch's order: input, forget, candidate, output.
    """
    seen = F.linear(x, weight_ih, bias_ih) + F.linear(hidden, weight_hh, bias_hh)  # B 4D
    input_seen, forget_seen, candidate_seen, output_seen = seen.chunk(4, dim=-1)
    input_gate, forget_gate, output_gate = input_seen.sigmoid(), forget_seen.sigmoid(), output_seen.sigmoid()
    candidate = candidate_seen.tanh()
    cell = forget_gate * cell + input_gate * candidate
    return Gates(input_gate, forget_gate, candidate, output_gate, cell, output_gate * cell.tanh())


def unroll_fused(
    lstm: nn.LSTM, x: Tensor, state: LstmState | None = None, *, keep: Tensor | None = None
) -> tuple[Tensor, LstmState]:
    """The same as `unroll`, by PyTorch's kernel."""
    first = _zeros(lstm, x) if state is None else state
    if keep is None:
        output, last = lstm(x, first)
        return output, LstmState(*last)
    order = (~keep).long().argsort(dim=1, stable=True)  # B T: real tokens first, as packing requires
    lengths = keep.sum(dim=1).clamp(min=1)  # an empty row cannot be packed: let it read one token, undone below
    sorted_x = x.take_along_dim(order[..., None], dim=1)
    packed = pack_padded_sequence(sorted_x, lengths.cpu(), batch_first=True, enforce_sorted=False)
    packed, last = lstm(packed, first)
    output, _ = pad_packed_sequence(packed, batch_first=True, total_length=x.size(1))
    output = output.take_along_dim(order.argsort(dim=1)[..., None], dim=1)
    return output * keep[..., None], LstmState(*last).where(keep.any(dim=1), first)


def recur(
    lstm: nn.LSTM, x: Tensor, state: LstmState | None = None, *, keep: Tensor | None = None, notes: Notes | None = None
) -> tuple[Tensor, LstmState]:
    """Read with the kernel, or, during a trace, gate by gate, so that there are gates to record."""
    if notes is None:
        return unroll_fused(lstm, x, state, keep=keep)
    return unroll(lstm, x, state, keep=keep, notes=notes)


def _zeros(lstm: nn.LSTM, x: Tensor) -> LstmState:
    count = lstm.num_layers * (2 if lstm.bidirectional else 1)
    zeros = x.new_zeros(count, x.size(0), lstm.hidden_size)
    return LstmState(zeros, zeros)
