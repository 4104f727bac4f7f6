"""A mistake in the words gets one sentence with what was probably meant, never argparse's usage block."""

import pytest

from clearformer.cli.parser import CommandParser, either
from clearformer.cli.usage import UsageError


@pytest.fixture
def parser() -> CommandParser:
    """A verb with words, a number, a choice and a pair of files."""
    made = CommandParser(prog="clearformer try")
    made.add_argument("what", metavar="WHAT", help="the thing")
    made.add_argument("words", nargs="*")
    made.add_argument("--input")
    made.add_argument("--beam", type=int, default=4)
    made.add_argument("--alpha", type=float)
    made.add_argument("--batch", type=int)
    made.add_argument("--penalty", choices=("average", "gnmt"))
    made.add_argument("--pair", nargs=2)
    made.add_argument("--json", action="store_true")
    return made


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (["a", "--inptu", "x"], "there is no option --inptu; did you mean --input?"),
        (["--inptu=x"], "there is no option --inptu; did you mean --input?"),  # also where a word is missing as well
        (["a", "--colour"], "there is no option --colour"),
        (["-hello"], "there is no option -hello; a text that begins with a dash goes behind --"),
        ([], "WHAT (the thing) is missing"),
        (["a", "--beam"], "--beam needs a value"),
        (["a", "--beam", "wide"], "--beam must be a whole number, not 'wide'"),
        (["a", "--alpha", "much"], "--alpha must be a number, not 'much'"),
        (["a", "--penalty", "averge"], "--penalty cannot be 'averge'; did you mean average?"),
        (["a", "--penalty", "none"], "--penalty cannot be 'none'; choose average or gnmt"),
        (["a", "--pair", "x"], "--pair needs 2 values"),
        (["a", "--json=yes"], "--json takes no value"),
        (["a", "--b", "3"], "--b could be --beam, --batch; write it in full"),
    ],
)
def test_every_mistake_has_its_sentence(parser, given, sentence):
    with pytest.raises(UsageError) as refused:
        parser.read(given)
    assert str(refused.value).startswith(sentence)
    assert str(refused.value).endswith("(see `clearformer try --help`)")
    assert "\n" not in str(refused.value)


def test_a_word_too_many_is_probably_a_text_without_quotation_marks():
    parser = CommandParser(prog="clearformer try")
    parser.add_argument("text")
    with pytest.raises(UsageError, match="'dogs' is one word too many: put a text of several words between quotation"):
        parser.read(["two", "dogs"])


def test_words_and_options_stand_in_any_order(parser):
    for given in (["a", "b", "c", "--beam", "2"], ["--beam", "2", "a", "b", "c"], ["a", "b", "--beam", "2", "c"]):
        chosen = parser.read(given)
        assert (chosen.what, chosen.words, chosen.beam) == ("a", ["b", "c"], 2)
    assert parser.read(["a"]).words == []


def test_behind_two_dashes_nothing_is_an_option(parser):
    chosen = parser.read(["--beam", "2", "--", "-a", "--inptu", "--json"])
    assert (chosen.what, chosen.words, chosen.json) == ("-a", ["--inptu", "--json"], False)


def test_a_required_option_is_asked_for_and_then_remembered():
    parser = CommandParser(prog="clearformer try")
    parser.add_argument("model")
    parser.add_argument("--to", required=True, help="the format")
    with pytest.raises(UsageError, match=r"--to \(the format\) is missing"):
        parser.read(["m"])
    assert parser.read(["m", "--to", "onnx"]).to == "onnx"


def test_a_text_with_blanks_may_begin_with_a_dash_and_a_number_may_be_negative(parser):
    assert parser.read(["- two dogs"]).what == "- two dogs"
    assert parser.read(["a", "--alpha", "-0.5"]).alpha == -0.5


def test_choices_are_listed_as_people_do():
    assert [either(names) for names in (["a"], ["a", "b"], ["a", "b", "c"])] == ["a", "a or b", "a, b or c"]


def test_the_first_line_of_help_names_what_has_to_be_there(parser, capsys):
    parser.add_argument("--to", required=True, choices=("onnx", "gguf"))
    with pytest.raises(SystemExit) as left:
        parser.read(["--beam", "--help"])  # whatever else is wrong
    assert left.value.code == 0
    shown = capsys.readouterr().out
    assert shown.startswith("usage: clearformer try WHAT [words …] --to onnx|gguf [options]\n")
    assert "--input INPUT" in shown


def test_a_value_that_may_be_left_out_does_not_swallow_the_text():
    parser = CommandParser(prog="clearformer try")
    parser.add_argument("what", nargs="*")
    parser.add_argument("--why", nargs="?", const="both", choices=("rollout", "both"))
    for given, why, what in (
        (["--why", "a text"], "both", ["a text"]),
        (["--why", "rollout", "a text"], "rollout", ["a text"]),
        (["a text", "--why"], "both", ["a text"]),
        (["--why=rollout", "a text"], "rollout", ["a text"]),
        (["a text"], None, ["a text"]),
    ):
        chosen = parser.read(given)
        assert (chosen.why, chosen.what) == (why, what)
    with pytest.raises(UsageError, match="--why cannot be 'rolout'; did you mean rollout"):
        parser.read(["--why", "rolout"])
