"""Train a few real steps in a process of its own and see by how much it grew."""

import multiprocessing
import resource
import tempfile
from functools import partial
from pathlib import Path

import numpy as np

PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(["clearformer.run.train", "torch.utils.tensorboard"])
VOCABULARY, ROWS = 4000, 32


def measure(**case) -> tuple[int, int]:
    """Bytes estimated before the first step, and bytes that the process really grew by."""
    ours, theirs = PROCESSES.Pipe()
    process = PROCESSES.Process(target=_measure, args=(theirs, case))
    process.start()
    assert ours.poll(120), "the measuring process did not answer"
    found = ours.recv()
    process.join()
    return found


def _measure(pipe, case) -> None:
    import torch

    from clearformer.data.collate import collate_pairs
    from clearformer.model.build import build
    from clearformer.model.families import transformer
    from clearformer.tasks.next_token import NextTokenObjective, loss
    from clearformer.training.distributed import Ranks
    from clearformer.training.loop import Loop, LoopParts, TrainingConfig
    from clearformer.training.memory_forecast import forecast
    from clearformer.training.optimiser import OptimiserConfig
    from clearformer.training.schedule import ScheduleConfig

    torch.set_num_threads(1)
    (torch.randn(64, 64) @ torch.randn(64, 64)).sum()  # the libraries' own buffers are not the run's
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    generator = np.random.default_rng(1)

    def batch_at(place):
        rows = [tuple(generator.integers(4, VOCABULARY, case["length"] - 1) for _ in range(2)) for _ in range(ROWS)]
        return collate_pairs(rows, pad=0, bos=1, eos=2)

    config = transformer(vocab_size=VOCABULARY, dim=case["dim"], hidden_dim=4 * case["dim"], layers=3, heads=4)
    objective = NextTokenObjective(smoothing=0.1, r_drop=case.get("r_drop", 0.0))
    parts = LoopParts(
        batch_at=batch_at,
        loss=partial(loss, objective=objective),
        validate=lambda model, step: {},
        better=lambda scores: 0.0,
    )
    settings = TrainingConfig(
        steps=3,
        save_every=100,
        optimiser=OptimiserConfig(ema=case.get("ema", 0.0)),
        schedule=ScheduleConfig(warmup=1),
    )
    with tempfile.TemporaryDirectory() as folder:
        loop = Loop(build(config), parts, settings, lambda step: 1e-4, Path(folder), Ranks())
        found = forecast(loop)
        for _ in range(3):
            loop.update()
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    pipe.send((found.total, 1024 * grown))
