"""--leave-out: one file that cannot be read does not keep the others from being answered."""

import shutil
from pathlib import Path

import pytest

import clearformer
from clearformer.cli.left_out import readable
from clearformer.cli.main import main

EXAMPLES = Path(clearformer.__file__).parent / "examples"


def refuse_odd(path: Path) -> None:
    if int(path.stem) % 2:
        raise ValueError(f"{path} is odd")


def test_what_is_refused_is_named_and_counted(capsys):
    files = [Path(f"{number}.png") for number in range(5)]
    assert [path.stem for path in readable(files, refuse_odd, leave_out=True)] == ["0", "2", "4"]
    told = capsys.readouterr().err.splitlines()
    assert told == ["left out: 1.png is odd", "left out: 3.png is odd", "2 of 5 files were left out"]
    assert list(readable(files, refuse_odd, leave_out=False)) == files  # whoever reads them stops at the first


def test_where_nothing_is_left_that_is_an_error():
    with pytest.raises(ValueError, match="none of the 2 files can be read"):
        list(readable([Path("1.png"), Path("3.png")], refuse_odd, leave_out=True))


@pytest.mark.parametrize(
    ("verb", "examples", "ending"),
    [("detect", "blood", ".jpg"), ("segment", "nuclei", ".png"), ("reconstruct", "digits", ".png"),
     ("transcribe", "speech", ".wav")],
)  # fmt: skip
def test_the_verbs_go_on_or_stop(verb, examples, ending, tmp_path, capsys):
    good = next(path for path in sorted((EXAMPLES / examples).iterdir()) if path.suffix == ending)
    (tmp_path / f"a{ending}").write_bytes(good.read_bytes()[:40])
    shutil.copy(good, tmp_path / f"b{ending}")
    assert main([verb, str(tmp_path)]) == 1
    assert f"a{ending} " in capsys.readouterr().err
    assert main([verb, str(tmp_path), "--leave-out", "--json"]) == 0
    found = capsys.readouterr()
    assert len(found.out.splitlines()) == 1
    assert f"b{ending}" in found.out
    assert "1 of 2 files were left out" in found.err
