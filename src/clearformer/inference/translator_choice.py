"""Which translator goes from one language to another, among those that ship or were fetched.

A folder says its languages in its provenance (`source_language`, `target_language`); that is all that is needed.
"""

import logging
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from clearformer.folder.description import Description, read_description, shipped_models, shipped_names
from clearformer.folder.fetched import names_here, place_of, published_table
from clearformer.text.language import code_of, guess, name_of

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class KnownTranslator:
    """A translator by the name that `--model` takes, and the languages that its folder says."""

    name: str
    source: str
    target: str

    @property
    def pair(self) -> str:
        """As zh to en."""
        return f"{self.source} to {self.target}"


def known_translators() -> list[KnownTranslator]:
    """Those that ship, then those that were fetched."""
    return [*_said(_here())]


def choose_translator(source: str | None, target: str | None, texts: Iterable[str] = ()) -> str:
    """The name of the translator between two languages; one that is left open must follow from the other.

    texts: what is to be translated, to find its language where several could be meant.
    """
    known = known_translators()
    fitting = [one for one in known if _fits(source, one.source) and _fits(target, one.target)]
    pairs = {(code_of(one.source), code_of(one.target)) for one in fitting}
    if len(pairs) > 1:
        fitting = _by_language(texts, fitting) or fitting
        pairs = {(code_of(one.source), code_of(one.target)) for one in fitting}
    if not fitting:
        raise ValueError(f"no translator {_wanted(source, target)} is here; {_offered(known, source, target)}")
    if len(pairs) > 1:
        option = "--from" if source is None else "--to"
        raise ValueError(f"several translators fit: {_listed(fitting)}; add {option}")
    exact = [one for one in fitting if (source or one.source, target or one.target) == (one.source, one.target)]
    return (exact or fitting)[0].name


def reader_of(language: str | None, target: str | None) -> KnownTranslator | None:
    """A translator that is here and reads this language; into the wanted language, where there is such a one."""
    if language is None:
        return None
    reading = [one for one in known_translators() if code_of(one.source) == code_of(language)]
    best = next((one for one in reading if target and code_of(one.target) == code_of(target)), None)
    return best or (reading[0] if reading else None)


def advice_for(language: str | None, target: str | None) -> str:
    """What to type for a text in this language, if a translator is here that reads it; empty otherwise."""
    found = reader_of(language, target)
    return f"; --from {found.source} --to {found.target} reads it" if found else ""


def _by_language(texts: Iterable[str], fitting: list[KnownTranslator]) -> list[KnownTranslator]:
    """Those that read what the texts are surely written in."""
    for text in texts:
        found = guess(text)
        if found is not None and found.language is not None:
            return [one for one in fitting if code_of(one.source) == found.language]
    return []


def _here() -> Iterator[tuple[str, Path]]:
    for name in shipped_names():
        yield name, shipped_models() / name
    for name in names_here():
        place = place_of(name)
        if place is not None:
            yield name, place


def _said(folders: Iterable[tuple[str, Path]]) -> Iterator[KnownTranslator]:
    for name, folder in folders:
        try:
            described = read_description(folder)
        except ValueError as error:  # a folder that nobody asked for must not stop the others
            log.debug("%s", error)
            continue
        sides = [described.provenance.get(f"{side}_language") for side in ("source", "target")]
        if _translates(described) and all(isinstance(side, str) and side for side in sides):
            yield KnownTranslator(name, str(sides[0]), str(sides[1]))


def _translates(described: Description) -> bool:
    return described.task in (None, "translation") and described.model.get("shape") not in ("encoder", "decoder")


def _fits(wanted: str | None, said: str) -> bool:
    return wanted is None or code_of(wanted) == code_of(said)


def _wanted(source: str | None, target: str | None) -> str:
    words = [f"{word} {name_of(side)}" for word, side in (("from", source), ("to", target)) if side is not None]
    return " ".join(words)


def _listed(known: Iterable[KnownTranslator]) -> str:
    return ", ".join(dict.fromkeys(one.pair for one in known)) or "none"


def _offered(known: list[KnownTranslator], source: str | None, target: str | None) -> str:
    """The pairs that exist, and a model that could be fetched for the wanted one."""
    for name, entry in published_table().items():
        sides = [entry.get(f"{side}_language") for side in ("source", "target")]
        if all(sides) and _fits(source, str(sides[0])) and _fits(target, str(sides[1])):
            return f"`clearformer models get {name}` fetches one"
    return (
        f"those that are go from {_listed(known)}; others are trained from two text files with `clearformer train "
        "--source FILE --target FILE`"
    )
