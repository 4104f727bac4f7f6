"""Texts from frame labels, against all paths of tiny cases: sums, best paths and alignments are exact."""

import itertools
import math

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from clearformer.decoding.frame_labels import align, best_path, prefix_beam

BLANK = 0


def drawn(frames, tokens, seed, sharp=1.0):
    logits = sharp * np.random.default_rng(seed).standard_normal((frames, tokens))
    return logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))


def joined(path):
    return tuple(label for label, _ in itertools.groupby(path) if label != BLANK)


def every_text(log_probs):
    """The probability of each text, by adding up all paths, and the best path of each."""
    total, best = {}, {}
    for path in itertools.product(range(log_probs.shape[1]), repeat=len(log_probs)):
        score = sum(log_probs[frame, label] for frame, label in enumerate(path))
        text = joined(path)
        total[text] = total.get(text, 0.0) + math.exp(score)
        if score > best.get(text, (-math.inf,))[0]:
            best[text] = (score, path)
    return total, best


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(("frames", "tokens"), [(1, 3), (4, 3), (6, 3), (5, 4)])
def test_a_wide_beam_finds_the_likeliest_text_and_its_probability(frames, tokens, seed):
    log_probs = drawn(frames, tokens, seed, sharp=2.0)
    total, _ = every_text(log_probs)
    wanted = max(total, key=total.__getitem__)
    found = prefix_beam(log_probs, BLANK, width=500, least=-math.inf)
    assert found.tokens == wanted
    assert found.log_prob == pytest.approx(math.log(total[wanted]), abs=1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_the_best_path_is_the_best_of_all_paths(seed):
    log_probs = drawn(6, 3, seed)
    _, best = every_text(log_probs)
    score, path = max(best.values())
    assert best_path(log_probs, BLANK) == (joined(path), pytest.approx(score))


@pytest.mark.parametrize("seed", range(6))
def test_an_alignment_is_the_best_path_of_its_text(seed):
    log_probs = drawn(6, 3, seed)
    _, best = every_text(log_probs)
    for text in [(1,), (1, 1), (2, 1, 2), (1, 2)]:
        _, path = best[text]
        spans = align(log_probs, text, BLANK)
        runs = [(label, len(list(group))) for label, group in itertools.groupby(path)]
        ends = list(itertools.accumulate(length for _, length in runs))
        wanted = [(end - length, end - 1) for (label, length), end in zip(runs, ends, strict=True) if label != BLANK]
        assert spans == wanted


def test_the_sum_over_paths_is_what_the_loss_of_training_counts():
    log_probs = drawn(8, 4, seed=3)
    found = prefix_beam(log_probs, BLANK, width=2000, least=-math.inf)
    loss = F.ctc_loss(
        torch.from_numpy(log_probs)[:, None],
        torch.tensor([found.tokens]),
        torch.tensor([8]),
        torch.tensor([len(found.tokens)]),
        blank=BLANK,
        reduction="sum",
    )
    assert found.log_prob == pytest.approx(-float(loss), abs=1e-6)


def test_a_wider_beam_is_never_worse_and_sees_what_the_best_path_misses():
    """Two paths of "1" together are likelier than the single best one, which is silent."""
    log_probs = np.log(np.array([[0.6, 0.4], [0.6, 0.4]]))
    assert best_path(log_probs, BLANK).tokens == ()
    assert prefix_beam(log_probs, BLANK, width=4).tokens == (1,)
    sharp = drawn(30, 6, seed=9, sharp=3.0)
    scores = [prefix_beam(sharp, BLANK, width).log_prob for width in (1, 4, 16, 64)]
    assert scores == sorted(scores)


def test_too_few_frames_are_refused_and_no_tokens_need_none():
    log_probs = drawn(2, 3, seed=1)
    with pytest.raises(ValueError, match="2 frames are too few for 2 tokens"):
        align(log_probs, (1, 1), BLANK)  # the blank between equal tokens needs a frame, too
    assert align(log_probs, (), BLANK) == []
    assert align(log_probs, (1, 2), BLANK) == [(0, 0), (1, 1)]
