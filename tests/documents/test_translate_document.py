"""Sentences are asked for once, joins are restored, and what a kill left is taken up."""

from pathlib import Path

import pytest

from clearformer.documents.file_endings import open_document
from clearformer.documents.sentence_steps import Said
from clearformer.documents.translate_document import PORTION, translate_document
from clearformer.documents.translation_journal import Journal
from clearformer.text.unusable import UnusableTextError
from support.documents import CHINESE, FROM_CHINESE, GERMAN, shouting, translated, written


def test_equal_sentences_are_asked_for_once(tmp_path: Path):
    asked: list[str] = []

    def ask(texts: list[str]) -> list[Said]:
        asked.extend(texts)
        return shouting(texts)

    path = written(tmp_path / "a.txt", "Hello there. Hello there.\n\nHello there.  Who is it?\n")
    done = translate_document(open_document(path), ask, GERMAN)
    assert done.data == b"hELLO THERE. hELLO THERE.\n\nhELLO THERE.  wHO IS IT?\n"
    assert asked == ["Hello there.", "Who is it?"]
    assert [one.place for one in done.sentences] == [f"{path}:1"] * 2 + [f"{path}:3"] * 2


def test_chinese_sentences_have_no_space_between_them(tmp_path: Path):
    def to_chinese(texts: list[str]) -> list[Said]:
        return [Said({"One.": "一。", "Two.": "二。"}[text]) for text in texts]

    def from_chinese(texts: list[str]) -> list[Said]:
        return [Said({"一。": "One.", "二。": "Two."}[text]) for text in texts]

    assert translated(written(tmp_path / "a.txt", "One. Two.\n"), to_chinese, CHINESE) == "一。二。\n".encode()
    assert translated(written(tmp_path / "b.txt", "一。二。\n"), from_chinese, FROM_CHINESE) == b"One. Two.\n"


def test_a_stopped_translation_is_taken_up_where_it_was(tmp_path: Path):
    count = 3 * PORTION
    path = written(tmp_path / "a.txt", "".join(f"This is {'very ' * (n % 7)}line x{n}y.\n" for n in range(count)))
    whole = translated(path, shouting)
    asked: list[str] = []

    def failing(texts: list[str]) -> list[Said]:
        if len(asked) >= PORTION:
            raise KeyboardInterrupt
        asked.extend(texts)
        return shouting(texts)

    def journal() -> Journal:
        return Journal(tmp_path / "j", {"model": "x"})

    with pytest.raises(KeyboardInterrupt):
        translate_document(open_document(path), failing, GERMAN, journal=journal())
    again: list[str] = []

    def working(texts: list[str]) -> list[Said]:
        again.extend(texts)
        return shouting(texts)

    seen: list[tuple[int, int]] = []
    done = translate_document(
        open_document(path), working, GERMAN, journal=journal(), on_progress=lambda *now: seen.append(now)
    )
    assert done.data == whole
    assert sorted(asked + again) == sorted(set(asked + again))  # nothing twice
    assert len(asked) == PORTION
    assert seen == [(PORTION * part, count) for part in (1, 2, 3)]


def test_a_refused_text_is_named_by_its_place(tmp_path: Path):
    def refusing(texts: list[str]) -> list[Said]:
        raise UnusableTextError(1, "has 9 tokens, more than the 8 allowed; split it")

    path = written(tmp_path / "a.txt", "\n\nHello there.\n")
    with pytest.raises(ValueError, match=r"a.txt:3 or below: a part of a sentence has 9 tokens"):
        translated(path, refusing)
