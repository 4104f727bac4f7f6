"""What the verbs that use a model share: where texts come from, where answers go, and which text was refused.

Texts are arguments, the lines of a file, or standard input. Answers keep their order, whatever the batch, and a file
appears when it is complete.
"""

import argparse
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, NamedTuple, TypeVar

from clearformer.cli.named_models import ModelName
from clearformer.cli.shipped import is_example, shipped_examples
from clearformer.cli.usage import UsageError

if TYPE_CHECKING:
    from clearformer.folder.bundle import Bundle

A = TypeVar("A")
STANDARD_INPUT = Path("-")


class GivenText(NamedTuple):
    """A text, and where it came from, as an error would name it: text 2, in.txt:7."""

    text: str
    place: str


def add_model(parser: argparse.ArgumentParser, what: str, *, default: str | None = None, needed: bool = True) -> None:
    """--model. needed: there is no default, and the verb does not find one by what it is given."""
    shown = (
        f"{what}: a model folder, the folder of a run, the name of a model that ships or was fetched, or "
        "hub:OWNER/NAME, which is fetched"
    )
    parser.add_argument(
        "--model",
        type=ModelName,
        required=needed and default is None,
        default=default,
        help=f"{shown} ({default})" if default else shown,
    )


def add_texts(parser: argparse.ArgumentParser, what: str, file: str | None = None) -> None:
    """Texts as words, and --input. what: in the plural, as in "sentences". file: what --input may be, if more."""
    file = file or f"a file of {what}, one per line"
    parser.add_argument(
        "text",
        nargs="*",
        type=utf8_word,
        metavar="TEXT",
        help=f"{what}; without them and without --input, standard input is read",
    )
    parser.add_argument("--input", type=Path, metavar="FILE", help=f"{file}, plain or .gz")


def add_answers(parser: argparse.ArgumentParser, json_help: str) -> None:
    """--output and --json."""
    parser.add_argument("--output", type=Path, metavar="FILE", help="where to write the result (standard output)")
    parser.add_argument("--json", action="store_true", help=json_help)


def utf8_word(word: str) -> str:
    """A text that was given as an argument: UTF-8, whatever the locale takes it for."""
    text = os.fsencode(word).decode("utf-8", "surrogateescape")
    if any("\udc80" <= character <= "\udcff" for character in text):
        shown = text.encode("utf-8", "backslashreplace").decode("utf-8")
        raise argparse.ArgumentTypeError(f"{shown} is not UTF-8; give the text in a file that is, with --input")
    return text


def check_folder(path: Path | None, option: str, *, new: bool = False) -> None:
    """Refuse at once a place that cannot become a folder. new: nothing may be there yet."""
    if path is None or not path.exists():
        return
    if not path.is_dir():
        raise UsageError(f"{option} {path} is a file; name a folder")
    if new and any(path.iterdir()):
        raise UsageError(f"{option} {path} is not empty; name a new folder")


def open_model(arguments: argparse.Namespace) -> "Bundle":
    """The model that --model names, with its weights, by the engine that --engine names, where a verb has it."""
    from clearformer.folder import bundle
    from clearformer.folder.description import find_model

    folder = find_model(arguments.model)
    if "engine" not in arguments:
        return bundle.load(folder, as_kept=True)
    from clearformer.inference.engines import open_bundle

    looked_inside = getattr(arguments, "why", None) is not None
    if looked_inside and arguments.engine == "ctranslate2":
        raise UsageError("--why looks inside the model, which --engine ctranslate2 does not allow; leave one out")
    return open_bundle(folder, "torch" if looked_inside else arguments.engine)


def open_models(arguments: argparse.Namespace) -> "list[Bundle]":
    """The model that --model names, and those that --with names."""
    from clearformer.inference.engines import Engine, open_bundle

    if arguments.others and getattr(arguments, "why", None) is not None:
        raise UsageError("--why looks inside one model, and --with names more; leave one out")
    engine: Engine = getattr(arguments, "engine", "torch")  # verbs without the option run in PyTorch
    return [open_model(arguments), *(open_bundle(other, engine) for other in arguments.others)]


def answer_texts(
    arguments: argparse.Namespace,
    answer: Callable[[list[str]], Iterable[A]],
    show: Callable[[str, A], Iterable[str]],
    *,
    portion: int,
    keep_blank: bool = False,
    at_end: Callable[[], None] = lambda: None,
) -> None:
    """Answer a stream of texts in portions, so that a long file shows results early and needs little memory.

    show: the lines that present an answer. keep_blank: a blank line is a text, too; otherwise it is passed over.
    at_end: may still refuse, so that no file appears.
    """
    with open_output(arguments.output) as output:
        typed = is_typed(arguments)
        for texts in portions(given_texts(arguments, keep_blank=keep_blank), 1 if typed else portion):
            with naming_places(texts):
                answers = list(answer([given.text for given in texts]))
            for given, one in zip(texts, answers, strict=True):
                for line in show(given.text, one):
                    print(line, file=output, flush=typed or output.isatty())
        at_end()


def given_texts(arguments: argparse.Namespace, *, keep_blank: bool = False) -> Iterator[GivenText]:
    """The texts with their places, from wherever they come; only a line feed ends a line."""
    if arguments.text and arguments.input:
        raise UsageError("give texts or --input, not both")
    if arguments.text:
        hint_at_file(arguments.text)
        return (GivenText(text, f"text {number}") for number, text in enumerate(arguments.text, start=1))
    return read_places(arguments.input, keep_blank=keep_blank)


def refuse_missing_files(arguments: argparse.Namespace) -> None:
    """Name a file that is not there before a model is opened; not where a list names them, or they may be left out."""
    if arguments.input or getattr(arguments, "leave_out", False):
        return
    for name in arguments.text:
        if not is_example(name) and not Path(name).exists():
            raise ValueError(f"{name} does not exist: check the name")


def given_files(
    arguments: argparse.Namespace,
    what: str,
    inside: Callable[[Path], Iterable[Path]],
    endings: Iterable[str],
    *,
    examples: str | None = None,
) -> Iterator[Path]:
    """The files that the arguments, or the lines of a list, name; a folder stands for the files `inside` it.

    what: in the plural, as in "pictures". examples: the folder that the word `example` stands for.
    """
    if arguments.text and arguments.input:
        raise UsageError(f"give {what} or --input, not both")
    for name in arguments.text or (given.text for given in read_places(arguments.input)):
        path = shipped_examples(examples) if examples and is_example(name) else Path(name)
        if not path.is_dir():
            yield path
            continue
        found = list(inside(path))
        if not found:
            raise ValueError(f"{path} holds no {what} ({', '.join(endings)}); give a folder that does")
        yield from found


def read_places(file: Path | None, *, keep_blank: bool = False) -> Iterator[GivenText]:
    """The lines of a file, or of standard input, with their places."""
    from clearformer.text.lines import read_lines, read_stream

    piped = file is None or file == STANDARD_INPUT
    name = "standard input" if piped else str(file)
    lines = read_stream(sys.stdin.buffer, name) if file is None or piped else read_lines(file)
    if piped and sys.stdin.isatty():
        print("type one text per line; Ctrl-D ends", file=sys.stderr)
    blank = number = 0
    for number, line in enumerate(lines, start=1):
        if keep_blank or line.strip():
            yield GivenText(line, f"{name}:{number}")
        else:
            blank += 1
    if not number and not piped:
        print(f"{name} is empty", file=sys.stderr)
    if blank:
        print(f"{name}: {blank} blank {'line' if blank == 1 else 'lines'} passed over", file=sys.stderr)


def read_whole(file: Path) -> GivenText:
    """A file, or standard input, as one text without its last line end."""
    from clearformer.text.lines import read_stream
    from clearformer.text.tokenizer import MAX_CHARACTERS

    piped = file == STANDARD_INPUT
    name = "standard input" if piped else str(file)
    lines, size = [], -1
    with nullcontext(sys.stdin.buffer) if piped else file.open("rb") as opened:
        for line in read_stream(opened, name):
            lines.append(line)
            size += len(line) + 1
            if size > MAX_CHARACTERS:
                raise ValueError(f"{name} has more than the {MAX_CHARACTERS:,} characters of one text; shorten it")
    return GivenText("\n".join(lines), name)


def hint_at_file(texts: list[str], how: str = "--input {}") -> None:
    """Whoever gives a single text that is the name of a file probably means what is in it. how: to give the file."""
    try:
        is_file = len(texts) == 1 and Path(texts[0]).is_file()
    except (OSError, ValueError):  # no possible name of a file
        is_file = False
    if is_file:
        print(
            f"note: {texts[0]} is a file, and its name was taken as the text; to read the file, use "
            + how.format(texts[0]),
            file=sys.stderr,
        )


def is_typed(arguments: argparse.Namespace) -> bool:
    """Whether somebody sits at the keyboard and waits for the answer to every line."""
    piped = not arguments.text and (arguments.input is None or arguments.input == STANDARD_INPUT)
    return piped and sys.stdin.isatty()


@contextmanager
def naming_places(texts: list[GivenText]) -> Iterator[None]:
    """A text that is refused by its number among these is refused by its place."""
    from clearformer.text.unusable import UnusableTextError

    try:
        yield
    except UnusableTextError as error:
        raise ValueError(f"{texts[error.number - 1].place} {error.reason}") from error


def portions(texts: Iterable[A], size: int) -> Iterator[list[A]]:
    """As many at a time, and fewer at the end."""
    remaining = iter(texts)
    while portion := list(islice(remaining, size)):
        yield portion


@contextmanager
def open_output(path: Path | None) -> Iterator[IO[str]]:
    """Standard output, or a text file that appears when it is complete."""
    if path is None:
        yield sys.stdout
        return
    with complete_file(path) as aside, aside.open("w", encoding="utf-8", newline="\n") as file:
        yield file


@contextmanager
def complete_file(path: Path) -> Iterator[Path]:
    """A place to write to that takes its name at the end, so that nobody ever sees half a file."""
    if path.exists() and not path.is_file() and not path.is_dir():
        yield path  # a device or a pipe keeps nothing: /dev/null must not become a file
        return
    target = path.resolve()  # a link goes on pointing to what is written
    aside = target.with_name(f".{target.name}.{os.getpid()}.writing")
    try:
        if target.is_dir():
            raise IsADirectoryError(21, "it is a folder")
        aside.touch()
    except OSError as error:
        raise ValueError(f"{path} cannot be written ({error.strerror}); choose another --output") from None
    try:
        yield aside
        aside.replace(target)
    finally:
        aside.unlink(missing_ok=True)
