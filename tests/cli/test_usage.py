"""Wrong usage is told from what could not be done."""

import pytest

from clearformer.cli.main import main


@pytest.mark.parametrize(
    "arguments", [["train"], ["train", "--source", "a.en"], ["data", "get"], ["evaluate", "--beam"]]
)
def test_wrong_usage_is_exit_code_2(arguments: list[str], capsys: pytest.CaptureFixture[str]):
    try:
        code = main(arguments)
    except SystemExit as end:  # argparse's own
        code = end.code
    assert code == 2
    assert capsys.readouterr().err
