"""The recurrent baseline: one LSTM reads the source, another writes the target, with or without attention.

The model has the interface of `EncoderDecoder`, so the same loop trains it and the same search decodes it.

B batch, T target length, S source length, D model width, L LSTM layers, H heads, K head width, V vocabulary.
"""

import torch
from torch import Tensor, nn

from clearformer.model import masks
from clearformer.model.attention import Additive, merge, split
from clearformer.model.attention_context import Memory, position_ids
from clearformer.model.baselines.lstm import LstmState, Notes, recur
from clearformer.model.cache import FixedCache, Places, join_rows
from clearformer.model.dropout import Dropout
from clearformer.model.frontends import Embedded
from clearformer.model.trace import note, notes_of


class RecurrentEncoder(nn.Module):
    """A front end and an LSTM that reads in both directions, half of the width each (Bahdanau et al., 2015)."""

    def __init__(self, front: nn.Module, dim: int, *, layers: int, dropout: float = 0.0) -> None:
        super().__init__()
        if dim % 2:
            raise ValueError(f"each reading direction takes half of the width, so it must be even, not {dim}")
        self.front = front
        between = dropout if layers > 1 else 0.0  # PyTorch drops between layers, and warns where there is only one
        self.lstm = nn.LSTM(dim, dim // 2, layers, batch_first=True, bidirectional=True, dropout=between)

    def forward(self, inputs: Tensor, *, keep: Tensor | None = None) -> Memory:
        """inputs: what the front end takes (tokens: B S). keep: B S, True = real. Returns states B S D."""
        x, keep, _ = self.front(inputs, keep)
        states, _ = recur(self.lstm, x, keep=keep, notes=notes_of(self.lstm))
        note(self, "output", states)
        return Memory(states, keep)


class Bridge(nn.Module):
    """From the encoder's last states to the state that the decoder starts from.

    Each direction's last step has read everything. Sutskever et al. (2014) hand over the state of every layer; here
    the two directions have to become one, so their last outputs are projected into a cell for each decoder layer, and
    shown through an open output gate.
    """

    def __init__(self, dim: int, layers: int) -> None:
        super().__init__()
        self.layers, self.dim = layers, dim
        self.cell_proj = nn.Linear(dim, layers * dim)

    def forward(self, memory: Memory) -> LstmState:
        """memory: states B S D; returns L B D."""
        cell = self.cell_proj(self.ends(memory)).view(-1, self.layers, self.dim).transpose(0, 1).contiguous()
        return LstmState(cell.tanh(), cell)

    def ends(self, memory: Memory) -> Tensor:
        """The forward half at the last real token, the backward half at the first. B D."""
        forward, backward = memory.states.chunk(2, dim=-1)
        if memory.keep is None:
            return torch.cat((forward[:, -1], backward[:, 0]), dim=-1)
        rows = torch.arange(forward.size(0), device=forward.device)
        slots = torch.arange(forward.size(1), device=forward.device)
        first, last = memory.keep.long().argmax(dim=1), (memory.keep * slots).amax(dim=1)
        return torch.cat((forward[rows, last], backward[rows, first]), dim=-1)


class RecurrentCache(Places):
    """A decoder's state between steps; it does not grow."""

    def __init__(self) -> None:
        super().__init__()
        self.state: LstmState | None = None
        self.begun: Tensor | None = None  # B: which rows have a state; None = all, if there is one
        self.fed: Tensor | None = None  # B D: the last step's output, fed to the next step
        self.cross_attn = FixedCache()

    def select(self, rows: Tensor) -> "RecurrentCache":
        """The same cache with its batch rows selected: beams reordered, finished rows dropped, or repeated."""
        chosen = RecurrentCache()
        chosen.choose(self, rows)
        chosen.state = None if self.state is None else self.state.select(rows)
        chosen.begun = None if self.begun is None else self.begun.index_select(0, rows)
        chosen.fed = None if self.fed is None else self.fed.index_select(0, rows)
        chosen.cross_attn = self.cross_attn.select(rows)
        return chosen

    def join(self, other: "RecurrentCache", rows: tuple[int, int]) -> "RecurrentCache":
        """The rows of both. rows: how many each has."""
        both = RecurrentCache()
        both.unite(self, other, rows)
        mine, theirs = ((None, None) if part.state is None else part.state for part in (self, other))
        hidden, cell = (join_rows(*parts, rows, dim=1) for parts in zip(mine, theirs, strict=True))
        if hidden is not None and cell is not None:
            both.state = LstmState(hidden, cell)
            both.begun = torch.cat((self._begun(rows[0], cell.device), other._begun(rows[1], cell.device)))
        both.fed = join_rows(self.fed, other.fed, rows)
        both.cross_attn = self.cross_attn.join(other.cross_attn)
        return both

    def _begun(self, count: int, device: torch.device) -> Tensor:
        if self.begun is not None:
            return self.begun
        return torch.full((count,), self.state is not None, device=device)

    def begin(self, bridge: "Bridge", memory: Memory) -> LstmState:
        """The state before the next step; rows without one start from the encoder's last states."""
        if self.state is not None and self.begun is None:
            return self.state
        first: LstmState = bridge(memory)
        return first if self.state is None or self.begun is None else self.state.where(self.begun, first)

    def store(self, state: LstmState, fed: Tensor | None = None) -> None:
        """Store the state after a step; every row has begun now."""
        self.state, self.begun, self.fed = state, None, fed

    def embed(self, front: nn.Module, tokens: Tensor, keep: Tensor | None) -> Embedded:
        """Look up new tokens; their positions continue those before."""
        positions = position_ids(tokens.shape, keep, self.next_position(), device=tokens.device)
        embedded: Embedded = front(tokens, keep, positions)
        self.place(positions, keep)
        return embedded


class PlainDecoder(nn.Module):
    """An LSTM that knows the source only through the state it starts from (Sutskever et al., 2014)."""

    def __init__(self, front: nn.Module, dim: int, *, layers: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.front, self.bridge = front, Bridge(dim, layers)
        self.lstm = nn.LSTM(dim, dim, layers, batch_first=True, dropout=dropout if layers > 1 else 0.0)
        self.dropout = Dropout(dropout)

    def forward(
        self, tokens: Tensor, memory: Memory, *, keep: Tensor | None = None, cache: RecurrentCache | None = None
    ) -> Tensor:
        """tokens: B T. With a cache only the new tokens are given. Returns states B T D."""
        cache = RecurrentCache() if cache is None else cache
        x, keep, _ = cache.embed(self.front, tokens, keep)
        state = cache.begin(self.bridge, memory)
        x, state = recur(self.lstm, x, state, keep=keep, notes=notes_of(self.lstm))
        cache.store(state)
        output: Tensor = self.dropout(x)
        note(self, "output", output)
        return output

    def start_cache(self, room: int = 64) -> RecurrentCache:
        """An empty cache for `forward`; it does not grow and ignores `room`, which other decoders need."""
        return RecurrentCache()


class AdditiveAttention(nn.Module):
    """Bahdanau's attention: the values are the encoder's states as they are (Bahdanau et al., 2015, A.1.2)."""

    def __init__(self, dim: int, *, heads: int = 1, dropout: float = 0.0) -> None:
        super().__init__()
        if dim % heads:
            raise ValueError(f"{heads} heads do not divide a width of {dim}; choose a divisor")
        self.q_proj = nn.Linear(dim, dim, bias=False)  # one bias is enough: query and key are added
        self.k_proj = nn.Linear(dim, dim)
        self.score = Additive(dim // heads)
        self.heads, self.dropout = heads, dropout

    def project(self, states: Tensor) -> tuple[Tensor, Tensor]:
        """Keys and values of the memory, once for all steps. states: B S D; returns B H S K twice."""
        return split(self.k_proj(states), self.heads), split(states, self.heads)

    def forward(self, x: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, notes: Notes | None = None) -> Tensor:
        """x: B T D; returns what each query found, B T D."""
        q = split(self.q_proj(x), self.heads)
        dropout = self.dropout if self.training else 0.0
        return merge(self.score(q, k, v, mask=mask, dropout=dropout, notes=notes))


class AttentiveDecoder(nn.Module):
    """An LSTM that attends to the source after each step and feeds the result to the next step.

    The scorer is Bahdanau's; the place is Luong's (Luong et al., 2015, section 3): the top state is the query, it
    is combined with what attention found, and the result both predicts the next token and is fed to the next step
    (input feeding), so that the decoder knows where it looked before. Therefore even training runs step by step.
    """

    def __init__(
        self, front: nn.Module, dim: int, *, layers: int, cross_attn: AdditiveAttention, dropout: float = 0.0
    ) -> None:
        super().__init__()
        self.front, self.bridge = front, Bridge(dim, layers)
        self.lstm = nn.LSTM(2 * dim, dim, layers, batch_first=True, dropout=dropout if layers > 1 else 0.0)
        self.cross_attn = cross_attn
        self.combine = nn.Linear(2 * dim, dim, bias=False)
        self.dropout = Dropout(dropout)

    def forward(
        self, tokens: Tensor, memory: Memory, *, keep: Tensor | None = None, cache: RecurrentCache | None = None
    ) -> Tensor:
        """tokens: B T. With a cache only the new tokens are given. Returns states B T D."""
        cache = RecurrentCache() if cache is None else cache
        x, keep, _ = cache.embed(self.front, tokens, keep)
        state = cache.begin(self.bridge, memory)
        fed = torch.zeros_like(x[:, 0]) if cache.fed is None else cache.fed
        k, v = cache.cross_attn.extend(lambda: self.cross_attn.project(memory.states))
        mask = None if memory.keep is None else masks.padding(memory.keep)
        gates, looks = Frames.of(self.lstm), Frames.of(self.cross_attn)
        outputs = []
        for t in range(x.size(1)):
            top, new = recur(self.lstm, torch.cat((x[:, t], fed), dim=-1)[:, None], state, notes=gates)
            found = self.cross_attn(top, k, v, mask, looks)
            combined = self.dropout(self.combine(torch.cat((found, top), dim=-1)).tanh())[:, 0]  # B D
            outputs.append(combined)
            if keep is None:
                state, fed = new, combined
            else:
                state, fed = new.where(keep[:, t], state), torch.where(keep[:, t, None], combined, fed)
        cache.store(state, fed)
        for frames in (gates, looks):
            if frames is not None:
                frames.hand_over()
        output = torch.stack(outputs, dim=1)
        note(self, "output", output)
        return output

    def start_cache(self, room: int = 64) -> RecurrentCache:
        """An empty cache for `forward`; it does not grow and ignores `room`, which other decoders need."""
        return RecurrentCache()


class Frames:
    """Values noted at single steps, passed on as one value for the whole sequence."""

    def __init__(self, notes: Notes) -> None:
        self._notes = notes
        self._values: dict[str, list[Tensor]] = {}

    @classmethod
    def of(cls, module: nn.Module) -> "Frames | None":
        """Frames for a module, or None when no trace is running."""
        notes = notes_of(module)
        return None if notes is None else cls(notes)

    def __call__(self, label: str, value: Tensor) -> None:
        self._values.setdefault(label, []).append(value)

    def hand_over(self) -> None:
        """Join the steps: time is the last dimension but one, in gates (B T D) as in weights (B H T S)."""
        for label, values in self._values.items():
            self._notes(label, torch.cat(values, dim=-2))
