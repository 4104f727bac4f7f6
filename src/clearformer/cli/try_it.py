"""The command that is printed when a model is finished: it works as it stands, pasted into a shell."""

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clearformer.cli.shipped import EXAMPLE

if TYPE_CHECKING:
    from clearformer.tasks.verbs import Verb

# A sentence that a translator reads, which would leave one in another language as it is.
SENTENCES = {
    "en": "Two dogs play in the snow.",
    "de": "Zwei Hunde spielen im Schnee.",
    "fr": "Deux chiens jouent dans la neige.",
    "es": "Dos perros juegan en la nieve.",
    "zh": "两只狗在雪地里玩。",
}


def try_command(model: Path, verb: "Verb", example: str | tuple[str, ...] | None = None) -> str:
    """How to use a finished model. example: of its data; without one, something that it takes."""
    command = shlex.join(["clearformer", verb.name, "--model", str(model)])
    if example is not None:
        words = [example] if isinstance(example, str) else example
        quoted = [] if verb.input == "class" else [shlex.quote(word) for word in words]
        ends = (
            ["--"] if quoted and any(word.startswith("-") for word in words) else []
        )  # else it would be taken for an option
        return " ".join([command, *ends, *quoted])
    return f"{command} {_usual_words(model, verb)}".strip()


def _usual_words(model: Path, verb: "Verb") -> str:
    """As the shell takes them: what ships for models of pictures and sound, else the verb's own example."""
    from clearformer.cli.text_pairs import compares_texts
    from clearformer.folder.description import read_description

    described = read_description(model)
    if verb.input == "class":  # all classes that there are
        return ""
    if verb.examples and not _reads_text(described.model):
        return EXAMPLE
    if compares_texts(described.provenance):
        return shlex.quote("How old are you? ||| What is your age?")
    source = described.provenance.get("source_language")
    return shlex.quote(SENTENCES[source]) if isinstance(source, str) and source in SENTENCES else verb.example


def _reads_text(described: Mapping[str, Any]) -> bool:
    return bool(described.get("front", {}).get("kind", "tokens") == "tokens")
