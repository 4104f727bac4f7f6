"""Two real processes that train together over the loopback interface."""

import multiprocessing
import os
import socket
from dataclasses import replace
from pathlib import Path

import torch

from clearformer.training.loss import cross_entropy
from training.toy import Spelling, letters_at, make_loop

PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(["clearformer.run.train", "torch.utils.tensorboard"])
CHANGES = {"steps": 12, "save_every": 5, "validate_every": 6}
DEVELOPMENT = [letters_at(1000 + place) for place in range(7)]


def together(folder: Path, what: str) -> None:
    """Run one of the jobs below as two ranks; both have to end well."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    ranks = [PROCESSES.Process(target=_rank, args=(rank, port, folder, what)) for rank in range(2)]
    for process in ranks:
        process.start()
    for process in ranks:
        process.join(120)
    codes = [process.exitcode for process in ranks]
    for process in ranks:
        process.kill()
    assert codes == [0, 0], f"the ranks ended with {codes}"


class Halves(Spelling):
    """Rank r of n takes every nth batch of the toy task; without dropout, so that processes can be compared."""

    def __init__(self, rank: int, count: int, **options) -> None:
        super().__init__(**options)
        self.rank, self.count = rank, count

    def batch_at(self, place):
        return letters_at(self.count * place + self.rank), self.bad.get(self.count * place + self.rank, 1.0)

    def loss(self, model, batch):
        model.dropout.p = 0.0
        return super().loss(model, batch)


def _rank(rank: int, port: int, folder: Path, what: str) -> None:
    torch.set_num_threads(1)
    os.environ |= {"RANK": str(rank), "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    JOBS[what](rank, folder)


def train(rank: int, folder: Path) -> None:
    loop = make_loop(folder, Halves(rank, 2), **CHANGES)
    loop.resume()
    loop.run()
    loop.ranks.close()


def roll_back(rank: int, folder: Path) -> None:
    bad = dict.fromkeys(range(14, 24, 2), float("nan"))  # bad for the first rank alone
    loop = make_loop(folder, Halves(rank, 2, bad=bad), **CHANGES)
    assert loop.run().rollbacks == 1
    loop.ranks.close()


def stop_one(rank: int, folder: Path) -> None:
    """A signal reaches the second rank only, in the middle of step 7."""
    from clearformer.training.signals import Stop

    loop, stop = make_loop(folder, Halves(rank, 2), **CHANGES), Stop()

    def watch(report):
        stop.asked = rank == 1 and report.progress.step >= 7

    assert loop.run(watch=watch, stop=stop).step == 7
    loop.ranks.close()


def agree(rank: int, folder: Path) -> None:
    """The sums, and what is made of them."""
    from clearformer.training.distributed import Ranks

    ranks = Ranks()
    assert (ranks.rank, ranks.count, ranks.first) == (rank, 2, rank == 0)
    assert ranks.sum(1.5 + rank, 10.0) == (4.0, 20.0)
    assert ranks.share(7.0 + rank) == 7.0
    assert ranks.any(rank == 1)
    assert not ranks.any(False)
    gradients = [torch.full((2, 2), 1.0 + rank), torch.full((3,), 10.0 * rank)]
    ranks.sum_tensors(gradients)
    assert torch.equal(gradients[0], torch.full((2, 2), 3.0))
    assert torch.equal(gradients[1], torch.full((3,), 10.0))
    with ranks.first_then_others():
        if ranks.first:
            folder.mkdir()
        assert folder.exists()
    ranks.close()


WORK = ["Straße", "雪\n", "", "🦊 fox", "\ud800", None, "seven"]  # an odd number: the first rank has one more


def share_out(rank: int, folder: Path) -> None:
    """Work that is shared out comes back in its order, whole, on every rank."""
    from clearformer.training.distributed import Ranks

    ranks = Ranks()
    for count in range(len(WORK) + 1):
        mine = ranks.share_out(WORK[:count])
        assert len(mine) == (count + 1 - rank) // 2
        assert ranks.collect([{"text": item, "long": [item] * 100 * rank} for item in mine]) == [
            {"text": item, "long": [item] * 100 * (place % 2)} for place, item in enumerate(WORK[:count])
        ]
    ranks.close()


def validate(rank: int, folder: Path) -> None:
    """Both ranks look at their part of a development set, and both know the score of the whole."""
    spelling = Halves(rank, 2)
    loop = make_loop(folder, spelling, **CHANGES)
    loop.parts = replace(loop.parts, validate=lambda model, step: mean_loss(model, loop.ranks))
    loop.run()
    (folder / f"best-{rank}.txt").write_text(repr(loop.training.progress.best))
    loop.ranks.close()


def mean_loss(model, ranks) -> dict[str, float]:
    """The mean over seven development batches of unequal size, each of which one rank looks at."""
    seen = [cross_entropy(model(x[:, :-1]), x[:, 1:], x[:, 1:] >= 0) for x in ranks.share_out(DEVELOPMENT)]
    total, count = ranks.sum(sum(float(one.total.detach()) for one in seen), sum(one.count for one in seen))
    return {"score": -total / count, "seen": count}


JOBS = {
    "train": train,
    "train, one asked to stop": stop_one,
    "roll back": roll_back,
    "agree": agree,
    "share out": share_out,
    "validate": validate,
}
