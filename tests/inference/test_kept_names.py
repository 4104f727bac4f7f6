"""Rare names are led around the model: it is asked again only where one is lost, and the best answer taken."""

import math
from dataclasses import replace

import pytest

from clearformer.inference.kept_names import LostRemarks, NameKeeper, name_keeper
from clearformer.inference.translation_settings import DecodingConfig, Translation, untouched
from clearformer.text.stand_in_table import KEY

TABLE = {
    "script": "Latin",
    "words": "met in",
    "names": {"Tom": {"Tom": "{}"}, "Boston": {"Boston": "{}"}},
    "numbers": {},
    "marks": {"source": ",.", "target": ".,"},
}


@pytest.fixture
def keeper() -> NameKeeper:
    made = name_keeper({KEY: TABLE})
    assert made is not None
    return made


class Model:
    """A translator that knows a few sentences. asked: every batch that it was given."""

    def __init__(self, known: dict[str, list[tuple[str, float]]]) -> None:
        self.known, self.asked = known, []

    def __call__(self, texts: list[str], config: DecodingConfig) -> list[list[Translation]]:
        self.asked.append(texts)
        return [
            [replace(untouched(said), score=score) for said, score in self.known.get(text, [("?", -9.0)])]
            for text in texts
        ]


def mended(keeper: NameKeeper, model: Model, *texts: str, nbest: int = 1) -> list[list[Translation]]:
    config = DecodingConfig(nbest=nbest)
    return keeper.mend(texts, model(list(texts), config), config, model)


def test_nothing_is_asked_twice_where_nothing_is_lost(keeper: NameKeeper):
    model = Model({"met Okonkwo": [("traf Okonkwo", -1.0)], "met in": [("traf", -1.0)]})
    plain = model(["met Okonkwo", "met in"], DecodingConfig())
    assert keeper.mend(["met Okonkwo", "met in"], plain, DecodingConfig(), model) == plain
    assert len(model.asked) == 1


def test_the_likeliest_translation_that_keeps_the_name_is_taken(keeper: NameKeeper):
    model = Model(
        {
            "met Okonkwo": [("traf Otto", -0.1)],
            "met Tom": [("traf Thomas", -0.1), ("traf Tom", -0.6)],
            "met Boston": [("traf Boston", -0.5)],
        }
    )
    [[best]] = mended(keeper, model, "met Okonkwo")
    assert (best.text, best.read_as, best.score, best.lost) == ("traf Okonkwo", "met Boston", -0.5, ())
    assert len(model.asked) == 2, "all stand-ins are tried in one batch"


def test_where_no_stand_in_works_the_plain_translation_stands_and_says_what_it_lost(keeper: NameKeeper):
    [[best]] = mended(keeper, Model({"met Okonkwo": [("traf Otto", -0.1)]}), "met Okonkwo")
    assert (best.text, best.read_as, best.lost) == ("traf Otto", None, ("Okonkwo",))


def test_a_wider_search_follows_where_all_have_lost_something(keeper: NameKeeper):
    model = Model({"met Okonkwo": [("traf Otto", -0.1)]})
    narrow = model.known.copy()

    def search(texts: list[str], config: DecodingConfig) -> list[list[Translation]]:
        model.known = narrow if config.beam < 12 else {"met Boston": [("traf", -0.1), ("in Boston", -4.0)]}
        return model(texts, config)

    plain = search(["met Okonkwo"], DecodingConfig())
    [[best]] = keeper.mend(["met Okonkwo"], plain, DecodingConfig(), search)
    assert best.text == "in Okonkwo"
    assert len(model.asked) == 3


def test_several_translations_are_ranked_and_none_is_shown_twice(keeper: NameKeeper):
    model = Model(
        {
            "met Okonkwo": [("traf Otto", -0.1), ("traf Ott", -0.2)],
            "met Tom": [("traf Tom", -0.6), ("sah Tom", -0.7)],
            "met Boston": [("traf Boston", -0.5)],
        }
    )
    [found] = mended(keeper, model, "met Okonkwo", nbest=3)
    assert [one.text for one in found] == ["traf Okonkwo", "sah Okonkwo", "traf Otto"]


def test_without_scores_the_first_way_is_taken(keeper: NameKeeper):
    model = Model(
        {"met Okonkwo": [("Otto", math.nan)], "met Tom": [("sah Tom", math.nan)], "met Boston": [("Boston", math.nan)]}
    )
    assert mended(keeper, model, "met Okonkwo")[0][0].text == "sah Okonkwo"


def test_what_was_lost_is_remarked_on_once(keeper: NameKeeper):
    remarks = LostRemarks(keeper)
    remarks.see("line 1", "met Okonkwo", "traf Okonkwo")
    assert remarks.remark() is None
    for line in range(2, 7):
        remarks.see(f"line {line}", "met Okonkwo", "traf ihn")
    assert remarks.remark() == (
        "not in the translation as in the text: Okonkwo (line 2); Okonkwo (line 3); Okonkwo (line 4) and 2 more"
    )
    silent = LostRemarks(None)
    silent.see("line 1", "met Okonkwo", "traf ihn")
    assert silent.remark() is None
