"""Summaries: never longer than the text, whole sentences, long texts in parts, and the same alone and in company."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clearformer.decoding.hypothesis import Hypothesis
from clearformer.inference.summarizer import Summarizer, join_parts, summarizer_of
from clearformer.inference.summary_settings import SummaryConfig
from clearformer.model.config import HeadConfig
from support.toy_models import small, texts

LONG = "two dogs play. " * 12 + "the cat runs in the snow."


@pytest.fixture(scope="module")
def summarizer():
    return Summarizer(replace(small(), provenance={"max_length": 33}))


@settings(max_examples=15, deadline=None)
@given(given_texts=st.lists(st.sampled_from([*texts(20), "", " ", "dog", LONG, "雪" * 50]), min_size=1, max_size=4))
def test_a_summary_is_never_longer_than_its_text(summarizer, given_texts):
    for text, found in zip(given_texts, summarizer.summarize(given_texts, beam=1), strict=True):
        assert len(found.text) <= len(text.strip())
        assert found.tokens >= found.read


def test_alone_and_in_company_alike(summarizer):
    given_texts = [*texts(6), LONG, ""]
    together = summarizer.summarize(given_texts, max_tokens=8)
    assert [one.text for one in together] == [summarizer.summarize(text, max_tokens=8)[0].text for text in given_texts]
    assert together[-1].text == ""


def test_a_long_text_is_read_in_parts_or_its_beginning_and_both_are_said(summarizer):
    [parts] = summarizer.summarize(LONG, beam=1)
    assert parts.parts > 1
    assert parts.read == parts.tokens > summarizer.longest == 32
    [beginning] = summarizer.summarize(LONG, beam=1, long="beginning")
    assert (beginning.parts, beginning.read) == (1, 32)
    assert beginning.remark.endswith("the first 32 were read")


def test_no_part_is_longer_than_the_model_reads_and_nothing_is_left_out(summarizer):
    for text in (LONG, "x" * 300, "dog " * 100):
        ids = summarizer.tokenizer.ids([text], add_special=False)[0]
        cut = summarizer._parts(text, ids, SummaryConfig())
        assert max(map(len, cut)) <= summarizer.longest
        joined = "".join(summarizer.tokenizer.decode(part) for part in cut)
        assert joined.replace(" ", "") == text.replace(" ", "")


def written(summarizer, text, **limits):
    """What becomes of a hypothesis that says this. The source is long."""
    ids = tuple(summarizer.tokenizer.ids([text], add_special=False)[0])
    found = Hypothesis(tokens=ids, log_prob=0.0, score=0.0, token_log_probs=(0.0,) * (len(ids) + 1))
    return summarizer._written(found, 1000, SummaryConfig(**limits)), len(ids)


def test_the_limit_never_cuts_a_sentence(summarizer):
    text = "two dogs play. the cat runs in the snow"
    (whole, ended), size = written(summarizer, text, max_tokens=64)
    assert (whole, ended) == (text, True)
    assert written(summarizer, text, max_tokens=size - 2)[0] == ("two dogs play.", True)
    # Without a sentence end it goes on to the hard limit, twice as far; what stops only there is broken off.
    endless = "two dogs play in the snow " * 4
    assert written(summarizer, endless, max_tokens=20)[0][0] == endless.strip()
    _, size = written(summarizer, endless)
    assert written(summarizer, endless, max_tokens=size // 2)[0] == (endless.strip(), False)


def test_parts_are_joined_each_once():
    assert join_parts(["Meeting moved.", "Bring tea.", "Meeting moved."]) == "Meeting moved. Bring tea."
    assert join_parts(["meeting", "", "tea"]) == "meeting; tea"
    assert join_parts([]) == ""


def test_a_model_that_only_reads_is_refused():
    from support.every_kind import KINDS, _read

    with pytest.raises(ValueError, match="classifies texts"):
        Summarizer(_read(KINDS["bert class"]))


def test_a_head_that_copies_summarises_too():
    bundle = small(head=HeadConfig(bias=True))
    from clearformer.folder.bundle import Bundle
    from clearformer.model.build import build

    config = replace(bundle.config, head=HeadConfig(bias=True, copy=True))
    copying = Bundle(config=config, model=build(config).eval(), preprocessing=bundle.preprocessing)
    given_texts = texts(3)
    found = Summarizer(copying).summarize(given_texts, beam=2, max_tokens=4)
    assert len(found) == 3
    assert found[0] == Summarizer(copying).summarize(given_texts[0], beam=2, max_tokens=4)[0]


def test_several_models_write_one_summary_by_the_mean_of_their_probabilities():
    one, given_texts = small(), texts(4)
    alone = Summarizer(one).summarize(given_texts, beam=2)
    together = summarizer_of([one, one]).summarize(given_texts, beam=2)
    assert [found.text for found in together] == [found.text for found in alone]
    shorter = replace(one, provenance={"max_length": 17})
    assert summarizer_of([one, shorter]).longest == Summarizer(shorter).longest == 16
    assert "the first of 2 that decide together" in repr(summarizer_of([one, shorter]))


@pytest.mark.parametrize(("task", "does"), [("translation", "translates"), ("denoising", "repairs damaged texts")])
def test_a_model_that_was_trained_for_something_else_is_refused(task, does):
    """A translator would summarise in another language."""
    with pytest.raises(ValueError, match=f"that {does}, not one that summarises texts"):
        Summarizer(replace(small(), task=task))
    with pytest.raises(ValueError, match=f"that {does}"):
        summarizer_of([small(), replace(small(), task=task)])
