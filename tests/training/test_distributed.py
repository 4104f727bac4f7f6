from dataclasses import replace

import pytest
import torch

from clearformer.training.distributed import Ranks
from clearformer.training.metrics_log import read_records
from training.ranks import CHANGES, DEVELOPMENT, Halves, mean_loss, together
from training.toy import Spelling, make_loop


def test_alone_there_is_nothing_to_add_up(monkeypatch):
    monkeypatch.delenv("WORLD_SIZE", raising=False)
    ranks = Ranks()
    assert ranks.first
    assert ranks.sum(1.5, 2.0) == (1.5, 2.0)
    assert ranks.any(True)
    assert ranks.share(3.0) == 3.0
    with ranks.first_then_others():
        ranks.wait()
    ranks.close()


def test_ranks_add_up_and_agree(tmp_path):
    together(tmp_path / "made-by-the-first", "agree")


class Both(Halves):
    """The batches of both ranks for one process."""

    def __init__(self):
        super().__init__(0, 1)


def whole(folder):
    """One process that takes the batches of both ranks."""

    loop = make_loop(folder, Both(), accumulate=2, **CHANGES)
    loop.run()
    return loop


def weights(folder):
    loop = make_loop(folder, Spelling(), **CHANGES)
    assert loop.resume() == 12
    return torch.cat([p.detach().flatten() for p in loop.training.model.parameters()])


def records(folder):
    kept = ("step", "kind", "loss", "count", "score")
    return [{key: record[key] for key in kept if key in record} for record in read_records(folder / "metrics.jsonl")]


def test_two_ranks_equal_one_process_with_both_batches(tmp_path):
    """Though the batches of a step have different token counts. Losses and weights agree to rounding."""
    together(tmp_path / "two", "train")
    whole(tmp_path / "one")
    torch.testing.assert_close(weights(tmp_path / "two"), weights(tmp_path / "one"), rtol=0, atol=2e-6)
    two, one = records(tmp_path / "two"), records(tmp_path / "one")
    assert len(two) == len(one) == 14
    for ours, theirs in zip(two, one, strict=True):
        torch.testing.assert_close(
            {key: value for key, value in ours.items() if key != "kind"},
            {key: value for key, value in theirs.items() if key != "kind"},
            rtol=1e-5,
            atol=1e-5,
        )


def test_a_signal_to_one_rank_stops_both_at_the_same_step_and_resuming_is_exact(tmp_path):
    together(tmp_path / "stopped", "train, one asked to stop")
    together(tmp_path / "stopped", "train")
    together(tmp_path / "whole", "train")
    assert torch.equal(weights(tmp_path / "stopped"), weights(tmp_path / "whole"))
    assert records(tmp_path / "stopped") == records(tmp_path / "whole")


def test_a_loss_that_is_bad_on_one_rank_rolls_both_back(tmp_path):
    together(tmp_path, "roll back")


def test_shared_out_work_comes_back_in_its_order(tmp_path):
    """Also for unequal parts, for nothing at all, and for text of any script."""
    together(tmp_path, "share out")


def test_alone_all_of_the_work_is_one_s_own(monkeypatch):
    monkeypatch.delenv("WORLD_SIZE", raising=False)
    assert Ranks().share_out("abc") == Ranks().collect("abc") == ["a", "b", "c"]


def test_validation_on_two_ranks_equals_one(tmp_path):
    """Each looks at a part of the development set; the best score is the same number on both."""
    together(tmp_path / "two", "validate")
    first, second = ((tmp_path / "two" / f"best-{rank}.txt").read_text() for rank in range(2))
    assert first == second
    loop = make_loop(tmp_path / "one", Both(), accumulate=2, **CHANGES)
    loop.parts = replace(loop.parts, validate=lambda model, step: mean_loss(model, loop.ranks))
    assert loop.run().best == pytest.approx(float(first), rel=1e-5)
    one, two = (
        [record for record in read_records(tmp_path / name / "metrics.jsonl") if record["kind"] == "validation"]
        for name in ("one", "two")
    )
    assert [record["step"] for record in two] == [record["step"] for record in one] == [6, 12]
    assert all(record["seen"] == sum(x[:, 1:].numel() for x in DEVELOPMENT) for record in one + two)
