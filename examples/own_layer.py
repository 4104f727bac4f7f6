"""Use one part in your own network: `Attention` is an ordinary `nn.Module`.

The task: tell for each number of a row whether it occurs again in the row. Without looking at the others that is
impossible; one attention layer and a few seconds are enough. Nothing else of the package is used.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from clearformer.model.attention import Attention
from clearformer.model.attention_context import AttentionContext

NUMBERS, LENGTH, DIM = 24, 12, 48


class Twins(nn.Module):
    """Embed, let every number look at every other, decide. numbers: B T; returns B T, positive = occurs again."""

    def __init__(self, *, look: bool) -> None:
        super().__init__()
        self.embed = nn.Embedding(NUMBERS, DIM)
        self.attention = Attention(DIM, heads=4) if look else None
        self.decide = nn.Sequential(nn.Linear(DIM, 2 * DIM), nn.ReLU(), nn.Linear(2 * DIM, 1))

    def forward(self, numbers: Tensor) -> Tensor:
        x = self.embed(numbers)
        if self.attention is not None:
            slots = torch.arange(numbers.size(1))[None]
            elsewhere = ~torch.eye(numbers.size(1), dtype=torch.bool)  # True = may look: at all but itself
            x = x + self.attention(x, AttentionContext(slots, slots, mask=elsewhere))
        return self.decide(x).squeeze(-1)


def draw(rows: int) -> tuple[Tensor, Tensor]:
    """Rows of numbers, and which of them occur twice or more."""
    numbers = torch.randint(NUMBERS, (rows, LENGTH))
    return numbers, (numbers[:, :, None] == numbers[:, None, :]).sum(-1) > 1


def learn(model: nn.Module, steps: int = 200) -> float:
    """Train on random rows; returns the share of right answers on new rows."""
    optimiser = torch.optim.Adam(model.parameters(), lr=3e-3)
    for _ in range(steps):
        numbers, twins = draw(128)
        loss = F.binary_cross_entropy_with_logits(model(numbers), twins.float())
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    numbers, twins = draw(1000)
    return ((model(numbers) > 0) == twins).float().mean().item()


def main() -> None:
    for look in (False, True):
        torch.manual_seed(1)
        print(f"{'with' if look else 'without'} attention: {learn(Twins(look=look)):.1%} right")


if __name__ == "__main__":
    main()
