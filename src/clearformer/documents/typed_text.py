"""A text that somebody typed is treated as a document of one line, where a model alone might lose something of it.

Models translate sentences: of two, a small one often leaves one out. They never saw placeholders and addresses, nor
sentences in capitals. Everything else goes to the model as it is.
"""

import sys
from pathlib import Path

from clearformer.documents.kept_items import guarded
from clearformer.documents.segments import Fragment, TextDocument, TextSegment, plain
from clearformer.documents.sentence_steps import Manner, Said, shouts
from clearformer.documents.translate_document import Ask, translate_document
from clearformer.text.sentence_ends import sentence_spans


def needs_care(text: str, language: str | None) -> bool:
    """Whether a text is more than one sentence, shouts, or holds what must come out as it went in."""
    if "\n" in text:
        return False
    kept = any(piece.kind == "kept" for piece in guarded([Fragment(text)], plain))
    return kept or shouts(text) or len(sentence_spans(text, language, sys.maxsize)) > 1


def translate_typed(text: str, ask: Ask, manner: Manner, *, name: str = "text") -> Said:
    """Sentence by sentence, with placeholders, addresses and numbers kept; as sure as the least sure sentence."""
    whole = TextSegment(0, len(text), (Fragment(text),))
    done = translate_document(TextDocument(Path(name), text, (whole,)), ask, manner)
    sure = [one.confidence for one in done.sentences if one.confidence is not None]
    return Said(done.data.decode("utf-8"), min(sure, default=None))
