"""Which file is opened how, by the ending of its name."""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import cast

from clearformer.documents.segments import DocumentError, OpenDocument

# The module and the function for each ending; imported when it is needed.
_OPENERS = {
    ".txt": "text_file.open_text_file",
    ".md": "markdown_text.open_markdown",
    ".markdown": "markdown_text.open_markdown",
    ".srt": "subtitle_cues.open_subtitles",
    ".html": "web_page.open_web_page",
    ".htm": "web_page.open_web_page",
    ".xhtml": "web_page.open_web_page",
    ".docx": "word_file.open_word_file",
    ".po": "message_catalogue.open_catalogue",
    ".pot": "message_catalogue.open_catalogue",
}
_OTHERS = {
    ".doc": "save it as .docx",
    ".odt": "save it as .docx",
    ".rtf": "save it as .docx",
    ".pdf": "give the text that it was made from",
    ".epub": "unpack it, and give its .xhtml files",
    ".vtt": "save it as .srt",
    ".pptx": "copy its text to a .docx or .txt file",
    ".xlsx": "save it as a .txt file",
}


def is_document(path: Path) -> bool:
    """Whether a name ends as a document's does; others hold one text per line."""
    return path.suffix.lower() in _OPENERS


def open_document(path: Path) -> OpenDocument:
    """A document of any format."""
    module, _, function = _OPENERS[path.suffix.lower()].partition(".")
    opener = getattr(import_module(f"clearformer.documents.{module}"), function)
    return cast(Callable[[Path], OpenDocument], opener)(path)


def refuse_other(path: Path) -> None:
    """Say what to do with a document of a format that is not read here."""
    advice = _OTHERS.get(path.suffix.lower())
    if advice is not None:
        raise DocumentError(f"{path}: {path.suffix} files are not read; {advice}")
