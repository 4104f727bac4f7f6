"""A task for the loop that is small enough to be checked by hand, and an account of what it was fed."""

import torch
from torch import nn

from clearformer.training.distributed import Ranks
from clearformer.training.loop import Loop, LoopParts, TrainingConfig
from clearformer.training.loss import cross_entropy
from clearformer.training.schedule import ScheduleConfig

VOCABULARY, WIDTH = 11, 8


class Speller(nn.Module):
    """Predicts the next of a few letters; has dropout, a table that is used twice, and a matrix."""

    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Embedding(VOCABULARY, WIDTH)
        self.mix = nn.Linear(WIDTH, WIDTH)
        self.dropout = nn.Dropout(0.2)

    def forward(self, letters):
        return self.dropout(self.mix(self.table(letters)).tanh()) @ self.table.weight.T


def letters_at(place):
    """A batch that depends on its place alone; every place has another number of letters."""
    generator = torch.Generator().manual_seed(place)
    rows, length = 2 + place % 3, 3 + place % 5
    return torch.randint(VOCABULARY, (rows, length), generator=generator)


class Spelling:
    """The toy task: remembers the places it was asked for; `bad` maps places to a factor on their loss."""

    def __init__(self, bad=None, scores=None) -> None:
        self.places, self.bad, self.scores, self.validated = [], bad or {}, scores, []

    def batch_at(self, place):
        self.places.append(place)
        return letters_at(place), self.bad.get(place, 1.0)

    def loss(self, model, batch):
        letters, factor = batch
        logits = model(letters[:, :-1])
        loss = cross_entropy(logits, letters[:, 1:], torch.ones_like(letters[:, 1:], dtype=torch.bool), 0.1)
        return loss._replace(total=loss.total * factor)

    def validate(self, model, step):
        assert not model.training
        self.validated.append(step)
        with torch.no_grad():
            loss = self.loss(model, (letters_at(10**6), 1.0))
        score = -float(loss.metrics["nll"]) if self.scores is None else self.scores[step]
        return {"score": score, "sample": f"schön → {step}"}

    def parts(self):
        return LoopParts(
            batch_at=self.batch_at, loss=self.loss, validate=self.validate, better=lambda scores: float(scores["score"])
        )


def make_loop(folder, spelling=None, **changes):
    """A loop over the toy task with a fresh model, always the same one."""
    torch.manual_seed(7)
    settings = {"steps": 20, "save_every": 5, "validate_every": 10, "log_every": 1, "keep": 2} | changes
    settings.setdefault("schedule", ScheduleConfig(kind="constant", peak=0.01, warmup=1))
    spelling = spelling or Spelling()
    return Loop(Speller(), spelling.parts(), TrainingConfig(**settings), lambda step: 0.01, folder, Ranks())
