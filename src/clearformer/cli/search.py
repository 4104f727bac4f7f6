"""clearformer search: build an index over files, and ask it by words and by meaning."""

import argparse
import json
import re
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import IO, TYPE_CHECKING

from clearformer.cli.named_models import ModelName
from clearformer.cli.parser import either, number_between
from clearformer.cli.usage import UsageError
from clearformer.cli.use import GivenText, add_answers, given_texts, naming_places, open_output, portions, utf8_word

if TYPE_CHECKING:
    from clearformer.retrieval.search_index import Hit, SearchIndex

UNITS, WAYS = ("passage", "line", "file"), ("fused", "meaning", "words", "ranks")
MOST = 10_000  # results
TOGETHER = 64  # queries
WIDTH = 100
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\s]+")  # an escape sequence in a file must not steer the terminal


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What the verb takes."""
    parser.add_argument(
        "what", metavar="build|ask", choices=["build", "ask"], help="build an index over files, or ask one"
    )
    parser.add_argument(
        "text", nargs="*", metavar="WORD", help="build: files and folders; ask: queries (or else standard input)"
    )
    parser.add_argument("--index", type=Path, required=True, metavar="DIR", help="the folder of the index")
    parser.add_argument(
        "--by",
        choices=[*UNITS, *WAYS],
        help="build: what one result is, passage, line or file (passage); "
        "ask: how to rank, words, meaning, both by score (fused) or both by rank (ranks); fused unless told",
    )
    parser.add_argument(
        "--model",
        type=ModelName,
        help="an encoder (a folder, a name, or hub:OWNER/NAME), for search by meaning; "
        "build without it finds words alone, ask knows the index's own",
    )
    parser.add_argument("--k", type=number_between(1, MOST), default=10, help="ask: how many results (10)")
    parser.add_argument("--input", type=Path, metavar="FILE", help="ask: a file of queries, one per line")
    parser.add_argument(
        "--verbose", action="store_true", help="build: name every file that is left out, with the reason"
    )
    add_answers(
        parser, "ask: print one JSON object per query, with all results; build: one object, with what is left out"
    )
    parser.epilog = (
        "Example: clearformer search build docs --index idx --model DIR, then "
        'clearformer search ask "how do I resume a run?" --index idx'
    )


def run(arguments: argparse.Namespace) -> None:
    """Build or ask."""
    allowed = UNITS if arguments.what == "build" else WAYS
    if arguments.by is not None and arguments.by not in allowed:
        raise UsageError(f"search {arguments.what} --by cannot be {arguments.by!r}; choose {either(allowed)}")
    if arguments.what == "build":
        _build(arguments)
    else:
        _ask(arguments)


def _build(arguments: argparse.Namespace) -> None:
    from clearformer.cli.progress import progress_bar
    from clearformer.retrieval.build_index import NAMED, build_index, left_out_lines

    if not arguments.text:
        raise UsageError("name the files or folders to index, as in `clearformer search build docs --index idx`")
    left: list[str] = []
    with progress_bar("embedding") as show:
        made = build_index(
            arguments.text,
            arguments.index,
            model=arguments.model,
            unit=arguments.by or "passage",
            on_progress=show,
            on_left_out=left.append,
        )
    content = made.content
    if arguments.json:
        told = {"index": str(arguments.index), "unit": content.unit, "results": len(made), "files": len(content.files)}
        told |= {"model": content.model.name if content.model else None, "left_out": left}
        print(json.dumps(told, ensure_ascii=False))
        return
    for line in [f"left out: {reason}" for reason in left] if arguments.verbose else left_out_lines(left):
        print(line, file=sys.stderr)
    if len(left) > NAMED and not arguments.verbose:
        print("  (--verbose names each)", file=sys.stderr)
    how = "by words and by meaning" if content.model else "by words; with --model (an encoder) also by meaning"
    files, units = _count(len(content.files), "file"), _count(len(made), content.unit)
    print(f"{arguments.index}: {units} of {files}, found {how}")


def _ask(arguments: argparse.Namespace) -> None:
    from clearformer.retrieval.search_index import open_index

    try:
        arguments.text = [utf8_word(word) for word in arguments.text]
    except argparse.ArgumentTypeError as error:
        raise UsageError(str(error)) from error
    index = open_index(arguments.index, model=arguments.model)
    with open_output(arguments.output) as output:
        for number, queries in enumerate(portions(given_texts(arguments), TOGETHER)):
            with naming_places(queries):
                _answer(index, queries, arguments, output, first=number == 0)


def _answer(
    index: "SearchIndex", queries: list[GivenText], arguments: argparse.Namespace, output: IO[str], *, first: bool
) -> None:
    several = len(queries) > 1 or not first
    found = index.ask_all([one.text for one in queries], k=arguments.k, by=arguments.by)
    for place, (query, hits) in enumerate(zip(queries, found, strict=True)):
        if arguments.json:
            entry = {"query": query.text, "results": [asdict(hit) for hit in hits]}
            print(json.dumps(entry, ensure_ascii=False), file=output)
            continue
        if not hits:
            print(f"nothing was found for {query.text!r}", file=sys.stderr)
        if several:
            print(("" if first and place == 0 else "\n") + _plain(query.text), file=output)
        for line in _shown(hits, query.text, marked=output.isatty()):
            print(line, file=output)


def _shown(hits: "list[Hit]", query: str, *, marked: bool) -> Iterator[str]:
    """Each result: its place and score, then its text with the words of the query in bold."""
    for number, hit in enumerate(hits, start=1):
        yield f"{number:>3}  {_plain(hit.file)}:{hit.line}  {hit.score:.4f}"
        for line in textwrap.wrap(_plain(hit.text), WIDTH, break_on_hyphens=False) or [""]:
            yield f"     {_marked(line, query) if marked else line}"


def _marked(line: str, query: str) -> str:
    from clearformer.retrieval.terms import query_terms, term_spans

    wanted = set(query_terms(query))
    bold = [False] * len(line)
    for term, start, end in term_spans(line, single=True):
        if term in wanted:
            bold[start:end] = [True] * (end - start)
    made, before = "", False
    for letter, now in zip(line, bold, strict=True):
        made += ("\x1b[1m" if now else "\x1b[0m") + letter if now != before else letter
        before = now
    return made + ("\x1b[0m" if before else "")


def _plain(text: str) -> str:
    """On one line, without what steers a terminal."""
    return _CONTROL.sub(" ", text).strip()


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"
