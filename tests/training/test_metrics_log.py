import json
import math
import resource
import signal

import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from clearformer.training.metrics_log import MetricsLog, read_records


def write_some(folder, steps, **options):
    record = MetricsLog(folder, **options)
    for step in steps:
        record.write("train", step, loss=1 / step, sample=f"schön → {step}\u2028雪")
    record.close()


def test_one_valid_json_a_line(tmp_path):
    write_some(tmp_path, range(1, 4))
    lines = (tmp_path / "metrics.jsonl").read_text(encoding="utf-8").split("\n")
    assert lines.pop() == ""
    assert [json.loads(line)["step"] for line in lines] == [1, 2, 3]
    assert json.loads(lines[0]) == {"step": 1, "kind": "train", "loss": 1.0, "sample": "schön → 1\u2028雪"}


def test_what_is_no_number_is_null_because_json_has_no_word_for_it(tmp_path):
    record = MetricsLog(tmp_path)
    record.write("validation", 1, loss=math.nan, perplexity=math.inf, bleu=2.5)
    record.close()
    [line] = (tmp_path / "metrics.jsonl").read_text().splitlines()
    assert json.loads(line, parse_constant=pytest.fail) == {
        "step": 1,
        "kind": "validation",
        "loss": None,
        "perplexity": None,
        "bleu": 2.5,
    }


def test_a_fresh_run_begins_a_fresh_log(tmp_path):
    write_some(tmp_path, range(1, 4))
    write_some(tmp_path, [7])
    assert [record["step"] for record in read_records(tmp_path / "metrics.jsonl")] == [7]


def test_resuming_cuts_back_to_what_the_checkpoint_knew_of(tmp_path):
    """By the number of records, not by step: after a rollback a step may rightly occur twice."""
    write_some(tmp_path, [1, 2, 3, 2, 3, 4, 5])
    write_some(tmp_path, [4, 5], keep=5, step=3)
    assert [record["step"] for record in read_records(tmp_path / "metrics.jsonl")] == [1, 2, 3, 2, 3, 4, 5]


@pytest.mark.parametrize("lost", range(1, 30))
def test_a_line_that_a_crash_cut_short_is_left_out_wherever_the_cut_is(tmp_path, lost):
    write_some(tmp_path, range(1, 4))
    path = tmp_path / "metrics.jsonl"
    path.write_bytes(path.read_bytes()[:-lost])
    kept = 3 if lost == 1 else 2  # without its line end a record is still whole
    assert [record["step"] for record in read_records(path)] == list(range(1, kept + 1))
    write_some(tmp_path, [3], keep=2, step=2)
    assert [record["step"] for record in read_records(path)] == [1, 2, 3]


def test_tensorboard_reads_the_same_numbers(tmp_path):
    write_some(tmp_path, range(1, 4))
    events = EventAccumulator(str(tmp_path / "events")).Reload()
    found = events.Scalars("train/loss")
    assert [event.step for event in found] == [1, 2, 3]
    assert [event.value for event in found] == pytest.approx([1, 1 / 2, 1 / 3])
    assert "train/sample/text_summary" in events.Tags()["tensors"]


def test_tensorboard_forgets_what_is_done_again(tmp_path):
    """Each start writes a file; the newer one says from which step on the older one no longer counts."""
    write_some(tmp_path, range(1, 6))
    write_some(tmp_path, range(4, 7), keep=3, step=3)
    events = EventAccumulator(str(tmp_path / "events")).Reload()
    assert [event.step for event in events.Scalars("train/loss")] == [1, 2, 3, 4, 5, 6]


def test_a_full_disk_names_the_log(tmp_path):
    record = MetricsLog(tmp_path)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, before[1]))
    try:
        with pytest.raises(OSError, match=r"metrics\.jsonl could not be written: File too large"):
            record.write("train", 1, sample="x" * 500)
        record.close()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, ignored)
    assert read_records(tmp_path / "metrics.jsonl") == []
