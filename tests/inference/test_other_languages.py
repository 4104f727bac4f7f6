"""Whoever asks, in whatever way: a text in another language than the model reads is not made nonsense of."""

import warnings

import pytest

import clearformer as cf
from clearformer.inference.other_languages import OtherLanguageWarning, own_texts, remark_for

CHINESE, ENGLISH = "两只狗在雪地里玩。", "Two dogs play in the snow."
KNOWN = {"source_language": "en", "target_language": "de"}


@pytest.mark.parametrize("engine", ["torch", "auto"])
def test_both_engines_leave_a_text_in_another_language_as_it_is(engine):
    def ask(texts, **choices):
        given = {"beam": 1, **choices}
        return cf.load("en-de").translate(texts, **given) if engine == "torch" else cf.translate(texts, **given)

    with pytest.warns(OtherLanguageWarning, match=r"^text 2 seems to be in Chinese, but .*it is left as it is") as told:
        own, left = ask([ENGLISH, CHINESE])
    assert told[0].filename == __file__ or engine == "auto"
    assert own.remark is None
    assert own.text.startswith("Zwei Hunde")
    assert left.text == CHINESE
    assert "seems to be in Chinese, but this model reads English; the model zh-en reads it" in left.remark
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        [forced] = ask([CHINESE], any_language=True)
    assert forced.text != CHINESE
    assert forced.remark is None


def test_one_warning_counts_the_rest_and_a_silent_folder_reads_everything():
    with pytest.warns(OtherLanguageWarning, match="and 2 more texts are in another language; they are left") as told:
        own, remarks = own_texts([CHINESE, ENGLISH, CHINESE, CHINESE], KNOWN, any_language=False)
    assert len(told) == 1
    assert own == ["", ENGLISH, "", ""]
    assert sorted(remarks) == [0, 2, 3]
    assert own_texts([CHINESE], {}, any_language=False) == ([CHINESE], {})
    assert remark_for(CHINESE, {"source_language": "zh"}) is None
