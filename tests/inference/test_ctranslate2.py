"""CTranslate2 and PyTorch side by side: the same translations, in the same order, with the same numbers."""

import math
from dataclasses import replace
from pathlib import Path

import pytest

from clearformer.folder import bundle
from clearformer.inference.ctranslate2 import CTranslate2Translator, check
from clearformer.inference.translation_settings import DecodingConfig
from clearformer.inference.translator import Translator
from clearformer.interop.to_ctranslate2 import convert
from clearformer.model.config import HeadConfig, PositionConfig
from support.toy_models import small, texts

SHORT = DecodingConfig(beam=4, max_ratio=1.5, max_extra=8)


class Watched:
    """A reference engine that remembers what it was asked."""

    def __init__(self, translator):
        self.translator, self.asked = translator, []

    def alternatives(self, given, config, *, any_language):
        self.asked += given
        return self.translator.alternatives(given, config, any_language=any_language)


def pair(folder: Path, given, **choices):
    """Both engines on one model, the fast one with the slow one at hand."""
    bundle.save(given, folder / "model")
    convert(folder / "model", folder / "fast")
    reference = Watched(Translator(given))
    return CTranslate2Translator(folder / "fast", reference=lambda: reference, **choices), reference


@pytest.fixture(scope="module")
def engines(tmp_path_factory: pytest.TempPathFactory):
    return pair(tmp_path_factory.mktemp("engines"), small(), scores="tokens")


def ids(found):
    return [[one.ids for one in alternatives] for alternatives in found]


@pytest.mark.parametrize("beam", [1, 2, 4])
def test_the_n_best_are_the_same(engines, beam):
    fast, reference = engines
    given = texts(60, seed=7)
    reference.asked.clear()
    found = fast.alternatives(given, SHORT, beam=beam, nbest=beam)
    expected = reference.translator.alternatives(given, SHORT, beam=beam, nbest=beam)
    assert ids(found) == ids(expected)
    assert len({one.ids for alternatives in found for one in alternatives}) > 20  # they do differ
    # Both ways were taken, to the end and handed over; greedily there is one path, which needs no help.
    assert (len(reference.asked) == 0) if beam == 1 else (0 < len(reference.asked) < len(given))
    for ours, theirs in zip(found, expected, strict=True):
        for one, other in zip(ours, theirs, strict=True):
            assert one.text == other.text
            assert one.tokens == other.tokens
            assert one.score == pytest.approx(other.score, abs=1e-4)
            assert one.log_prob == pytest.approx(other.log_prob, abs=1e-3)
            assert one.token_log_probs == pytest.approx(other.token_log_probs, abs=1e-4)


def test_a_search_that_need_not_score_finds_the_same(tmp_path):
    fast, reference = pair(tmp_path, small(), scores="none")
    given = texts(25, seed=9)
    greedy = fast.alternatives(given, SHORT, beam=1)
    assert ids(greedy) == ids(reference.translator.alternatives(given, SHORT, beam=1))
    assert all(math.isnan(one.score) for [one] in greedy)
    assert all(math.isfinite(one.score) for [one] in fast.alternatives(given, SHORT, beam=2))


@pytest.mark.parametrize("alpha", [0.0, 0.6, 1.5])
def test_every_strength_of_the_penalty_is_the_same(engines, alpha):
    fast, reference = engines
    given = texts(25, seed=8)
    config = replace(SHORT, alpha=alpha)
    assert ids(fast.alternatives(given, config)) == ids(reference.translator.alternatives(given, config))


def test_neither_batch_size_nor_order_changes_a_translation(engines):
    fast, _ = engines
    given = texts(30, seed=9)
    expected = ids(fast.alternatives(given, SHORT, batch=64))
    for size in (1, 7):
        assert ids(fast.alternatives(given, SHORT, batch=size)) == expected
    assert ids(fast.alternatives(given[::-1], SHORT)) == expected[::-1]


@pytest.mark.parametrize(
    "changes",
    [
        {"kv_heads": 1, "position": PositionConfig(kind="rotary")},
        {"head_dim": 16},
        {"position": PositionConfig(kind="buckets")},
        {"share_layers": True, "gated": True},
    ],
    ids=["grouped", "wide heads", "buckets", "shared"],
)
def test_other_families_are_searched_alike(changes, tmp_path):
    """Step by step with a memory of keys, where the converter's own test reads whole sentences."""
    fast, reference = pair(tmp_path, small(**changes))
    given = texts(15, seed=4)
    assert ids(fast.alternatives(given, SHORT, beam=3)) == ids(reference.translator.alternatives(given, SHORT, beam=3))


def test_a_model_that_never_ends_is_made_to_end_by_the_reference(tmp_path, caplog):
    given = small()
    given.model.head.bias.data[given.tokenizer.eos_id] = -30.0
    fast, reference = pair(tmp_path, given)
    with caplog.at_level("INFO"):
        [found] = fast.translate("two dog plays", SHORT)
        fast.translate(["two dog plays", "two cat"], SHORT)
    assert reference.asked[:1] == ["two dog plays"]
    assert found == reference.translator.translate("two dog plays", SHORT)[0]
    reason = "candidate translations as long as allowed, where ctranslate2 would cut them; the torch engine translated"
    assert caplog.messages == [f"1 text has {reason} it", f"2 texts have {reason} them"]


@pytest.mark.parametrize("scores", ["total", "tokens"])
def test_a_greedy_translation_that_never_ends_is_cut_and_scored_as_if_it_had_ended(scores, tmp_path):
    given = small()
    given.model.head.bias.data[given.tokenizer.eos_id] = -30.0
    fast, reference = pair(tmp_path, given, scores=scores)
    sources = ["two dog plays", "dog", "dog cat in two dog plays"]  # each has a limit of its own
    found = fast.translate(sources, SHORT, beam=1)
    assert reference.asked == []
    for one, other in zip(found, reference.translator.translate(sources, SHORT, beam=1), strict=True):
        assert (one.ids, one.text) == (other.ids, other.text)
        assert one.score == pytest.approx(other.score, abs=1e-4)
        assert one.log_prob == pytest.approx(other.log_prob, abs=1e-3)


def test_without_a_reference_the_best_unfinished_one_counts(tmp_path):
    given = small()
    given.model.head.bias.data[given.tokenizer.eos_id] = -30.0
    fast, _ = pair(tmp_path, given)
    alone = CTranslate2Translator(tmp_path / "fast")
    [found] = alone.translate("two dog plays", SHORT)
    assert len(found.ids) == SHORT.longest(4)
    del fast


def test_a_source_beyond_the_table_of_positions_is_handed_over(tmp_path, caplog):
    fast, reference = pair(tmp_path, small(position=PositionConfig(kind="sinusoidal")))
    long = "dog " * 1100
    config = replace(SHORT, beam=1, max_source=2000, max_ratio=0.001, max_extra=3)
    with caplog.at_level("INFO"):
        [found, short] = fast.translate([long, "two cat"], config)
    assert caplog.messages == [
        "1 text is longer than ctranslate2 reads with this model; the torch engine translated it"
    ]
    assert reference.asked[0] == long
    assert found == reference.translator.translate(long, config)[0]
    assert short.ids == reference.translator.translate("two cat", config)[0].ids
    with pytest.raises(ValueError, match="text 1 is longer than the 1024 tokens that this folder reads; split it"):
        CTranslate2Translator(tmp_path / "fast").translate(long, config)


def test_learned_positions_are_not_exceeded(tmp_path):
    fast, reference = pair(tmp_path, small(position=PositionConfig(kind="learned"), max_len=12))
    given = ["dog cat", "two dog plays in"]
    wide = replace(SHORT, max_extra=100)
    assert ids(fast.alternatives(given, wide)) == ids(reference.translator.alternatives(given, wide))


def test_blank_texts_stay_blank_and_order_is_kept(engines):
    fast, _ = engines
    found = fast.translate(["dog", "", "  ", "two cats\n", "\t"], SHORT)
    assert [bool(one.score) for one in found] == [True, False, False, True, False]
    assert fast.translate([], SHORT) == []


def test_a_text_that_is_too_long_is_refused_with_its_number(engines):
    with pytest.raises(ValueError, match=r"text 2 has [0-9]+ tokens, more than the 1023 allowed; split it"):
        engines[0].translate(["dog", "dog " * 2000], SHORT)


def test_an_alignment_is_what_the_model_looked_at(engines):
    fast, reference = engines
    source = "two dog plays in the snow"
    said = fast.target_tokenizer.ids(["the cat runs"], add_special=False)[0]
    found, expected = fast.alignment(source, said), reference.translator.alignment(source, said)
    assert len(found) == len(said)
    for ours, theirs in zip(found, expected, strict=True):
        assert ours == pytest.approx(theirs, abs=1e-5)


def test_progress_reaches_the_end(engines):
    seen = []
    engines[0].translate(["dog", "", *texts(5)], SHORT, batch=2, on_progress=lambda *now: seen.append(now))
    assert seen[-1] == (7, 7)


@pytest.mark.parametrize(
    ("changes", "named"),
    [({"penalty": "gnmt"}, "penalty = 'gnmt'"), ({"stop": "proved"}, "stop = 'proved'"), ({"no_repeat_ngram": 3}, "3")],
)
def test_a_search_that_the_engine_cannot_do_is_refused_by_name(engines, changes, named):
    with pytest.raises(ValueError, match=f"ctranslate2 cannot search with .*{named}; use the torch engine"):
        engines[0].translate("dog", SHORT, **changes)
    check(SHORT)


def test_a_folder_without_the_engine_s_weights_is_refused(tmp_path):
    bundle.save(small(head=HeadConfig(bias=True)), tmp_path / "model")
    with pytest.raises(ValueError, match="holds no weights for ctranslate2; convert it first"):
        CTranslate2Translator(tmp_path / "model")
