"""clearformer translate: text in, translation out, line for line, or a document with its structure."""

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from itertools import count
from typing import TYPE_CHECKING, Any, cast

from clearformer.cli.document_translation import check_places, gives_a_document, translate_file
from clearformer.cli.languages import OtherLanguages, add_translator, settle_translator, some_texts
from clearformer.cli.search_options import add_engine, add_others, add_search, check_engine, search_config
from clearformer.cli.use import add_answers, add_texts, answer_texts
from clearformer.inference.kept_names import LostRemarks
from clearformer.inference.sentence_confidence import Confidence, UnsureRemarks

if TYPE_CHECKING:
    from clearformer.inference.ctranslate2 import CTranslate2Translator, Scores
    from clearformer.inference.translation_settings import DecodingConfig, Translation
    from clearformer.inference.translator import Translator

    AnyTranslator = Translator | CTranslate2Translator
    TranslateAll = Callable[[list[str]], list[list[Translation]]]

SIDES = "source", "target"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What the verb takes."""
    add_texts(parser, "sentences", "a document (.txt .md .srt .html .docx .po) or a file of sentences, one per line")
    add_translator(parser)
    add_others(parser)
    add_search(parser, nbest=True)
    add_engine(parser)
    add_answers(parser, "print one JSON object per sentence: text, score, tokens")
    parser.add_argument("--lines", action="store_true", help="--input holds one text per line, whatever its name")
    parser.add_argument("--any-language", action="store_true", help="also texts that seem to be in another language")
    parser.add_argument("--align", action="store_true", help="show which source token each word looked at most")


def run(arguments: argparse.Namespace) -> None:
    """Translate a document, or line for line; a blank line keeps its place."""
    from clearformer.folder.description import find_model, read_description
    from clearformer.inference.engines import open_translator

    whole = gives_a_document(arguments)
    if whole:
        check_places(arguments)
    settle_translator(arguments, lambda: some_texts(arguments))
    config = search_config(arguments)
    check_engine(arguments, config)
    said = read_description(find_model(arguments.model)).provenance
    others = OtherLanguages(
        said.get("source_language"),
        said.get("target_language"),
        translate_all=arguments.any_language,
        in_document=whole,
    )
    if arguments.text and not arguments.any_language:
        others.refuse_all(arguments.text)
    shown = "tokens" if arguments.json or config.nbest > 1 else "total" if Confidence(said).known else "none"
    translator = open_translator(
        arguments.model, arguments.engine, config, others=arguments.others, scores=cast("Scores", shown)
    )
    (_translate_document if whole else _translate_lines)(arguments, translator, config, others)


def _translate_document(
    arguments: argparse.Namespace, translator: "AnyTranslator", config: "DecodingConfig", others: OtherLanguages
) -> None:
    from dataclasses import asdict

    from clearformer.documents.sentence_steps import Said
    from clearformer.folder.description import open_folder

    known = translator.provenance
    confidence = Confidence(known)

    def translate(texts: list[str]) -> list[Said]:
        return [Said(one.text, confidence.of(one)) for one in translator.translate(texts, config, any_language=True)]

    done = translate_file(
        arguments,
        others.around(translate, lambda text, _: Said(text)),
        languages=(known.get("source_language"), known.get("target_language"), known.get("stand_in")),
        made_with={
            "models": [open_folder(one).fingerprint for one in (arguments.model, *arguments.others)],
            "search": asdict(config),
            "any_language": arguments.any_language,
        },
        at_end=others.finish,
    )
    remarks, lost = UnsureRemarks(), _lost_items(translator, config)
    for sentence in done.sentences:
        remarks.see(sentence.place, sentence.confidence)
        lost.see(sentence.place, sentence.source, sentence.text)
    _remark(remarks, lost)


def _translate_lines(
    arguments: argparse.Namespace, translator: "AnyTranslator", config: "DecodingConfig", others: OtherLanguages
) -> None:
    from clearformer.inference.translation_settings import untouched

    confidence, remarks = _Sureness(translator.provenance), UnsureRemarks()
    unit, numbers, lost = "text" if arguments.text else "line", count(1), _lost_items(translator, config)

    def translate_all(texts: list[str]) -> list[list["Translation"]]:
        return translator.alternatives(texts, config, any_language=True)

    def show(source: str, found: list["Translation"]) -> Iterator[str]:
        sure = [confidence.of(source, one) for one in found]
        place = f"{unit} {next(numbers)}"
        remarks.see(place, sure[0])
        lost.see(place, source, found[0].text)
        return _present(translator, source, list(zip(found, sure, strict=True)), arguments)

    typed = arguments.text and not (arguments.json or config.nbest > 1 or arguments.align)
    every = _with_care(translate_all, translator.provenance, confidence) if typed else translate_all
    translate = others.around(every, lambda text, _: [untouched(text)])
    answer_texts(arguments, translate, show, portion=8 * config.batch, keep_blank=True, at_end=others.finish)
    _remark(remarks, lost)


class _Sureness:
    """The confidence of translations, also of texts that were translated sentence by sentence."""

    def __init__(self, provenance: dict[str, Any]) -> None:
        self._confidence = Confidence(provenance)
        self.by_sentences: dict[str, float | None] = {}

    def of(self, source: str, translation: "Translation") -> float | None:
        if source in self.by_sentences:
            return self.by_sentences[source]
        return self._confidence.of(translation)


def _with_care(translate_all: "TranslateAll", known: dict[str, Any], sureness: _Sureness) -> "TranslateAll":
    """The same for typed texts; those with several sentences, placeholders or addresses lose none of them."""
    from clearformer.documents.sentence_steps import Manner, Said
    from clearformer.documents.stand_ins import stand_ins
    from clearformer.documents.typed_text import needs_care, translate_typed
    from clearformer.inference.translation_settings import untouched

    source, target = (said if isinstance(said := known.get(f"{one}_language"), str) else None for one in SIDES)
    manner = Manner(source, target, stand_ins(source, target, known.get("stand_in")))

    def ask(texts: list[str]) -> list[Said]:
        return [Said(one.text, sureness.of("", one)) for (one, *_) in translate_all(texts)]

    def careful(texts: list[str]) -> list[list["Translation"]]:
        cared = [needs_care(text, source) for text in texts]
        found = translate_all(["" if care else text for text, care in zip(texts, cared, strict=True)])
        for place, text in enumerate(texts):
            if cared[place]:
                said = translate_typed(text, ask, manner, name=f"text {place + 1}")
                sureness.by_sentences[text] = said.confidence
                found[place] = [untouched(said.text)]
        return found

    return careful


def _lost_items(translator: "AnyTranslator", config: "DecodingConfig") -> LostRemarks:
    return LostRemarks(translator.keeper if config.keep_names else None)


def _remark(*remarks: UnsureRemarks | LostRemarks) -> None:
    for one in remarks:
        if told := one.remark():
            print(told, file=sys.stderr)


def _present(
    translator: "AnyTranslator",
    source: str,
    found: list[tuple["Translation", float | None]],
    arguments: argparse.Namespace,
) -> Iterator[str]:
    if arguments.json:
        entries = [_as_json(translator, source, one, arguments.align) | _sure(sure) for one, sure in found]
        yield json.dumps({"source": source, **entries[0], "alternatives": entries[1:]}, ensure_ascii=False)
        return
    for one, _ in found:
        yield f"{one.score:.4f}\t{one.text}" if (arguments.nbest or 1) > 1 else one.text
        if arguments.align and one.ids:
            for target, looked_at, share in _looked(translator, source, one):
                yield f"  {target:<16} {looked_at:<16} {share:.0%}"


def _sure(confidence: float | None) -> dict[str, float]:
    """The probability of a good translation, where the model was calibrated."""
    return {} if confidence is None else {"confidence": round(confidence, 4)}


def _as_json(translator: "AnyTranslator", source: str, one: "Translation", align: bool) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "text": one.text,
        "score": one.score,
        "log_prob": one.log_prob,
        "tokens": list(one.tokens),
        "token_log_probs": list(one.token_log_probs),
    }
    if one.text and not one.tokens:  # in another language, and left as it is
        entry["untranslated"] = True
    if one.read_as is not None:
        entry["read_as"] = one.read_as
    if one.lost:
        entry["lost"] = list(one.lost)
    if align:
        entry["alignment"] = translator.alignment(one.read_as or source, one.ids) if one.ids else []
    return entry


def _looked(translator: "AnyTranslator", source: str, one: "Translation") -> list[tuple[str, str, float]]:
    """Each target piece with the source piece that it looked at most, and how much, in what the model read."""
    source = one.read_as or source
    pieces = [*translator.source_tokenizer.encode(source.strip(), add_special=False).pieces, "·"]
    rows = []
    for target, weights in zip(one.tokens, translator.alignment(source, one.ids), strict=True):
        share = max(weights)
        looked_at = pieces[weights.index(share)]
        rows.append((target.strip() or target, looked_at.strip() or looked_at, share))
    return rows
