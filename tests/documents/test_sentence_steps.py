"""A sentence is translated whole if nothing is lost by it, and in parts if something would be."""

from clearformer.documents.segments import Fragment
from clearformer.documents.sentence_steps import Made, Manner, Said, sentence_steps, without_breaks
from clearformer.documents.translate_document import in_company
from support.documents import CHINESE, GERMAN


def made(pieces: list[Fragment], answers: dict[str, str], manner: Manner = GERMAN) -> Made:
    [found] = in_company(
        [sentence_steps(pieces, manner)], lambda texts: [Said(answers.get(text, text)) for text in texts]
    )
    return found


def text(found: Made) -> str:
    return "".join(piece.text for piece in found.pieces)


def test_a_placeholder_is_exchanged_for_a_name_and_back():
    found = made([Fragment("Open "), Fragment("%s", "kept"), Fragment(".")], {"Open Tom.": "Öffne Tom."})
    assert (text(found), found.in_parts) == ("Öffne %s.", False)


def test_what_the_model_loses_is_translated_around():
    found = made(
        [Fragment("Open "), Fragment("%s", "kept"), Fragment(" now")],
        {"Open Tom now": "Mach auf", "Open": "Öffne", "now": "jetzt"},
    )
    assert (text(found), found.in_parts) == ("Öffne %s jetzt", True)
    found = made([Fragment("I see 42 dogs")], {"I see 42 dogs": "Ich sehe Hunde", "I see": "Ich sehe", "dogs": "Hunde"})
    assert (text(found), found.in_parts) == ("Ich sehe 42 Hunde", True)


def test_placeholders_that_change_their_order_are_translated_around():
    pieces = [Fragment("%s", "kept"), Fragment(" has "), Fragment("%d", "kept")]
    found = made(pieces, {"Tom has Boston": "Boston hat Tom", "has": "hat"})
    assert text(found) == "%s hat %d"
    named = [Fragment("{a}", "kept"), Fragment(" has "), Fragment("{b}", "kept")]
    assert text(made(named, {"Tom has Boston": "Boston hat Tom"})) == "{b} hat {a}"


def test_marks_go_around_the_same_words():
    pieces = [
        Fragment("This is "),
        Fragment("<b>", "mark"),
        Fragment("very"),
        Fragment("</b>", "mark"),
        Fragment(" good."),
    ]
    found = made(pieces, {"This is very good.": "Das ist sehr gut.", "very": "Sehr"})
    assert (text(found), found.in_parts) == ("Das ist <b>sehr</b> gut.", False)
    found = made(pieces, {"This is very good.": "Ganz toll.", "very": "Sehr", "This is": "Das ist", "good.": "gut."})
    assert (text(found), found.in_parts) == ("Das ist <b>Sehr</b> gut.", True)


def test_line_ends_stay_in_about_the_same_places():
    pieces = [Fragment("one two three"), Fragment("\n  ", "break"), Fragment("four five six")]
    found = made(pieces, {"one two three four five six": "eins zwei drei vier fünf sechs"})
    assert text(found) == "eins zwei drei\n  vier fünf sechs"
    found = made(pieces, {"one two three four five six": "alles", "one two three": "eins", "four five six": "vier"})
    assert (text(found), found.in_parts) == ("eins\n  vier", True)


def test_a_line_end_between_chinese_characters_is_nothing():
    pieces = (
        Fragment("你好"),
        Fragment("\n", "break"),
        Fragment("世界 and"),
        Fragment("\n", "break"),
        Fragment("more"),
    )
    assert without_breaks(pieces) == (Fragment("你好世界 and more"),)


def test_capitals_and_final_marks_are_those_of_the_source():
    assert text(made([Fragment("THE DOG")], {"The dog": "der Hund"})) == "DER HUND"
    assert text(made([Fragment("The dog")], {"The dog": "Der Hund."})) == "Der Hund"
    assert text(made([Fragment("The dog.")], {"The dog.": "Der Hund."})) == "Der Hund."
    assert text(made([Fragment("Name:")], {"Name:": "Der Name."})) == "Der Name:"
    assert text(made([Fragment("Name:")], {"Name:": "名称"}, CHINESE)) == "名称："
    assert text(made([Fragment("README")], {"README": "Lies mich"})) == "README"


def test_signs_of_the_layout_are_not_invented():
    assert text(made([Fragment("a dog")], {"a dog": "- ein <b>*Hund*"})) == "ein bHund"
    assert text(made([Fragment("a * dog")], {"a * dog": "ein * Hund"})) == "ein * Hund"


def test_the_least_confidence_counts():
    def ask(texts: list[str]) -> list[Said]:
        return [Said("weg" if "Tom" in one else one, 0.9 if one == "Open" else 0.3) for one in texts]

    [found] = in_company([sentence_steps([Fragment("Open "), Fragment("%s", "kept"), Fragment(" now")], GERMAN)], ask)
    assert found.confidence == 0.3
