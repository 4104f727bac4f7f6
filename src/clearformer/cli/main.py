"""Find the verb and run it. Each verb's file has `add_arguments(parser)` and `run(arguments)`.

Only the verb that was asked for is imported, and what is heavy is imported inside its `run`, so help is instant. Exit
codes: 0 done, 1 could not, 2 wrong usage. Results go to stdout, everything else to stderr.
"""

import importlib
import keyword
import logging
import os
import sys
import textwrap
from collections.abc import Sequence
from typing import Any

from clearformer import __version__
from clearformer.cli import streams
from clearformer.cli.named_models import fetch_named
from clearformer.cli.parser import CommandParser, suggestion
from clearformer.cli.usage import UsageError
from clearformer.tasks.verbs import VERBS as USES

GROUPS = {
    "use a model": {
        **{verb.name: verb.summary for verb in USES.values() if verb.name != "run"},
        "search": "build an index over files, and find what has these words or this meaning",
    },
    "train a model": {
        "train": "train a model from a recipe, or from your own data",
        "distill": "train a smaller, faster model on a teacher's output",
        "evaluate": "score a model on a test set: BLEU, accuracy, perplexity",
        "score": "log-probability of given translations, token by token",
        "diagnose": "why a model is bad, from its run, its text and its output",
    },
    "look inside": {
        "studio": "see inside a model in a browser: translation, attention, arithmetic, search, pictures, sound",
        "lab": "claims about the Transformer as experiments, with numbers and a verdict",
        "explain": "a walk through the model for one sentence, as an offline page or as figures",
        "inspect": "parameters, memory and operations of a model folder or a preset",
        "tokenize": "show the pieces and ids that a text becomes",
    },
    "other formats": {
        "import": "open a published checkpoint: Hugging Face (a folder or a name), CTranslate2, GGUF",
        "export": "write a model for another program: Hugging Face, CTranslate2, ONNX",
        "quantize": "a model in eight bits: size, speed and score before and after",
    },
    "tools": {
        "doctor": "what is wrong with data to train on, by file and line",
        "models": "list the models that ship or can be fetched, or get one",
        "data": "list the known corpora, or get one",
        "bench": "speed, memory and start-up time beside other programs, in one run",
    },
}
VERBS = {verb: summary for group in GROUPS.values() for verb, summary in group.items()}


def main(arguments: Sequence[str] | None = None) -> int:
    """The whole program; returns the exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    streams.prepare()
    verb = given[0] if given and given[0] in VERBS else None
    name = "clearformer" if verb is None else f"clearformer {verb}"
    try:
        return _answer_without_verb(given) if verb is None else _run(verb, given[1:])
    except KeyboardInterrupt:
        print(f"{name}: stopped", file=sys.stderr)
        return 1
    except BrokenPipeError:  # whoever read our output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except Exception as error:
        if "--debug" in given:
            raise
        print(f"{name}: {_sentence(error)}", file=sys.stderr)
        return 2 if isinstance(error, UsageError) else 1


def _run(verb: str, given: Sequence[str]) -> int:
    module = _module(verb)
    summary = VERBS[verb]
    parser = CommandParser(prog=f"clearformer {verb}", description=summary[0].upper() + summary[1:] + ".")
    module.add_arguments(parser)
    parser.add_argument("--debug", action="store_true", help="show where an error came from")
    chosen = parser.read(given)
    streams.check_output(verb, getattr(chosen, "output", None))
    logging.basicConfig(level=logging.INFO, format="%(message)s", handlers=[_ToStderr()])
    fetch_named(chosen)
    module.run(chosen)
    sys.stdout.flush()  # or a pipe that was closed is noticed when nobody can handle it any more
    return 0


def _answer_without_verb(given: Sequence[str]) -> int:
    """Help, the version, or what is wrong with the verb."""
    if given and given[0] == "--version":
        print(f"clearformer {__version__}")
        return 0
    if given[:1] == ["help"] and given[1:2] and given[1] in VERBS:
        return _run(given[1], ["--help"])
    if not given or given[0] in ("-h", "--help", "help"):
        print(root_help())
        return 0 if given else 2
    later = next((word for word in given if word in VERBS), None)
    if given[0].startswith("-"):
        example = f"clearformer {later or 'VERB'} {given[0]} …"
        raise UsageError(f"the verb comes first, as in `{example}` (`clearformer --help` lists the verbs)")
    raise UsageError(f"there is no verb {given[0]!r}{suggestion(given[0], VERBS)} (`clearformer --help` lists them)")


def root_help() -> str:
    """Every verb with one line, by what it is for."""
    lines = [
        "usage: clearformer VERB …",
        "",
        "The whole Transformer: train it, run it, open anybody's, and see inside it.",
    ]
    width = max(map(len, VERBS))
    for title, verbs in GROUPS.items():
        lines += ["", f"{title}:"]
        for verb, summary in verbs.items():
            first, *rest = textwrap.wrap(summary, 76 - width)
            lines += [f"  {verb:<{width}}  {first}", *(" " * (width + 4) + line for line in rest)]
    return "\n".join(
        [*lines, "", "`clearformer VERB --help` explains a verb; `clearformer --version` prints the version."]
    )


FILE_REMARKS = "clearformer.text.lines"  # the logger


class _ToStderr(logging.Handler):
    """Log lines to what stderr is now: a progress bar puts itself in its place and keeps them above the bar.

    A remark on a file is printed once, however often the file is read: to recognise it, to hold a part out, to train.
    """

    def __init__(self) -> None:
        super().__init__()
        self._told: set[str] = set()

    def emit(self, record: logging.LogRecord) -> None:
        line = self.format(record)
        if record.name == FILE_REMARKS and line in self._told:
            return
        self._told.add(line)
        print(line, file=sys.stderr, flush=True)


def _module(verb: str) -> Any:
    """The verb's file; a verb that is a word of Python, as `import`, has an underscore behind it."""
    return importlib.import_module(f"clearformer.cli.{verb}{'_' if keyword.iskeyword(verb) else ''}")


# What Python and its libraries raise by themselves, and we do not: a mistake of ours, not of the user's.
_OURS = (ArithmeticError, AssertionError, AttributeError, LookupError, NameError, RuntimeError, TypeError)


def _sentence(error: Exception) -> str:
    """What went wrong, in one line."""
    if isinstance(error, KeyError) and error.args and " " in str(error.args[0]):  # our own have sentences
        return str(error.args[0])
    if isinstance(error, MemoryError):
        return "there is not enough memory; give fewer or shorter texts, or a smaller --batch"
    if isinstance(error, UnicodeEncodeError):
        return _unwritable(error)
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror  # as "No space left on device", of a stream that has no name
    first = str(error).strip().partition("\n")[0]  # libraries add their frames below
    if isinstance(error, _OURS):
        return f"internal error ({type(error).__name__}: {first}); please report it with the output of --debug"
    return first or type(error).__name__


def _unwritable(error: UnicodeEncodeError) -> str:
    """A name that the locale, or UTF-8, has no way to write; only the piece around the mistake is shown."""
    around = error.object[max(0, error.start - 10) : error.end + 10].split("\n")
    piece = max(around, key=len).encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    encoding = sys.getfilesystemencoding()
    if encoding != "utf-8":
        return f"{piece!r} cannot be written while the locale's encoding is {encoding}; set LC_ALL=C.UTF-8"
    return f"{piece!r} holds bytes that are not UTF-8; rename the file, or type the text again"


if __name__ == "__main__":
    sys.exit(main())
