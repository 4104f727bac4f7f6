import math
from dataclasses import replace

import pytest
import safetensors.torch
import torch
from safetensors import SafetensorError

from clearformer.training.distributed import Ranks
from clearformer.training.loop import Loop, LoopParts, TrainingConfig, WithLoss
from clearformer.training.loss import cross_entropy
from clearformer.training.metrics_log import read_records
from clearformer.training.optimiser import OptimiserConfig
from clearformer.training.schedule import ScheduleConfig
from clearformer.training.signals import Stop
from training.toy import Speller, Spelling, letters_at, make_loop


def state(loop):
    """Everything that a checkpoint holds, as bytes."""
    newest = loop.checkpoints.path(loop.checkpoints.steps()[-1])
    return {path.name: path.read_bytes() for path in newest.iterdir()}


def records(folder):
    return [
        {key: value for key, value in record.items() if key != "time"}
        for record in read_records(folder / "metrics.jsonl")
    ]


def stop_after(steps):
    """A stop that is asked for at a step, and the watcher that asks."""
    stop = Stop()

    def watch(report):
        stop.asked = stop.asked or report.progress.step >= steps

    return {"stop": stop, "watch": watch}


def run_with_stops(folder, stops, make):
    """Run, stopping and resuming with fresh objects at each of the steps, and then to the end."""
    for step in stops:
        loop = make(folder)
        loop.resume()
        loop.run(**stop_after(step))
    loop = make(folder)
    loop.resume()
    loop.run()
    return loop


def test_training_learns(tmp_path):
    loop = make_loop(tmp_path, steps=60)
    loop.run()
    losses = [record["loss"] for record in records(tmp_path) if record["kind"] == "train"]
    assert len(losses) == 60
    assert sum(losses[-10:]) < 0.9 * sum(losses[:10])


def test_every_place_of_the_plan_is_taken_once_and_in_order(tmp_path):
    spelling = Spelling()
    make_loop(tmp_path, spelling, accumulate=3).run()
    assert spelling.places == list(range(60))


@pytest.mark.parametrize("stops", [(0,), (1,), (7,), (10,), (19,), (20,), (3, 4, 5, 13)])
@pytest.mark.parametrize(
    "changes",
    [{}, {"accumulate": 2, "optimiser": OptimiserConfig(ema=0.9, clip=0.5, decay=0.1), "log_every": 3}],
    ids=["plain", "with everything"],
)
def test_a_run_that_stops_and_goes_on_ends_with_the_same_bits(tmp_path, stops, changes):
    whole = make_loop(tmp_path / "whole", **changes)
    whole.run()
    pieces = run_with_stops(tmp_path / "pieces", stops, lambda folder: make_loop(folder, **changes))
    assert state(pieces) == state(whole)
    assert records(tmp_path / "pieces") == records(tmp_path / "whole")
    assert pieces.checkpoints.steps() == whole.checkpoints.steps()


def test_the_checkpoint_of_an_interruption_pushes_no_other_one_out(tmp_path):
    """With three to keep, a run stopped at 17 and resumed still has 10, 15 and 20, and 17 is gone."""
    run_with_stops(tmp_path, (12, 17), lambda folder: make_loop(folder, keep=3, validate_every=100))
    assert [path.name for path in sorted((tmp_path / "checkpoints").iterdir())] == ["00000010", "00000015", "00000020"]


def test_two_micro_batches_equal_one_batch_of_both(tmp_path):
    """Sums are divided once, by all tokens: batches of 4 and 12 letters weigh 1 to 3, not 1 to 1."""
    parts = {0: letters_at(0)[:1, :5], 1: letters_at(3)[:, :4].repeat(2, 1), 2: letters_at(8)[:2, :3]}
    assert len({part.numel() for part in parts.values()}) == 3

    def loss(model, batch):
        model.eval()  # without dropout, which is drawn anew for each pass
        totals = [cross_entropy(model(x[:, :-1]), x[:, 1:], torch.ones_like(x[:, 1:], dtype=torch.bool)) for x in batch]
        return totals[0]._replace(
            total=sum(part.total for part in totals),
            count=sum(part.count for part in totals),
            metrics={"nll": sum(part.metrics["nll"] for part in totals)},
        )

    def weights(accumulate, batch_at):
        torch.manual_seed(7)
        parts = LoopParts(batch_at=batch_at, loss=loss, validate=lambda m, s: {"x": 0.0}, better=lambda s: 0.0)
        config = TrainingConfig(steps=1, accumulate=accumulate, save_every=5)
        model = Speller()
        folder = tmp_path / str(accumulate)
        Loop(model, parts, config, lambda step: 0.1, folder, Ranks()).run()
        return torch.cat([p.detach().flatten() for p in model.parameters()]), records(folder)

    apart, _ = weights(3, lambda place: [parts[place]])
    together, _ = weights(1, lambda place: list(parts.values()))
    torch.testing.assert_close(apart, together, rtol=0, atol=1e-6)


def test_dropout_depends_on_the_place_and_on_nothing_else(tmp_path):
    loop = make_loop(tmp_path)
    model = loop.training.model.train()

    def passed(place):
        torch.manual_seed(loop.seed(place))
        return model(letters_at(0))

    first = passed(4)
    torch.rand(100)
    assert torch.equal(passed(4), first)
    assert not torch.equal(passed(5), first)


@pytest.mark.parametrize("factor", [math.nan, math.inf, 1e3])
def test_an_unusable_loss_is_skipped_and_counted(tmp_path, factor):
    """The run makes as many steps as before, from the data behind the bad batches."""
    spelling = Spelling(bad={6: factor, 9: factor, 10: factor})
    loop = make_loop(tmp_path, spelling)
    progress = loop.run()
    assert (progress.step, progress.position, progress.skipped, progress.rollbacks) == (20, 23, 3, 0)
    assert all(bool(p.isfinite().all()) for p in loop.training.model.parameters())
    assert [record["skipped"] for record in records(tmp_path) if record["kind"] == "train"][-1] == 3


def test_skipping_leaves_no_trace_in_the_weights(tmp_path):
    """Batches in their order without the bad one give the same weights as with it, skipped."""
    skipping = make_loop(tmp_path / "a", Spelling(bad={4: math.nan}), steps=8, save_every=100)
    skipping.run()
    spelling = Spelling()
    without = make_loop(tmp_path / "b", spelling, steps=8, save_every=100)
    without.parts = replace(
        without.parts, batch_at=lambda place: spelling.batch_at(place + (place >= 4)), better=lambda scores: 0.0
    )
    real_seed = without.seed
    without.seed = lambda place: real_seed(place + (place >= 4))
    without.run()
    for one, other in zip(skipping.training.model.parameters(), without.training.model.parameters(), strict=True):
        assert torch.equal(one, other)


def test_a_refused_update_repeats_neither_validation_nor_save(tmp_path):
    """Bad batches right after steps 10 and 20, where everything is due, and before the first step."""
    spelling = Spelling(bad={0: math.nan, 11: math.nan, 12: math.nan, 23: math.nan})
    make_loop(tmp_path, spelling, steps=25, patience=3).run()
    assert spelling.validated == [10, 20]
    assert [record["step"] for record in records(tmp_path) if record["kind"] == "validation"] == [10, 20]


BAD_TWICE = {13: math.nan, 14: math.nan, 15: math.nan, 16: 1e4, 17: math.inf} | dict.fromkeys(range(24, 29), math.nan)


def test_five_in_a_row_roll_back_and_training_goes_on_behind_the_bad_data(tmp_path):
    spelling = Spelling(bad=BAD_TWICE)
    progress = make_loop(tmp_path, spelling, steps=30).run()
    assert (progress.step, progress.rollbacks, progress.skipped) == (30, 2, 10)
    assert spelling.places == list(range(progress.position))  # no batch was taken twice, the bad ones neither
    first, second = (record for record in records(tmp_path) if record["kind"] == "rollback")
    assert (first["step"], first["from_step"], first["skipped"]) == (10, 13, 5)
    assert (second["step"], second["rollbacks"], second["skipped"]) == (15, 2, 10)


@pytest.mark.parametrize("stops", [(12,), (13,), (11, 14, 17), (16, 22)])
def test_resuming_before_or_after_a_rollback_is_exact(tmp_path, stops):
    """In particular the rollback leads to step 10, not to the checkpoint that an interruption left at 12."""

    def make(folder):
        return make_loop(folder, Spelling(bad=BAD_TWICE), steps=30, log_every=2)

    whole = make(tmp_path / "whole")
    whole.run()
    pieces = run_with_stops(tmp_path / "pieces", stops, make)
    assert state(pieces) == state(whole)
    assert records(tmp_path / "pieces") == records(tmp_path / "whole")


def test_a_loss_that_stays_unusable_ends_the_run_with_a_remedy(tmp_path):
    spelling = Spelling(bad=dict.fromkeys(range(13, 1000), math.nan))
    with pytest.raises(ArithmeticError, match=r"10 rollbacks to step 10; lower training\.schedule\.peak"):
        make_loop(tmp_path, spelling).run()


def test_a_nearly_perfect_model_may_have_a_hard_batch(tmp_path):
    loop = make_loop(tmp_path)
    loop.training.progress.smooth_loss = 1e-5
    assert loop.acceptable(0.5, 1.0)
    assert not loop.acceptable(5.0, 1.0)


def test_patience_ends_a_run_at_the_first_of_too_many_worse_validations(tmp_path):
    scores = {5: 1.0, 10: 3.0, 15: 2.0, 20: 2.9, 25: math.nan, 30: 4.0}
    loop = make_loop(tmp_path, Spelling(scores=scores), steps=100, validate_every=5, patience=3)
    progress = loop.run()
    assert (progress.step, progress.best, progress.best_step, progress.stale) == (25, 3.0, 10, 3)
    assert (tmp_path / "checkpoints" / "best").resolve().name == "00000010"
    again = make_loop(tmp_path, Spelling(scores=scores), steps=100, validate_every=5, patience=3)
    again.resume()
    assert again.done()


def test_a_score_that_is_not_a_number_is_never_the_best(tmp_path):
    loop = make_loop(tmp_path, Spelling(scores={10: math.nan, 20: -5.0}))
    assert loop.run().best == -5.0


def test_validation_sees_the_average_and_training_goes_on_with_the_weights(tmp_path):
    seen = {}
    spelling = Spelling()
    loop = make_loop(tmp_path, spelling, optimiser=OptimiserConfig(ema=0.5))
    real = spelling.validate

    def validate(model, step):
        seen[step] = [p.detach().clone() for p in model.parameters()]
        return real(model, step)

    loop.parts = replace(loop.parts, validate=validate, better=lambda scores: 0.0)
    loop.run()
    for shown, average, weight in zip(
        seen[20], loop.training.ema.weights.values(), loop.training.model.parameters(), strict=True
    ):
        assert torch.equal(shown, average)
        assert not torch.equal(shown, weight)


def test_bfloat16_trains_too(tmp_path):
    loop = make_loop(tmp_path, precision="bfloat16")
    assert loop.run().step == 20
    assert all(p.dtype == torch.float32 for p in loop.training.model.parameters())


def test_the_gradient_is_clipped_to_its_norm(tmp_path):
    loop = make_loop(tmp_path, optimiser=OptimiserConfig(clip=0.25))
    batch = loop.parts.batch_at(0)
    loss = loop.parts.loss(loop.training.model, batch)
    loss.total.backward()
    before = loop.gather_gradients(1.0)
    after = torch.cat([p.grad.flatten() for p in loop.training.model.parameters()]).norm()
    assert before > 1
    assert after.item() == pytest.approx(0.25, rel=1e-4)


@pytest.mark.parametrize(
    ("name", "value"), [("steps", 0), ("accumulate", 0), ("keep", -1), ("replicas", -1), ("batch_examples", 0)]
)
def test_settings_that_make_no_sense_are_named(name, value):
    with pytest.raises(ValueError, match=rf"training\.{name} must .*{value}"):
        TrainingConfig(**{name: value})


@pytest.mark.parametrize("warmup", [20, 4000, 0.99])
def test_a_warm_up_as_long_as_the_run_is_refused(warmup):
    """The rate would only rise: nothing that such a run learns is worth its time."""
    with pytest.raises(ValueError, match=r"schedule\.warmup is (20|4000) steps, but the run has 20, so .* shorten"):
        TrainingConfig(steps=20, schedule=ScheduleConfig(warmup=warmup))
    TrainingConfig(steps=20, schedule=ScheduleConfig(warmup=19))
    TrainingConfig(steps=20, schedule=ScheduleConfig(warmup=0.5))
    TrainingConfig(steps=20, schedule=ScheduleConfig(kind="constant", warmup=warmup))  # that has no way down


def test_metrics_are_logged_as_means_over_what_the_loss_counts(tmp_path):
    """Whatever a task measures: here how many letters were right, over two micro-batches of unequal size a step."""
    spelling = Spelling()
    loop, nlls = make_loop(tmp_path, spelling, accumulate=2, log_every=5, steps=5), []

    def loss(model, batch):
        found = spelling.loss(model, batch)
        nlls.append(float(found.metrics["nll"]))
        return found._replace(metrics={**found.metrics, "right": torch.tensor(0.5 * found.count)})

    loop.with_loss = WithLoss(loop.training.model, loss)
    progress = loop.run()
    assert progress.count == sum(letters_at(place)[:, 1:].numel() for place in range(10))
    (record,) = (record for record in records(tmp_path) if record["kind"] == "train")
    assert record["right"] == pytest.approx(0.5)
    assert record["count"] == progress.count
    assert record["perplexity"] == pytest.approx(math.exp(sum(nlls) / progress.count))
    assert "nll" not in record  # it is the perplexity's logarithm


def test_a_task_without_a_likelihood_logs_no_perplexity(tmp_path):
    spelling = Spelling()
    loop = make_loop(tmp_path, spelling, steps=2)
    loop.with_loss = WithLoss(loop.training.model, lambda *args: spelling.loss(*args)._replace(metrics={}))
    loop.run()
    trained = [record for record in records(tmp_path) if record["kind"] == "train"]
    assert len(trained) == 2
    assert all("loss" in record and "perplexity" not in record for record in trained)


def test_replicas_learn_what_one_model_learns(tmp_path):
    """Rows in three threads, two micro-batches a step; without dropout, which each replica draws for itself."""

    def weights(replicas):
        spelling = Spelling()
        loop = make_loop(tmp_path / str(replicas), spelling)
        loop.training.model.dropout.p = 0.0
        parts = replace(loop.parts, split=lambda batch, count: [(rows, batch[1]) for rows in batch[0].chunk(count)])
        config = replace(loop.config, replicas=replicas, accumulate=2)
        loop = Loop(loop.training.model, parts, config, lambda step: 0.01, tmp_path / str(replicas), Ranks())
        assert (loop.replicas is None) == (replicas == 1)
        loop.run()
        return torch.cat([p.detach().flatten() for p in loop.training.model.parameters()])

    torch.testing.assert_close(weights(3), weights(1), rtol=0, atol=1e-5)


def test_a_full_disk_names_the_file_and_the_checkpoint_before_still_loads(tmp_path, monkeypatch):
    """The disk fills up at the third save; with room again the run goes on to the same end."""
    whole = make_loop(tmp_path / "whole")
    whole.run()
    real, calls = safetensors.torch.save_file, []

    def full(tensors, path):
        calls.append(path)
        if len(calls) > 4:  # two files a checkpoint: steps 0 and 5 are saved, 10 is not
            raise SafetensorError("I/O error: No space left on device (os error 28)")
        return real(tensors, path)

    monkeypatch.setattr(safetensors.torch, "save_file", full)
    with pytest.raises(OSError, match=r"00000010 could not be written: model\.safetensors: .*No space left"):
        make_loop(tmp_path / "full").run()
    monkeypatch.undo()
    again = make_loop(tmp_path / "full")
    assert again.resume() == 5
    again.run()
    assert state(again) == state(whole)
    assert records(tmp_path / "full") == records(tmp_path / "whole")


def test_an_update_leaves_a_mark_on_every_weight(tmp_path):
    """A decoder that laid the weights out for speed has to notice that they were learned since."""
    loop = make_loop(tmp_path)
    before = [p._version for p in loop.training.model.parameters()]
    loop.update()
    after = [p._version for p in loop.training.model.parameters()]
    assert all(new > old for new, old in zip(after, before, strict=True))
