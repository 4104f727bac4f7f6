"""Find the verb and run it. Each verb's file has `add_arguments(parser)` and `run(arguments)`.

Only the verb that was asked for is imported, and what is heavy is imported inside its `run`, so help is instant. Exit
codes: 0 done, 1 could not, 2 wrong usage. Results go to stdout, everything else to stderr.
"""

import argparse
import importlib
import keyword
import logging
import os
import sys
from collections.abc import Sequence
from typing import Any

from clearformer import __version__
from clearformer.cli.usage import UsageError

VERBS = {
    "train": "train a model from a recipe, or from two text files",
    "distill": "train a smaller, faster model on a teacher's output",
    "translate": "translate sentences, a file, or standard input",
    "generate": "go on with a text, streamed",
    "classify": "the class of each text",
    "tag": "a tag for each word of a text",
    "answer": "find the answer to a question in a text",
    "evaluate": "score a model's translations: BLEU, chrF2, perplexity",
    "score": "log-probability of given translations, token by token",
    "diagnose": "why a model is bad, from its run, its text and its output",
    "doctor": "what is wrong with a corpus, by file and line",
    "tokenize": "show the pieces and ids that a text becomes",
    "data": "known corpora: list them, or get one",
    "studio": "see through a model in a browser: translation, attention, arithmetic, search",
    "explain": "the way of a sentence through a model as one offline page, or as figures",
    "quantize": "a model in eight bits: size, speed and score before and after",
    "import": "open a published checkpoint: Hugging Face, CTranslate2, GGUF",
    "export": "hand a model to another program: Hugging Face, CTranslate2, ONNX",
    "inspect": "parameters, memory and operations of a model folder or a preset",
    "bench": "this package beside its peers, in one run: speed, memory, start-up",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """The whole program; returns the exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    verb = next((word for word in given if not word.startswith("-")), None)
    parser = _parser(verb)
    chosen, late = parser.parse_known_args(given)
    if late and (not hasattr(chosen, "words") or any(word.startswith("-") for word in late)):
        parser.error(f"unrecognized arguments: {' '.join(late)}")
    if late:  # words behind an option: argparse takes a list of words in one piece only
        chosen.words += late
    if chosen.verb is None:
        parser.print_help()
        return 2
    logging.basicConfig(level=logging.INFO, format="%(message)s", handlers=[_ToStderr()])
    try:
        _module(chosen.verb).run(chosen)
    except KeyboardInterrupt:
        print(f"clearformer {chosen.verb}: stopped", file=sys.stderr)
        return 1
    except BrokenPipeError:  # whoever read our output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except Exception as error:
        if chosen.debug:
            raise
        print(f"clearformer {chosen.verb}: {_sentence(error)}", file=sys.stderr)
        return 2 if isinstance(error, UsageError) else 1
    return 0


class _ToStderr(logging.Handler):
    """Log lines to what stderr is now: a progress bar puts itself in its place and keeps them above the bar."""

    def emit(self, record: logging.LogRecord) -> None:
        print(self.format(record), file=sys.stderr, flush=True)


def _parser(verb: str | None) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="clearformer", description="The whole Transformer: train it, run it, open anybody's, and see through it."
    )
    parser.add_argument("--version", action="version", version=f"clearformer {__version__}")
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", title="verbs")
    for name, summary in VERBS.items():
        sub = verbs.add_parser(name, help=summary, description=summary[0].upper() + summary[1:] + ".")
        sub.add_argument("--debug", action="store_true", help="show where an error came from")
        if name == verb:
            _module(name).add_arguments(sub)
    return parser


def _module(verb: str) -> Any:
    """The verb's file; a verb that is a word of Python, as `import`, has an underscore behind it."""
    return importlib.import_module(f"clearformer.cli.{verb}{'_' if keyword.iskeyword(verb) else ''}")


def _sentence(error: Exception) -> str:
    """What went wrong, in words. An error of a kind that we do not raise ourselves is a mistake of ours: say so."""
    if isinstance(error, KeyError) and error.args:
        return str(error.args[0])
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    if isinstance(error, AssertionError | AttributeError | IndexError | TypeError):
        return f"internal error ({type(error).__name__}: {error}); please report it with the output of --debug"
    return str(error)


if __name__ == "__main__":
    sys.exit(main())
