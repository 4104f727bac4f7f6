"""How summaries are written: bounds, what a folder remembers, and what is said of how one came about."""

import pytest

from clearformer.inference.summary_settings import KEPT, Summary, SummaryConfig, usual_summaries


def test_a_search_allows_no_more_tokens_than_the_source_has():
    search = SummaryConfig(beam=3, alpha=0.5).search()
    assert (search.beam, search.alpha) == (3, 0.5)
    assert [search.longest(size) for size in (1, 7, 100)] == [1, 7, 100]


@pytest.mark.parametrize("values", [{"beam": 0}, {"max_tokens": 0}, {"batch": 0}, {"alpha": 11}])
def test_what_makes_no_sense_is_refused(values):
    with pytest.raises(ValueError, match=next(iter(values))):
        SummaryConfig(**values)


def test_a_folder_says_how_its_recipe_summarised():
    told = {"beam": 2, "alpha": 0.9, "no_repeat_ngram": 0, "max_tokens": 12, "long": "beginning"}
    assert told.keys() == KEPT.keys()
    assert usual_summaries({"decoding": told}) == SummaryConfig(**told)
    assert usual_summaries({}) == SummaryConfig()


@pytest.mark.parametrize("told", [{"beam": 1000}, {"long": "all"}, {"max_tokens": "many"}, {"beam": True}])
def test_a_folder_that_asks_for_nonsense_is_refused(told):
    with pytest.raises(ValueError, match="provenance"):
        usual_summaries({"decoding": told})


def test_what_is_remarkable_is_said():
    plain = {"text": "x", "score": 0.0}
    assert Summary(**plain, tokens=9, read=9).remark == ""
    assert "of which the first 5 were read" in Summary(**plain, tokens=9, read=5).remark
    assert "in 2 parts" in Summary(**plain, tokens=9, read=9, parts=2).remark
    assert "broken off" in Summary(**plain, tokens=9, read=9, ended=False).remark
