import torch

from clearformer.training.distributed import Ranks
from clearformer.training.metrics_log import read_records
from training.ranks import CHANGES, Halves, together
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


def whole(folder):
    """One process that takes the batches of both ranks."""

    class Both(Halves):
        def __init__(self):
            super().__init__(0, 1)

    loop = make_loop(folder, Both(), accumulate=2, **CHANGES)
    loop.run()
    return loop


def weights(folder):
    loop = make_loop(folder, Spelling(), **CHANGES)
    assert loop.resume() == 12
    return torch.cat([p.detach().flatten() for p in loop.training.model.parameters()])


def records(folder):
    kept = ("step", "kind", "loss", "tokens", "score")
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
