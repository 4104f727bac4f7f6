"""Stop texts: found at their first place, and no beginning of one is ever shown."""

from random import Random

from clearformer.decoding.stop_texts import find_stop, held_back


def test_the_first_of_all_places_counts():
    assert find_stop("one two three", ["three", "two"]) == 4
    assert find_stop("one two three", ["two"], 5) is None
    assert find_stop("one", []) is None


def test_what_may_become_a_stop_text_is_held_back():
    assert held_back("well\n", ["\n\n"]) == 1
    assert held_back("well\n", ["END", "\n#"]) == 1
    assert held_back("wellEN", ["END", "N!!"]) == 2
    assert held_back("well", ["END"]) == 0
    assert held_back("aa", ["aaa"]) == 2
    assert held_back("", ["a"]) == 0


def test_shown_letter_by_letter_it_is_the_text_before_the_first_stop():
    """Random texts over two letters, where every end looks like the beginning of some stop text."""
    random = Random(3)
    for _ in range(300):
        text = "".join(random.choices("ab", k=random.randrange(12)))
        stops = ["".join(random.choices("ab", k=random.randrange(1, 5))) for _ in range(random.randrange(3))]
        shown = 0
        for end in range(1, len(text) + 1):
            place = find_stop(text[:end], stops, shown)
            if place is not None:
                shown = place
                break
            shown = end - held_back(text[:end], stops)
        else:
            shown = len(text)
        found = [place for stop in stops if (place := text.find(stop)) >= 0]
        # one that ends sooner is seen first, though another began before it
        sooner = [place + len(stop) for stop in stops if (place := text.find(stop)) >= 0]
        assert shown in found if found else shown == len(text)
        if found:
            assert min(sooner) >= shown
