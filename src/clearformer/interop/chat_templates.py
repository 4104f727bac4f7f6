"""The chat template of a published model: which of its files has it, and whether we understand it.

A template that is not understood does not stop an import: the model continues texts without it, and a note says why it
will not converse.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from clearformer.interop.foreign_files import read_json, read_text
from clearformer.text.chat_template import LONGEST, ChatTemplate
from clearformer.text.special import SpecialTokens

FILE = "chat_template.jinja"
CONFIG = "tokenizer_config.json"
USUAL = "default"  # the name of the one to take, where there are several


def find_template(folder: Path) -> str | None:
    """The template of a Hugging Face folder: a file of its own, or a key of the tokenizer's configuration."""
    if (folder / FILE).is_file():
        return read_text(folder / FILE)
    if not (folder / CONFIG).is_file():
        return None
    found = read_json(folder / CONFIG).get("chat_template")
    if isinstance(found, list):
        named = {one.get("name"): one.get("template") for one in found if isinstance(one, Mapping)}
        found = named.get(USUAL)
    return found if isinstance(found, str) else None


def kept_template(found: Any, special: SpecialTokens) -> tuple[str | None, tuple[str, ...]]:
    """What a model folder keeps of a template, and a note where it cannot be used."""
    if not isinstance(found, str) or not found.strip():
        return None, ()
    if len(found) > LONGEST:
        return None, (f"its chat template is left out: it has more than {LONGEST:,} characters",)
    try:
        ChatTemplate(found, special)
    except ValueError as error:
        return found, (f"it will not converse: {error}",)
    return found, ()
