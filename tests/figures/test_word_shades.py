"""Shaded words: every word with its number, inside the sheet, whatever it is written in."""

import csv
import io
import json
from xml.etree import ElementTree

from clearformer.figures.palette import shade
from clearformer.figures.word_shades import ShadedText, ShadedWord, WordShades

NAME = "{http://www.w3.org/2000/svg}"
TEXT = ShadedText(
    title="a method",
    notes=["how"],
    words=[ShadedWord(text="a<b>", score=-2.0), ShadedWord(text="狗", score=1.0), ShadedWord(text="c", score=-0.001)],
    apart=[ShadedWord(text="[CLS]", score=0.25)],
    signed=True,
)


def drawn(*texts):
    return ElementTree.fromstring(WordShades(texts=texts).svg("A & B"))


def test_words_stand_on_their_colours_with_their_numbers():
    tree = drawn(TEXT)
    texts = [element.text for element in tree.iter(f"{NAME}text")]
    assert {"A & B", "a method", "how", "a<b>", "狗", "[CLS]", "-2.00", "+1.00", "+0.25"} <= set(texts)
    assert "0.00" in texts, "what rounds to nothing has no sign"
    fills = [element.get("fill") for element in tree.iter(f"{NAME}rect")]
    assert shade(-1, signed=True) in fills, "the largest score has the darkest colour"
    assert shade(0.5, signed=True) in fills


def test_a_long_text_is_broken_into_lines_inside_the_sheet():
    words = [ShadedWord(text=f"word{number}", score=number / 100) for number in range(80)]
    tree = drawn(ShadedText(title="", notes=[], words=words, apart=[], signed=False))
    width, height = float(tree.get("width")), float(tree.get("height"))
    for element in tree.iter(f"{NAME}text"):
        assert 0 < float(element.get("x")) < width
        assert 0 < float(element.get("y")) < height
    assert len({element.get("y") for element in tree.iter(f"{NAME}text")}) > 8


def test_a_part_begins_on_a_line_of_its_own():
    words = [ShadedWord(text="question", score=1.0), ShadedWord(text="context", score=1.0, opens=True)]
    tree = drawn(ShadedText(title="", notes=[], words=words, apart=[], signed=False))
    places = {element.text: element.get("y") for element in tree.iter(f"{NAME}text")}
    assert float(places["context"]) > float(places["question"])


def test_nothing_but_zeros_is_drawn_too():
    drawn(ShadedText(title="", notes=[], words=[ShadedWord(text="a", score=0.0)], apart=[], signed=True))
    drawn(ShadedText(title="", notes=[], words=[], apart=[], signed=False))


def test_tables_hold_every_digit():
    figure = WordShades(texts=[TEXT])
    rows = list(csv.DictReader(io.StringIO(figure.csv())))
    assert [float(row["score"]) for row in rows] == [-2.0, 1.0, -0.001, 0.25]
    [plain] = json.loads(figure.json())["figures"]
    assert [word["score"] for word in plain["words"]] == [-2.0, 1.0, -0.001]
    assert plain["markers"] == [{"text": "[CLS]", "score": 0.25}]
