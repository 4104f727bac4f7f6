"""Documents to translate, and translators that need no model: one that changes nothing, one that spoils everything."""

import io
import random
import zipfile
from pathlib import Path

from clearformer.documents.file_endings import open_document
from clearformer.documents.segments import Fragment
from clearformer.documents.sentence_steps import Manner, Said
from clearformer.documents.stand_ins import stand_ins
from clearformer.documents.translate_document import translate_document

GERMAN = Manner("en", "de", stand_ins("en", "de"))
CHINESE = Manner("en", "zh", stand_ins("en", "zh"))
FROM_CHINESE = Manner("zh", "en", stand_ins("zh", "en"))
W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
TYPES = '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>'
RELATIONS = '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"/>'


def unchanged(texts: list[str]) -> list[Said]:
    return [Said(text) for text in texts]


def shouting(texts: list[str]) -> list[Said]:
    """Every word changed, and nothing else: so that it can be seen what was taken for words."""
    return [Said("".join(letter.swapcase() for letter in text)) for text in texts]


def spoiling(texts: list[str]) -> list[Said]:
    """What a bad model does: loses stand-ins and numbers, stops early, goes on, and writes signs of the layout."""
    return [Said(_spoiled(text)) for text in texts]


def _spoiled(text: str) -> str:
    draw = random.Random(text)
    words = [word if draw.random() < 0.5 else word[::-1] for word in text.split()]
    if draw.random() < 0.3:
        words = words[: max(1, len(words) // 2)]
    if draw.random() < 0.3:
        words += ["mehr", "<so>", "&", "[weiter](", "- **", "`", '"', "\\", "1."]
    return "Ja!" if draw.random() < 0.1 else " ".join(words)


def translated(path: Path, ask=unchanged, manner: Manner = GERMAN) -> bytes:
    return translate_document(open_document(path), ask, manner).data


def written(path: Path, text: str | bytes) -> Path:
    path.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8"))
    return path


def shown(pieces: "tuple[Fragment, ...] | list[Fragment]") -> list[tuple[str, str]]:
    return [(piece.kind, piece.text) for piece in pieces]


def run(text: str, look: str = "") -> str:
    """A run of Word. look: what stands in its properties."""
    properties = f"<w:rPr>{look}</w:rPr>" if look else ""
    return f'<w:r>{properties}<w:t xml:space="preserve">{text}</w:t></w:r>'


def word_package(*paragraphs: str, **more: str | bytes) -> bytes:
    """A .docx file. more: other files, by name with __ for / and _xml for .xml."""
    body = "".join(f"<w:p>{one}</w:p>" for one in paragraphs)
    document = f'<?xml version="1.0"?>\n<w:document xmlns:w="{W}"><w:body>{body}</w:body></w:document>'
    files: dict[str, str | bytes] = {
        "[Content_Types].xml": TYPES,
        "_rels/.rels": RELATIONS,
        "word/document.xml": document,
        **{name.replace("__", "/").replace("_xml", ".xml"): text for name, text in more.items()},
    }
    return packed(files)


def packed(files: dict[str, str | bytes]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return made.getvalue()


def unpacked(data: bytes, name: str = "word/document.xml") -> str:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return archive.read(name).decode("utf-8")
