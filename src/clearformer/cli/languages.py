"""--from and --to: a translator is named by its languages, and a text in another one is not translated.

A translator writes fluent nonsense for a text in a language that it never saw. So such a text stays as it is, and
somebody is told.
"""

import argparse
import sys
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import TypeVar

from clearformer.cli.usage import UsageError, asked_wrongly
from clearformer.cli.use import add_model
from clearformer.text.language import Guess, LanguageWatch, code_of

A = TypeVar("A")
DEFAULT = "en-de"
QUOTED = 40  # characters of a sentence that is named by its beginning
LOOKED_AT = 20  # lines of a file, to find its language


def add_translator(parser: argparse.ArgumentParser, what: str = "a translator") -> None:
    """--model, --from and --to."""
    add_model(parser, what, needed=False)
    parser.add_argument("--from", dest="source_language", metavar="LANGUAGE", help="what the texts are in, such as zh")
    parser.add_argument(
        "--to",
        dest="target_language",
        metavar="LANGUAGE",
        help=f"what to translate into, such as en; chooses among the translators that are here ({DEFAULT})",
    )


def settle_translator(arguments: argparse.Namespace, texts: Callable[[], Iterable[str]] = tuple) -> None:
    """Let --model name the translator that --from and --to mean, or the default. texts: some of what is to be read."""
    from clearformer.inference.translator_choice import choose_translator

    source, target = arguments.source_language, arguments.target_language
    if source is None and target is None:
        arguments.model = arguments.model or DEFAULT
    elif arguments.model is None:
        with asked_wrongly():
            arguments.model = choose_translator(source, target, texts())
    else:
        _check_languages(arguments.model, source, target)


def some_texts(arguments: argparse.Namespace) -> Iterable[str]:
    """The arguments, or the first lines of the input file; of standard input nothing can be read twice."""
    if arguments.text:
        return list(arguments.text)
    if arguments.input is None or not arguments.input.is_file():
        return []
    from clearformer.documents.file_endings import is_document, open_document
    from clearformer.text.lines import read_quietly

    if is_document(arguments.input):
        segments = open_document(arguments.input).segments[:LOOKED_AT]
        return ["".join(piece.text for piece in one.pieces if piece.kind == "words") for one in segments]
    return list(islice(read_quietly(arguments.input), LOOKED_AT))


def _check_languages(model: str, source: str | None, target: str | None) -> None:
    """A model that is named together with languages must be for these."""
    from clearformer.folder.description import find_model, read_description

    said = read_description(find_model(model)).provenance
    for option, wanted, key in (("--from", source, "source_language"), ("--to", target, "target_language")):
        if wanted is None:
            continue
        own = said.get(key)
        if not isinstance(own, str):
            raise UsageError(f"{model} does not say its languages, so {option} cannot choose it; leave {option} out")
        if code_of(own) != code_of(wanted):
            side = key.replace("_", " ")
            raise UsageError(f"{option} {wanted} does not go with {model}, whose {side} is {own}; leave one out")


class OtherLanguages:
    """Keeps texts in another language away from a translator."""

    def __init__(self, source: object, target: object, *, translate_all: bool, in_document: bool = False) -> None:
        self._quotes = in_document  # whose sentences have no numbers
        self._source = source if isinstance(source, str) else None
        self._target = target if isinstance(target, str) else None
        self._watch = LanguageWatch(None if translate_all else self._source)
        self._told = False

    def around(
        self, translate: Callable[[list[str]], list[A]], leave: Callable[[str, Guess], A]
    ) -> Callable[[list[str]], list[A]]:
        """The same translation for the texts in the expected language; `leave` makes the answer to any other."""

        def translate_own(texts: list[str]) -> list[A]:
            others = self._watch.see(texts)
            self._tell()
            blanked = ["" if other else text for text, other in zip(texts, others, strict=True)]
            found = translate(blanked)  # blank ones cost nothing, and refusals keep their numbers
            triples = zip(texts, others, found, strict=True)
            return [leave(text, other) if other else one for text, other, one in triples]

        return translate_own

    def refuse_all(self, texts: Sequence[str]) -> None:
        """Refuse texts of which none is in the expected language, before anything is opened."""
        watch = LanguageWatch(self._source)
        watch.see(texts)
        if watch.first is not None and watch.others == watch.seen:
            raise ValueError(f"{self._sentence('text', watch.first)}; --any-language translates it all the same")

    def finish(self) -> None:
        """Say how many were left; if nothing else was there, that is a failure."""
        first, others = self._watch.first, self._watch.others
        if first is None:
            return
        if others == self._watch.seen:
            raise ValueError("nothing was translated: everything is in another language than the model reads")
        if others > 1:
            print(
                f"{others:,} {'sentences' if self._quotes else 'lines'} in another language were left as they are",
                file=sys.stderr,
            )

    def _tell(self) -> None:
        if self._watch.first is not None and not self._told:
            self._told = True
            print(f"{self._sentence('line', self._watch.first)}; it is left as it is", file=sys.stderr)

    def _sentence(self, unit: str, first: tuple[int, Guess]) -> str:
        from clearformer.inference.other_languages import remark_on
        from clearformer.inference.translator_choice import advice_for

        number, other = first
        which = f"“{self._watch.first_text[:QUOTED]}”" if self._quotes else f"{unit} {number}"
        return remark_on(which, other, self._source or "") + advice_for(other.language, self._target)
