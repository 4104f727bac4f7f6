"""Train a Transformer in a few seconds, in plain PyTorch: it learns to write eight letters backwards.

The model is the package's ordinary encoder–decoder, small; the loop is a dozen lines. Nobody tells it which
letter of the source to look at while it writes: attention learns that.
"""

import torch
import torch.nn.functional as F
from torch import Tensor

import clearformer as cf
from clearformer.model import families
from clearformer.model.config import DropoutConfig, NormConfig
from clearformer.model.transformer import EncoderDecoder

LETTERS = "abcdefghijklmnopqrstuvwxyz"
START, END = 26, 27
LENGTH = 8


def small_model() -> EncoderDecoder:
    """One layer per side, 64 wide, four heads: the 2017 model, but pre-norm."""
    return cf.build(
        families.transformer(
            vocab_size=28,
            dim=64,
            hidden_dim=128,
            layers=1,
            heads=4,
            norm=NormConfig(place="pre"),
            dropout=DropoutConfig.everywhere(0.0),
        )
    )


def learn(model: EncoderDecoder, steps: int = 200) -> float:
    """Train on random words and their reverse; returns the share of new words without a mistake."""
    optimiser = torch.optim.Adam(model.parameters(), lr=5e-3, betas=(0.9, 0.98))
    schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda s: min(1, s / 50, 2.5 * (steps - s) / steps))
    for _ in range(steps):
        source, given, wanted = draw(rows=64, length=LENGTH)
        loss = F.cross_entropy(model(source, given).flatten(0, 1), wanted.flatten())
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        schedule.step()
    source, given, wanted = draw(rows=500, length=LENGTH)
    with torch.no_grad():
        return (model(source, given).argmax(-1) == wanted).all(dim=1).float().mean().item()


def draw(rows: int, length: int) -> tuple[Tensor, Tensor, Tensor]:
    """Random words with their end, their reverse after the start symbol, and their reverse with its end. B T each."""
    words = torch.randint(len(LETTERS), (rows, length))
    start, end = torch.full((rows, 1), START), torch.full((rows, 1), END)
    return torch.cat((words, end), 1), torch.cat((start, words.flip(1)), 1), torch.cat((words.flip(1), end), 1)


@torch.no_grad()
def write(model: EncoderDecoder, word: str) -> tuple[str, Tensor]:
    """The model's own output, letter by letter, and each head's attention weights for each letter: H T S."""
    memory = model.encode(torch.tensor([[LETTERS.index(letter) for letter in word] + [END]]))
    written = [START]
    with cf.trace(model, only=["decoder.layers.0.cross_attn.weights"]) as seen:
        while written[-1] != END and len(written) <= 2 * LENGTH:
            written.append(int(model.decode(torch.tensor([written]), memory)[0, -1].argmax()))
    [weights] = seen["decoder.layers.0.cross_attn.weights"]  # of the last step, which has all letters
    text = "".join(LETTERS[token] for token in written[1:] if token < len(LETTERS))
    return text, weights[:, : len(text), : len(word)]


if __name__ == "__main__":
    torch.manual_seed(2017)
    model = small_model()
    print(f"{learn(model):.0%} of new words written backwards without a mistake")
    for word in ("desserts", "notebook", "mountain"):
        print(f"{word} -> {write(model, word)[0]}")
