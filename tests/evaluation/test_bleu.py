"""Our plumbing around sacreBLEU changes nothing about its numbers."""

import pytest
import sacrebleu

from clearformer.evaluation.bleu import quick_bleu, score_translations, tokenisation

HYPOTHESES = ["The dog plays in the snow .", "A man is reading", "the cat sleeps on the sofa", "hello there"]
REFERENCES = ["The dog plays in the snow.", "A man reads a book.", "The cat sleeps on the sofa.", "Hello there!"]


def test_the_numbers_are_sacrebleus_own():
    found = score_translations(HYPOTHESES, REFERENCES)
    assert found.bleu == pytest.approx(sacrebleu.corpus_bleu(HYPOTHESES, [REFERENCES]).score)
    assert found.chrf == pytest.approx(sacrebleu.corpus_chrf(HYPOTHESES, [REFERENCES]).score)
    assert quick_bleu(HYPOTHESES, REFERENCES, "13a") == pytest.approx(found.bleu)
    assert "tok:13a" in found.signature


def test_the_interval_encloses_the_bootstraps_middle_and_has_a_width():
    found = score_translations(HYPOTHESES, REFERENCES)
    assert 0 <= found.bleu_low < found.bleu_high


def test_a_perfect_translation_has_100():
    found = score_translations(REFERENCES, REFERENCES)
    assert found.bleu == pytest.approx(100)
    assert found.chrf == pytest.approx(100)


def test_chinese_is_counted_in_characters():
    hypothesis, reference = ["我喜欢机器学习。"], ["我喜欢机器学习吗？"]
    assert tokenisation("zh") == "zh"
    by_character = score_translations(hypothesis, reference, language="zh")
    by_word = score_translations(hypothesis, reference, language="en")
    assert "tok:zh" in by_character.signature
    assert by_character.bleu > by_word.bleu  # as one "word" without spaces the whole sentence would be wrong


def test_text_that_is_split_already_is_left_alone():
    # 13a would split "@-@" and join nothing; with "none" tokens are what stands between spaces.
    found = score_translations(["a b @-@ c d"], ["a b @-@ c d"], tokenise="none")
    assert found.bleu == pytest.approx(100)
    assert "tok:none" in found.signature


@pytest.mark.parametrize(("hypotheses", "references"), [(["a"], ["a", "b"]), ([], [])])
def test_nothing_or_unequal_counts_are_refused(hypotheses: list[str], references: list[str]):
    with pytest.raises(ValueError, match=r"cannot be compared|nothing to score"):
        score_translations(hypotheses, references)
