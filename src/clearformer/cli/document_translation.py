"""clearformer translate --input letter.docx: a document goes through, its structure stays, and a kill loses nothing."""

import argparse
import json
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clearformer.cli.usage import UsageError
from clearformer.cli.use import STANDARD_INPUT, complete_file

if TYPE_CHECKING:
    from clearformer.documents.sentence_steps import Said
    from clearformer.documents.translate_document import TranslatedDocument
    from clearformer.documents.translation_journal import Journal

BINARY = ".docx"


def gives_a_document(arguments: argparse.Namespace) -> bool:
    """Whether --input names a document, which is read as such; a .txt file may also hold one text per line."""
    from clearformer.documents.file_endings import is_document, refuse_other

    path = arguments.input
    if path is None or path == STANDARD_INPUT or arguments.lines:
        return False
    if not is_document(path):
        refuse_other(path)
        return False
    by_line = [name for name in ("nbest", "align") if getattr(arguments, name)]
    if path.suffix.lower() == ".txt":
        return not by_line and not arguments.json
    if by_line:
        raise UsageError(f"--{by_line[0]} shows single texts, not documents; leave it out, or give --lines")
    return True


def check_places(arguments: argparse.Namespace) -> None:
    """Refuse at once a result that has no place to go."""
    if arguments.text:
        raise UsageError("give texts or --input, not both")
    source, output = arguments.input, arguments.output
    if output is None:
        if source.suffix.lower() == BINARY and not arguments.json:
            raise UsageError(f"a {BINARY} file is not printed; name the result with --output FILE{BINARY}")
        return
    if output.exists() and source.exists() and output.samefile(source):
        raise UsageError(f"--output {output} is the input itself; name another file")
    if (source.suffix.lower() == BINARY) != (output.suffix.lower() == BINARY):
        raise UsageError(f"--output {output} must end in {source.suffix}, as the input does: formats are not exchanged")


def translate_file(
    arguments: argparse.Namespace,
    ask: "Callable[[list[str]], list[Said]]",
    *,
    languages: tuple[object, object, object],
    made_with: dict[str, Any],
    at_end: Callable[[], None] = lambda: None,
) -> "TranslatedDocument":
    """Translate a document into --output, or onto standard output.

    languages: source, target, and the pattern of the model's own stand-ins. made_with: what decides the result, besides
    the text. at_end: may still refuse, so that no file appears.
    """
    from clearformer.documents.file_endings import open_document
    from clearformer.documents.sentence_steps import Manner
    from clearformer.documents.stand_ins import stand_ins
    from clearformer.documents.translate_document import translate_document

    source, target = (one if isinstance(one, str) else None for one in languages[:2])
    manner = Manner(source, target, stand_ins(source, target, languages[2]))
    document = open_document(arguments.input)
    journal = _journal(arguments.output, made_with)
    watch = _Watch(journal)
    try:
        with watch.bar() as show:
            done = translate_document(document, ask, manner, journal=journal, on_progress=show)
    except KeyboardInterrupt:
        watch.say_how_to_resume()
        raise
    at_end()
    _put(arguments, done)
    if journal is not None:
        journal.discard()
    _tell(arguments.input, done)
    return done


def _journal(output: Path | None, made_with: dict[str, Any]) -> "Journal | None":
    """Beside the output; a device keeps nothing beside it."""
    from clearformer.documents.translation_journal import Journal, journal_beside

    if output is None or (output.exists() and not output.is_file()):
        return None
    if not output.parent.is_dir():
        raise ValueError(f"{output} cannot be written (no such folder); choose another --output")
    return Journal(journal_beside(output), made_with)


def _put(arguments: argparse.Namespace, done: "TranslatedDocument") -> None:
    if arguments.output is not None:
        with complete_file(arguments.output) as aside:
            aside.write_bytes(done.data)
    if arguments.json:
        for sentence in done.sentences:
            print(json.dumps(asdict(sentence), ensure_ascii=False))
    elif arguments.output is None:
        sys.stdout.buffer.write(done.data)


def _tell(path: Path, done: "TranslatedDocument") -> None:
    parts = sum(one.in_parts for one in done.sentences)
    told = f"{path}: {len(done.sentences):,} {'sentence' if len(done.sentences) == 1 else 'sentences'} translated"
    if parts:
        told += f", {parts:,} of them in parts, around what the model would have lost (marks, placeholders, numbers)"
    print(told, file=sys.stderr)


class _Watch:
    """How far a translation is, and what to type if it stops there."""

    def __init__(self, journal: "Journal | None") -> None:
        self._journal, self._done, self._total = journal, 0, 0

    def bar(self) -> Any:
        from contextlib import contextmanager

        from clearformer.cli.progress import progress_bar

        @contextmanager
        def opened() -> Any:
            with progress_bar("translating") as show:

                def see(done: int, total: int) -> None:
                    if self._total == 0 and self._journal is not None:
                        self._say_what_is_known(done, total)
                    self._done, self._total = done, total
                    show(done, total)

                yield see

        return opened()

    def _say_what_is_known(self, done: int, total: int) -> None:
        assert self._journal is not None
        if done:
            print(f"resuming: {done:,} of {total:,} sentences are in {self._journal.path}", file=sys.stderr)
        elif self._journal.other:
            print(f"{self._journal.path} was of another model or other settings; begun anew", file=sys.stderr)

    def say_how_to_resume(self) -> None:
        if self._journal is not None and self._total:
            print(
                f"stopped after {self._done:,} of {self._total:,} sentences; the same command resumes there",
                file=sys.stderr,
            )
        elif self._total:
            print("stopped; nothing is kept without --output", file=sys.stderr)
