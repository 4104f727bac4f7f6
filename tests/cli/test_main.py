"""The command line finds verbs quickly, answers with the promised exit codes, and never shows a stack of frames."""

import subprocess
import sys

import pytest

from clearformer import __version__
from clearformer.cli.main import GROUPS, VERBS, main


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "clearformer", *arguments], capture_output=True, text=True, check=False
    )


def test_help_names_every_verb():
    done = run("--help")
    assert done.returncode == 0
    assert all(f"{verb} " in done.stdout for verb in VERBS)


def test_help_of_a_verb_loads_nothing_heavy():
    script = (
        "import sys\nfrom clearformer.cli.main import main\n"
        f"for verb in {list(VERBS)!r}:\n"
        "    try:\n        main([verb, '--help'])\n"
        "    except SystemExit as end:\n        assert end.code == 0\n"
        "heavy = {'torch', 'numpy', 'pydantic', 'tokenizers', 'sacrebleu', 'rich', 'ctranslate2'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["transalte", "x"], "clearformer: there is no verb 'transalte'; did you mean translate?"),
        (["xyzzy"], "clearformer: there is no verb 'xyzzy' (`clearformer --help` lists them)"),
        (["--model", "m", "translate"], "clearformer: the verb comes first, as in `clearformer translate --model …`"),
        (["translate", "--inptu", "x"], "clearformer translate: there is no option --inptu; did you mean --input?"),
        (["inspect"], "clearformer inspect: MODEL (a model folder"),
        (["data"], "clearformer data: list|get (list what is known, or get one corpus) is missing"),
    ],
)
def test_wrong_usage_is_exit_code_2_and_one_sentence(arguments, sentence, capsys):
    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith(sentence)
    assert captured.err.count("\n") == 1


def test_nothing_at_all_shows_the_verbs_but_is_no_success(capsys):
    assert main([]) == 2
    assert "translate" in capsys.readouterr().out


def test_help_groups_the_verbs_by_what_they_are_for(capsys):
    assert main(["--help"]) == 0
    shown = capsys.readouterr().out
    places = [shown.index(f"\n{title}:\n") for title in GROUPS]
    assert places == sorted(places)
    assert all(len(line) <= 88 for line in shown.splitlines())


def test_help_of_a_verb_is_also_asked_for_in_the_other_order(capsys):
    with pytest.raises(SystemExit) as left:
        main(["help", "translate"])
    assert left.value.code == 0
    assert capsys.readouterr().out.startswith("usage: clearformer translate [TEXT …] [options]\n")


def test_the_version_is_the_package_s(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"clearformer {__version__}\n"


def test_frames_of_a_library_are_not_part_of_a_sentence(monkeypatch, capsys):
    from clearformer.cli import inspect

    def broken(arguments: object) -> None:
        raise RuntimeError("Overflow when unpacking long\nframe #0: c10::Error::Error …")

    monkeypatch.setattr(inspect, "run", broken)
    assert main(["inspect", "base"]) == 1
    said = capsys.readouterr().err
    assert "internal error (RuntimeError: Overflow when unpacking long)" in said
    assert said.count("\n") == 1


def test_what_could_not_be_done_is_exit_code_1_and_one_sentence(capsys: pytest.CaptureFixture[str]):
    assert main(["inspect", "no-such-thing"]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("clearformer inspect: ")
    assert captured.err.count("\n") == 1


def test_debug_shows_where_it_came_from():
    done = run("inspect", "no-such-thing", "--debug")
    assert done.returncode != 0
    assert "Traceback" in done.stderr


def test_a_mistake_of_ours_is_called_one(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    from clearformer.cli import inspect

    def broken(arguments: object) -> None:
        raise TypeError("unsupported operand")

    monkeypatch.setattr(inspect, "run", broken)
    assert main(["inspect", "base"]) == 1
    assert "internal error (TypeError: unsupported operand)" in capsys.readouterr().err


def test_a_name_that_cannot_be_written_is_shown_and_not_all_that_stands_around_it(monkeypatch, capsys):
    from clearformer.cli import inspect

    def broken(arguments: object) -> None:
        ("line\n" * 500 + "f\udcfcr.en\n" + "line\n" * 500).encode("utf-8")

    monkeypatch.setattr(inspect, "run", broken)
    assert main(["inspect", "base"]) == 1
    said = capsys.readouterr().err
    assert r"xfcr.en' holds bytes that are not UTF-8; rename the file" in said
    assert said.count("\n") == 1
    assert len(said) < 200


def test_a_reader_that_has_seen_enough_is_no_error():
    done = subprocess.run(
        f"{sys.executable} -m clearformer data list | head -1", shell=True, capture_output=True, text=True, check=False
    )
    assert "Traceback" not in done.stderr
    assert "Error" not in done.stderr


def test_a_remark_on_a_file_is_printed_once_however_often_it_is_read(tmp_path):
    file = tmp_path / "films.csv"
    file.write_bytes("\ufefftext,label\r\nfine,good\r\ndull,bad\r\n".encode())
    done = run("doctor", str(file))
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("byte order mark") == 1
    assert "CR LF" not in done.stderr  # lines of a table end so by its standard
