"""clearformer translate: text in, translation out, line for line."""

import argparse
import json
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from clearformer.cli.search_options import add_engine, add_others, add_search, search_config
from clearformer.cli.usage import UsageError

if TYPE_CHECKING:
    from clearformer.inference.ctranslate2 import CTranslate2Translator
    from clearformer.inference.translation_settings import Translation
    from clearformer.inference.translator import Translator

    AnyTranslator = Translator | CTranslate2Translator


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What the verb takes."""
    parser.add_argument("text", nargs="*", help="sentences; without them and without --input, standard input is read")
    parser.add_argument("--model", default="en-de", help="a model folder or the name of one that ships (en-de)")
    add_others(parser)
    parser.add_argument("--input", type=Path, help="a file with a sentence a line")
    parser.add_argument("--output", type=Path, help="where to write the translations (standard output)")
    add_search(parser)
    parser.add_argument("--nbest", type=int, default=1, help="translations shown for each sentence (1)")
    add_engine(parser)
    parser.add_argument("--json", action="store_true", help="print a JSON object a sentence: text, score, tokens")
    parser.add_argument("--align", action="store_true", help="show which source token each word looked at most")


def run(arguments: argparse.Namespace) -> None:
    """Translate a stream of lines in portions, so that a long file shows results early and needs little memory."""
    from clearformer.inference.engines import open_translator
    from clearformer.text.language import FirstOther

    if arguments.text and arguments.input:
        raise UsageError("give sentences or --input, not both")
    config = search_config(arguments, nbest=arguments.nbest)
    scores_shown = arguments.json or arguments.nbest > 1
    translator = open_translator(
        arguments.model, arguments.engine, config, others=arguments.others, scores="tokens" if scores_shown else "none"
    )
    typed = _typed(arguments)
    if typed:
        print("type a sentence a line; Ctrl-D ends", file=sys.stderr)
    watch = FirstOther(translator.provenance.get("source_language"))
    with _output(arguments.output) as output:
        for portion in _portions(_sentences(arguments), 1 if typed else 8 * config.batch):
            if told := watch.see(portion):
                print(told, file=sys.stderr)
            for source, found in zip(portion, translator.alternatives(portion, config), strict=True):
                for line in _present(translator, source, found, arguments):
                    print(line, file=output, flush=output.isatty() or typed)


def _present(
    translator: "AnyTranslator",
    source: str,
    found: list["Translation"],
    arguments: argparse.Namespace,
) -> Iterator[str]:
    if arguments.json:
        entries = [_as_json(translator, source, one, arguments.align) for one in found]
        yield json.dumps({"source": source, **entries[0], "alternatives": entries[1:]}, ensure_ascii=False)
        return
    for one in found:
        yield one.text if arguments.nbest == 1 else f"{one.score:.4f}\t{one.text}"
        if arguments.align and one.ids:
            for target, looked_at, share in _looked(translator, source, one):
                yield f"  {target:<16} {looked_at:<16} {share:.0%}"


def _as_json(translator: "AnyTranslator", source: str, one: "Translation", align: bool) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "text": one.text,
        "score": one.score,
        "log_prob": one.log_prob,
        "tokens": list(one.tokens),
        "token_log_probs": list(one.token_log_probs),
    }
    if align:
        entry["alignment"] = translator.alignment(source, one.ids) if one.ids else []
    return entry


def _looked(translator: "AnyTranslator", source: str, one: "Translation") -> list[tuple[str, str, float]]:
    """Each target piece with the source piece that it looked at most, and how much."""
    pieces = [*translator.source_tokenizer.encode(source.strip(), add_special=False).pieces, "·"]
    rows = []
    for target, weights in zip(one.tokens, translator.alignment(source, one.ids), strict=True):
        share = max(weights)
        looked_at = pieces[weights.index(share)]
        rows.append((target.strip() or target, looked_at.strip() or looked_at, share))
    return rows


def _sentences(arguments: argparse.Namespace) -> Iterable[str]:
    """The sentences, from wherever they come; only a line feed ends a line."""
    from clearformer.text.doctor.parallel import read_lines

    if arguments.text:
        return list(arguments.text)
    if arguments.input:
        return read_lines(arguments.input)
    sys.stdin.reconfigure(encoding="utf-8", errors="strict", newline="\n")  # type: ignore[union-attr]
    return (line.rstrip("\n") for line in sys.stdin)


def _typed(arguments: argparse.Namespace) -> bool:
    """Whether somebody sits at the keyboard and waits for the translation of every line."""
    return not arguments.text and not arguments.input and sys.stdin.isatty()


@contextmanager
def _output(path: Path | None) -> Iterator[TextIO]:
    """Standard output, or a file that appears when it is complete."""
    if path is None:
        yield sys.stdout
        return
    aside = path.with_name(f".{path.name}.writing")
    try:
        file = aside.open("w", encoding="utf-8", newline="\n")
    except OSError as error:
        raise ValueError(f"{path} cannot be written ({error.strerror}); choose another --output") from None
    try:
        with file:
            yield file
        aside.replace(path)
    finally:
        aside.unlink(missing_ok=True)


def _portions(lines: Iterable[str], size: int) -> Iterator[list[str]]:
    remaining = iter(lines)
    while portion := list(islice(remaining, size)):
        yield portion
