"""Progress goes to stderr, in plain lines where there is no terminal."""

import pytest

from clearformer.cli import progress


def test_elsewhere_than_on_a_terminal_there_are_plain_lines(capsys: pytest.CaptureFixture[str]):
    with progress.progress_bar("counting") as show:
        for done in range(1, 4):
            show(done, 3)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == "counting: 3 of 3\n"


def test_speed_is_that_of_the_last_minute(monkeypatch: pytest.MonkeyPatch):
    now = [1000.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    speed = progress._Speed()
    for second in range(0, 200, 10):
        now[0] = 1000.0 + second
        measured = speed.of(second * (100 if second < 100 else 300))
    assert measured == pytest.approx(300)  # the slow beginning is forgotten
