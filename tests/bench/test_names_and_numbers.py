"""The measure of kept names and numbers counts what a reader would."""

from support.scripts import load_script

made_sentences = load_script("tools/made_sentences.py")
measure = load_script("benchmarks/names_and_numbers.py")


def test_a_name_is_kept_letter_by_letter():
    case = measure.Case("Novák met Kaplan.", ("Novák", "Kaplan"), ())
    assert measure.kept_names(case, "Nováks Freund traf Kaplan.") == 2
    assert measure.kept_names(case, "Novak traf Kaplanski.") == 0
    assert measure.kept_names(case, "我见到了Novák和Kaplan。") == 2


def test_a_number_is_kept_if_its_digits_are():
    case = measure.Case("1,250 of 3.5 at 7:15", (), ("1,250", "3.5", "7:15"))
    assert measure.kept_numbers(case, "1.250 von 3,5 um 7.15 Uhr") == 3
    assert measure.kept_numbers(case, "12 und 50 von 35") == 1
    twice = measure.Case("40 and 40", (), ("40", "40"))
    assert measure.kept_numbers(twice, "einmal 40") == 1  # each number of a translation stands for one


def test_sentences_are_filled_and_always_the_same():
    for language in ("en", "zh"):
        made = list(measure.cases(language, 40))
        assert made == list(measure.cases(language, 40))
        assert all(part in case.text for case in made for part in (*case.names, *case.numbers))
        assert all(case.names or case.numbers for case in made)


def test_no_sentence_is_one_that_models_learn_from():
    learned = made_sentences.SENTENCES.read_text(encoding="utf-8")
    for rows in measure.SENTENCES.values():
        for row in rows.strip().splitlines():
            assert measure.GAP.sub("", row).strip() not in measure.GAP.sub("", learned).replace("\t", "\n").splitlines()
