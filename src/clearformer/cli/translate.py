"""clearformer translate: text in, translation out, line for line."""

import argparse
import json
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from clearformer.cli.search_options import add_engine, add_others, add_search, check_engine, search_config
from clearformer.cli.use import add_answers, add_model, add_texts, answer_texts

if TYPE_CHECKING:
    from clearformer.inference.ctranslate2 import CTranslate2Translator
    from clearformer.inference.translation_settings import Translation
    from clearformer.inference.translator import Translator

    AnyTranslator = Translator | CTranslate2Translator


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What the verb takes."""
    add_texts(parser, "sentences")
    add_model(parser, "a translator", default="en-de")
    add_others(parser)
    add_search(parser, nbest=True)
    add_engine(parser)
    add_answers(parser, "print one JSON object per sentence: text, score, tokens")
    parser.add_argument("--align", action="store_true", help="show which source token each word looked at most")


def run(arguments: argparse.Namespace) -> None:
    """Translate line for line; a blank line keeps its place."""
    from clearformer.inference.engines import open_translator
    from clearformer.text.language import FirstOther

    config = search_config(arguments)
    check_engine(arguments, config)
    scores_shown = arguments.json or config.nbest > 1
    translator = open_translator(
        arguments.model, arguments.engine, config, others=arguments.others, scores="tokens" if scores_shown else "none"
    )
    watch = FirstOther(translator.provenance.get("source_language"))

    def translate(texts: list[str]) -> list[list["Translation"]]:
        if told := watch.see(texts):
            print(told, file=sys.stderr)
        return translator.alternatives(texts, config)

    def show(source: str, found: list["Translation"]) -> Iterator[str]:
        return _present(translator, source, found, arguments)

    answer_texts(arguments, translate, show, portion=8 * config.batch, keep_blank=True)


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
        yield f"{one.score:.4f}\t{one.text}" if (arguments.nbest or 1) > 1 else one.text
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
