import json
import math
from collections import Counter

import pytest

from clearformer.decoding.beam import BeamConfig, beam_search
from clearformer.decoding.dialects import ctranslate2, fairseq, hugging_face
from clearformer.decoding.penalty import Average, NoPenalty
from clearformer.decoding.rules import Rules
from clearformer.decoding.stop import Exhaust
from clearformer.decoding.tree import Fate, TreeRecorder
from decoding.steppers import EOS, TableModel

CONFIGS = {
    "paper": BeamConfig(beam=4, nbest=4),
    "average": BeamConfig(beam=3, nbest=2, penalty=Average()),
    "fairseq": fairseq(beam=3, nbest=3),
    "hugging face": hugging_face(beam=3, nbest=3),
    "ctranslate2": ctranslate2(beam=3, nbest=3),
}


def grow(config, rules=None, sources=20, max_len=6, model=None, **options):
    recorder = TreeRecorder()
    results = beam_search(
        model or TableModel(vocab=6),
        range(sources),
        rules=rules or Rules(eos=EOS),
        config=config,
        max_len=max_len,
        recorder=recorder,
        **options,
    )
    return results, recorder.trees


@pytest.mark.parametrize("config", CONFIGS.values(), ids=CONFIGS.keys())
def test_the_best_leaf_is_the_answer_and_its_edges_add_up(config):
    results, trees = grow(config)
    for nbest, tree in zip(results, trees, strict=True):
        for found, leaf in zip(nbest, tree.finished(), strict=False):
            path = tree.path(leaf)
            assert tuple(node.token for node in path if node.token != EOS) == found.tokens
            assert tuple(node.token_log_prob for node in path) == found.token_log_probs
            assert sum(node.token_log_prob for node in path) == pytest.approx(found.log_prob)
            assert leaf.log_prob == pytest.approx(found.log_prob)
            assert (leaf.score if leaf.score is not None else -float("inf")) == pytest.approx(found.score)


@pytest.mark.parametrize("config", CONFIGS.values(), ids=CONFIGS.keys())
def test_recording_changes_nothing(config):
    results, _ = grow(config)
    assert results == beam_search(TableModel(vocab=6), range(20), rules=Rules(eos=EOS), config=config, max_len=6)


@pytest.mark.parametrize("config", CONFIGS.values(), ids=CONFIGS.keys())
def test_the_tree_is_a_tree(config):
    _, trees = grow(config)
    for tree in trees:
        parents = {node.parent for node in tree.nodes}
        assert [node.id for node in tree.nodes] == list(range(len(tree.nodes)))
        for node in tree.nodes[1:]:
            parent = tree.nodes[node.parent]
            assert parent.id < node.id
            assert parent.depth == node.depth - 1
            assert parent.fate in (Fate.KEPT, Fate.START)  # only what was kept goes on
        for node in tree.nodes:
            assert (node.id in parents) == (node.fate in (Fate.KEPT, Fate.START))  # and what was kept did go on
        for depth in {node.depth for node in tree.nodes[1:]}:
            fates = Counter(node.fate for node in tree.nodes if node.depth == depth)
            assert fates[Fate.KEPT] <= config.beam


def test_kept_beats_cut_at_every_step():
    _, trees = grow(BeamConfig(beam=3, stop=Exhaust()))
    for tree in trees:
        for depth in range(1, 6):
            level = [node for node in tree.nodes if node.depth == depth]
            kept = [node.log_prob for node in level if node.fate in (Fate.KEPT, Fate.SEARCH_STOPPED)]
            cut = [node.log_prob for node in level if node.fate is Fate.OUTSIDE_BEAM]
            assert len(kept) == 3
            assert min(kept) >= max(cut, default=-math.inf)


def test_every_continuation_of_a_small_vocabulary_is_there():
    _, trees = grow(BeamConfig(beam=5, stop=Exhaust()), max_len=3)
    for tree in trees:
        for node in tree.nodes:
            if node.fate in (Fate.KEPT, Fate.START) and node.depth < 3:
                assert {child.token for child in tree.nodes if child.parent == node.id} == set(range(6))


def test_reasons_by_hand():
    """Beam 2 with every rule: forced 3, no 4, at least two tokens, no token twice, at most three."""
    rules = Rules(eos=EOS, min_len=2, banned=(4,), no_repeat_ngram=1)
    config = BeamConfig(beam=5, nbest=1, penalty=NoPenalty(), stop=Exhaust())
    _, trees = grow(config, rules=rules, max_len=3, prefixes=[(3,)] * 20)
    for tree in trees:
        first = {node.token: node.fate for node in tree.nodes if node.depth == 1}
        assert first == {token: Fate.KEPT if token == 3 else Fate.BANNED_PREFIX for token in range(6)}
        second = {node.token: node.fate for node in tree.nodes if node.depth == 2}
        assert second[EOS] is Fate.BANNED_MIN_LEN
        assert second[3] is Fate.BANNED_REPEAT
        assert second[4] is Fate.BANNED_TOKEN
        assert {second[1], second[2], second[5]} <= {Fate.KEPT}
        fourth = [node for node in tree.nodes if node.depth == 4]
        assert all((node.token == EOS) != (node.fate is Fate.BANNED_MAX_LEN) for node in fourth)


def test_how_searches_end():
    stopped = {
        "paper": (BeamConfig(beam=3, penalty=NoPenalty()), Fate.WORSE_THAN_FINISHED),
        "fairseq": (fairseq(beam=3), Fate.SEARCH_STOPPED),
    }
    for config, verdict in stopped.values():
        _, trees = grow(config, model=TableModel(vocab=6, eos_bias=2.0), max_len=30)
        for tree in trees:
            deepest = max(node.depth for node in tree.nodes)
            left = [node for node in tree.nodes if node.fate is verdict]
            assert deepest < 30
            assert left
            assert all(node.depth == deepest for node in left)
    _, trees = grow(fairseq(beam=3), model=TableModel(vocab=6, eos_bias=1.0), sources=60, max_len=30)
    fates = Counter(node.fate for tree in trees for node in tree.nodes)
    assert fates[Fate.FINISHED_FULL] > 0  # the fourth to finish comes too late, however good
    _, trees = grow(BeamConfig(beam=3), model=TableModel(vocab=6, eos_bias=1.0), sources=60, max_len=30)
    assert all(
        node.fate is not Fate.FINISHED_FULL for tree in trees for node in tree.nodes
    )  # a rule of fairseq's alone
    assert fates[Fate.END_OUTSIDE_BEAM] > 0


def test_it_is_plain_json():
    _, (tree, *_) = grow(ctranslate2(beam=3))
    text = json.dumps(tree.as_json(), allow_nan=False)
    nodes = json.loads(text)["nodes"]
    assert len(nodes) == len(tree.nodes)
    assert nodes[1]["parent"] == 0
    assert {node["fate"] for node in nodes} <= {fate.value for fate in Fate}


def test_a_recorder_can_be_used_again():
    recorder = TreeRecorder()
    for sources in ([1, 2, 3], [4]):
        beam_search(TableModel(), sources, rules=Rules(eos=EOS), config=BeamConfig(), max_len=3, recorder=recorder)
    assert len(recorder.trees) == 1
