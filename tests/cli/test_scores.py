"""Scores as people read them: a line each, shares in per cent, intervals beside their score, signatures last."""

from clearformer.cli.scores import show_scores


def test_an_interval_stands_beside_its_score_and_has_no_line_of_its_own():
    lines = list(show_scores({"bleu": 31.25, "bleu_low": 30.5, "bleu_high": 32.0, "chrf": 55.0}))
    assert lines == ["BLEU   31.25   (95 % between 30.50 and 32)", "chrF2  55"]


def test_a_share_is_shown_in_per_cent():
    [line] = show_scores({"accuracy": 0.9876, "accuracy_low": 0.98, "accuracy_high": 0.99})
    assert line == "accuracy  98.76 %   (95 % between 98.00 % and 99.00 %)"


def test_signatures_come_last_and_samples_not_at_all():
    lines = list(show_scores({"signature": "context 8", "sample_0": "once upon", "nats": 1.5}))
    assert lines == ["nats per token  1.5000", "signature       context 8"]
    assert next(show_scores({"nats": 1.5, "unit": "masked word"})) == "nats per masked word  1.5000"


def test_large_numbers_and_small_ones_keep_the_digits_that_matter():
    assert list(show_scores({"tokens": 111540.0})) == ["tokens  111,540"]
    assert list(show_scores({"perplexity": 4.40719})) == ["perplexity  4.4072"]
    assert list(show_scores({"bits_per_byte": 2.0})) == ["bits per byte  2.0000"]
    assert list(show_scores({})) == []
