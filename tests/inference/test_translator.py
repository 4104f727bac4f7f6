"""Translating with random weights: whatever the model says, the plumbing around it has to hold."""

import random
from dataclasses import replace

import pytest
import torch

from clearformer.decoding.beam import BeamConfig, beam_search
from clearformer.decoding.penalty import Average
from clearformer.decoding.rules import Rules
from clearformer.decoding.stop import FullBeam
from clearformer.folder.bundle import Bundle
from clearformer.folder.preprocessing import Preprocessing
from clearformer.inference.steppers import pad_sources
from clearformer.inference.translation_settings import DecodingConfig
from clearformer.inference.translator import Translator, beam_config
from clearformer.model.build import build
from clearformer.model.config import PositionConfig
from clearformer.model.families import transformer
from clearformer.model.trace import trace
from clearformer.text.train_tokenizer import TokenizerConfig, train_from

WORDS = ["dog", "snow", "plays", "two", "the", "in", "cat", "runs", "Straße", "雪"]
SHORT = DecodingConfig(beam=2, max_ratio=0.5, max_extra=4)


def texts(count):
    generator = random.Random(3)
    return [" ".join(generator.choices(WORDS, k=generator.randint(1, 12))) for _ in range(count)]


def make(**changes):
    """Random weights, drawn wide, so that translations differ from one another."""
    torch.manual_seed(11)
    tokenizer = train_from(TokenizerConfig(kind="bpe", vocab_size=320, min_frequency=1), texts(200))
    sizes = {"vocab_size": tokenizer.vocab_size, "dim": 64, "hidden_dim": 64, "layers": 1, "heads": 2, "init_std": 0.3}
    config = transformer(**sizes | changes)
    return Translator(Bundle(config=config, model=build(config), preprocessing=Preprocessing(tokenizer=tokenizer)))


@pytest.fixture(scope="module")
def translator():
    return make()


@pytest.fixture(params=[1, 2], ids=["one thread", "two threads"])
def threads(request):
    before = torch.get_num_threads()
    torch.set_num_threads(request.param)
    yield
    torch.set_num_threads(before)


def check_invariance(translator, sentences, config, sizes):
    """Tokens, text and every log-probability, bit for bit, in shuffled order."""
    alone = translator.translate(sentences, config, batch=1)
    assert len({found.ids for found in alone}) > len(sentences) / 10  # they do differ from each other
    generator = random.Random(4)
    for size in sizes:
        order = generator.sample(range(len(sentences)), len(sentences))
        together = translator.translate([sentences[row] for row in order], config, batch=size)
        assert [alone[row] for row in order] == together, f"batch {size}"


@pytest.mark.parametrize("beam", [1, 4])
def test_neither_batch_size_nor_order_changes_a_bit(translator, threads, beam):
    check_invariance(translator, texts(40), replace(SHORT, beam=beam), (2, 3, 7, 16, 64))


@pytest.mark.parametrize("beam", [1, 4])
def test_the_fast_path_says_what_the_readable_one_says(translator, beam):
    """Whoever traces gets the readable path, and with it the same translations within rounding."""
    config = replace(SHORT, beam=beam, nbest=beam)
    fast = translator.alternatives(texts(30), config)
    with trace(translator, only=["nothing of interest"]):
        readable = translator.alternatives(texts(30), config)
    for one, other in zip(fast, readable, strict=True):
        assert [found.ids for found in one] == [found.ids for found in other]
        for found, expected in zip(one, other, strict=True):
            assert found.token_log_probs == pytest.approx(expected.token_log_probs, abs=1e-4)


def test_greedy_translations_are_those_of_a_beam_of_one(translator):
    config = replace(SHORT, beam=1, alpha=0.7)
    sources = translator.encode(texts(30), config)
    expected = beam_search(
        translator.stepper,
        pad_sources(sources, translator.source_tokenizer.pad_id),
        rules=Rules(eos=translator.target_tokenizer.eos_id, banned=translator._unsayable()),
        config=beam_config(config),
        max_len=[config.longest(len(source)) for source in sources],
    )
    for found, (one,) in zip(translator.translate(texts(30), config), expected, strict=True):
        assert (found.ids, found.token_log_probs) == (one.tokens, one.token_log_probs)
        assert found.score == pytest.approx(one.score)


def test_a_trace_of_a_translation_shows_the_modules_at_work(translator):
    with trace(translator, only=["decoder.layers.0.cross_attn.weights"]) as seen:
        [found] = translator.translate("two dog plays", SHORT, beam=1)
    assert len(seen.history("decoder.layers.0.cross_attn.weights")) >= len(found.ids)


def test_a_large_model_is_left_to_torch_s_own_threads(translator, monkeypatch):
    expected = translator.translate(texts(5), SHORT)
    monkeypatch.setattr("clearformer.inference.translator.SMALL", 0)
    assert Translator(translator.bundle).translate(texts(5), SHORT) == expected


@pytest.mark.soak
@pytest.mark.parametrize("beam", [1, 4])
def test_a_thousand_sentences_in_batches_of_1_7_and_64(threads, beam):
    """At the size of the smallest preset, with words enough for very different lengths."""
    tiny = make(dim=128, hidden_dim=256, layers=4, heads=4)
    check_invariance(tiny, texts(1000), replace(SHORT, beam=beam), (7, 64))


def test_the_order_of_the_texts_is_kept_and_blank_ones_stay_blank(translator):
    found = translator.translate(["dog", "", "  ", "two cats\n", "\t"], SHORT)
    assert [bool(translation.text) for translation in found] == [True, False, False, True, False]
    assert found[0] == translator.translate("dog", SHORT)[0]
    assert found[1].ids == ()


def test_nothing_is_nothing(translator):
    assert translator.translate([], SHORT) == []


def test_characters_never_seen_are_read_all_the_same(translator):
    found = translator.translate(["🐕🦺 ждёт ﷽", "\u2028", "a\x00b", "𒀀" * 50], SHORT)
    assert len(found) == 4


def test_a_text_that_is_too_long_is_refused_with_its_number(translator):
    with pytest.raises(ValueError, match=r"text 2 has [0-9]+ tokens, more than the 1023 allowed; split it"):
        translator.translate(["dog", "dog " * 2000], SHORT)


def test_a_long_text_below_the_limit_is_translated(translator):
    [found] = translator.translate("dog " * 300, SHORT, beam=1, max_ratio=0.01)
    assert 0 < len(found.ids) <= 8


def test_translations_never_exceed_their_limit(translator):
    for source, found in zip(texts(20), translator.translate(texts(20), SHORT), strict=True):
        length = len(translator.encode([source], SHORT)[0])
        assert len(found.ids) <= SHORT.longest(length)


def test_learned_positions_limit_the_translation_instead_of_breaking_it():
    small = make(position=PositionConfig(kind="learned"), max_len=12)
    [found] = small.translate("dog cat", SHORT, max_extra=100)
    assert len(found.ids) <= 11
    with pytest.raises(ValueError, match="learned only 12 positions"):
        small.translate("dog cat " * 20, SHORT)


def test_score_recomputes_the_log_probabilities_of_the_n_best(translator):
    for source in texts(8):
        for found in translator.alternatives(source, SHORT, beam=4, nbest=4)[0]:
            scores = translator.score(source, found.ids)
            if len(scores) == len(found.token_log_probs):
                assert scores == pytest.approx(found.token_log_probs, abs=1e-4)
            assert sum(scores[: len(found.token_log_probs)]) == pytest.approx(found.log_prob, abs=1e-4)


def test_the_n_best_are_different_and_in_order(translator):
    found = translator.alternatives("two dog plays", SHORT, beam=4, nbest=4)[0]
    assert len({translation.ids for translation in found}) == 4
    assert [translation.score for translation in found] == sorted((t.score for t in found), reverse=True)


def test_score_reads_text_in_the_tokenizer_s_own_pieces(translator):
    target = "Straße 雪"
    ids = translator.target_tokenizer.ids([target], add_special=False)[0]
    assert translator.score("dog", target) == translator.score("dog", ids)
    assert len(translator.score("dog", target)) == len(ids) + 1


def test_an_empty_side_can_be_scored(translator):
    assert len(translator.score("", "dog")) >= 2
    assert len(translator.score("dog", "")) == 1


def test_perplexity_is_that_of_all_tokens_together(translator):
    sources, targets = ["dog", "two cat"], ["snow", "the snow runs"]
    every = [value for pair in zip(sources, targets, strict=True) for value in translator.score(*pair)]
    expected = torch.tensor(every, dtype=torch.float64).mean().neg().exp().item()
    assert translator.perplexity(sources, targets) == pytest.approx(expected)


def test_an_alignment_has_a_row_a_token_that_sums_to_one(translator):
    [found] = translator.translate("two dog plays in the snow", SHORT)
    weights = translator.align("two dog plays in the snow", found.ids)
    source = translator.encode(["two dog plays in the snow"], SHORT)[0]
    assert weights.shape == (len(found.ids), len(source))
    torch.testing.assert_close(weights.sum(dim=1), torch.ones(len(found.ids)))


def test_progress_reaches_the_end(translator):
    seen = []
    translator.translate(
        ["dog", "", *texts(5)], SHORT, batch=2, on_progress=lambda done, total: seen.append((done, total))
    )
    assert seen == [(3, 7), (5, 7), (6, 7), (7, 7)] or seen[-1] == (7, 7)


def test_the_settings_reach_the_search():
    assert beam_config(SHORT) == BeamConfig(beam=2, penalty=Average(1.0), stop=FullBeam())
    paper = DecodingConfig(beam=4, nbest=2, penalty="gnmt", alpha=0.6, stop="proved")
    assert beam_config(paper) == BeamConfig(beam=4, nbest=2)  # what the search does by itself is the paper's


def test_a_model_without_a_tokenizer_cannot_read(translator):
    with pytest.raises(ValueError, match="no tokenizer, so it cannot read text"):
        Translator(replace(translator.bundle, preprocessing=Preprocessing()))
