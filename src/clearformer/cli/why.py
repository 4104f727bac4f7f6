"""--why: how much each word counted, as shaded words on a terminal, a list elsewhere, JSON, or a figure.

Shared by the verbs that read a text and can say what in it decided.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, TypeVar

from clearformer.cli.options import add_options, read_options
from clearformer.cli.usage import UsageError
from clearformer.cli.use import complete_file
from clearformer.figures.palette import ink_on
from clearformer.figures.word_shades import ShadedText, ShadedWord, WordShades
from clearformer.foundation.forms import describe_fields
from clearformer.inference.reading_settings import WhyConfig

if TYPE_CHECKING:
    from clearformer.inference.attribution import Explanation

C = TypeVar("C", bound=WhyConfig)


def add_why(parser: argparse.ArgumentParser, options: type[WhyConfig]) -> None:
    """--why with its settings, and --svg."""
    [why] = describe_fields(options, only=["why"])
    others = [field["name"] for field in describe_fields(options) if field["name"] not in ("why", "batch")]
    parser.add_argument(
        "--why",
        nargs="?",
        const=why["default"],
        choices=why["choices"],
        help=f"{why['help']} ({why['default']}, where --why stands alone)",
    )
    add_options(parser, options, only=others)
    parser.add_argument("--svg", type=Path, metavar="FILE", help="with --why: write the shaded words as a figure")


def read_why(arguments: argparse.Namespace, options: type[C]) -> C | None:
    """What was asked for; None without --why."""
    if arguments.why is not None:
        return read_options(arguments, options)
    known = [field["name"] for field in describe_fields(options) if field["name"] not in ("why", "batch")]
    for name in (*known, "svg"):
        if getattr(arguments, name, None) is not None:
            raise UsageError(f"--{name} belongs to --why; add it")
    return None


def why_lines(found: "Explanation", output: IO[str] | None) -> Iterator[str]:
    """What is printed behind a result. output: standard output, if that is where it goes."""
    for text in shaded_texts(found):
        yield ""
        yield text.title
        yield from text.notes
        if (painted := _painted(text, output)) is not None:
            yield painted
        else:
            yield from (f"{word.text}  {text.number(word.score)}" for word in text.words)
        yield "  ".join(f"{word.text} {text.number(word.score)}" for word in text.apart)


def write_figure(path: Path, found: "Explanation", title: str) -> None:
    """The shaded words as SVG."""
    figure = WordShades(texts=list(shaded_texts(found)))
    with complete_file(path) as aside:
        aside.write_text(figure.svg(title), encoding="utf-8", newline="\n")


def shaded_texts(found: "Explanation") -> Iterator[ShadedText]:
    """What a figure, a terminal and a list show of each method."""
    windows = f", mean of {found.windows} windows" if found.windows > 1 else ""
    for one in found.attributions:
        check = one.completeness
        if check is None:
            title = f"attention rollout{windows}: where the model looked, for whatever it said"
            notes = ["shares of all that was looked at; words and markers sum to 1"]
        else:
            title = f"integrated gradients for {found.of!r}{windows}"
            notes = [
                f"baseline: {check.baseline} for every piece, {check.steps} steps",
                f"sum of scores {check.total:+.4f}; logit {check.logit:.4f} - baseline's {check.baseline_logit:.4f} = "
                f"{check.difference:+.4f}; apart by {abs(check.total - check.difference):.2g}",
            ]
        words = []
        before = None  # the end of the word before, and its part
        for word in one.words:
            opens = before is not None and before[0] != word.part
            spaced = before != (word.part, word.start)
            words.append(ShadedWord(text=word.word, score=word.score, spaced=spaced, opens=opens))
            before = (word.part, word.end)
        apart = [ShadedWord(text=marker.marker, score=marker.score) for marker in one.markers]
        yield ShadedText(title=title, notes=notes, words=words, apart=apart, signed=check is not None)


def _painted(text: ShadedText, output: IO[str] | None) -> str | None:
    """The words on coloured ground; None where the output is no terminal, or one without colours."""
    from rich.console import Console
    from rich.text import Text

    if output is None:
        return None
    terminal = Console(file=output)
    if not terminal.is_terminal or terminal.color_system is None or terminal.no_color:
        return None
    line = Text()
    for word in text.words:
        colour = text.colour(word.score)
        line.append("\n" if word.opens else " " if word.spaced and len(line) else "")
        line.append(word.text, style=f"{ink_on(colour)} on {colour}")
    with terminal.capture() as captured:
        terminal.print(line)
    return captured.get().rstrip("\n")
