"""Summarization as a task: what is read, cut and left out; what `evaluate` says of near copies and of other people."""

import json
import logging
from dataclasses import replace

import numpy as np
import pytest
import torch

from clearformer.folder import bundle
from clearformer.inference.summarizer import Summarizer
from clearformer.inference.summary_settings import Summary, SummaryConfig
from clearformer.run.recipe import read_recipe
from clearformer.tasks import summaries
from clearformer.tasks.summaries import HeldSummaries
from clearformer.tasks.summary_data import SummaryData
from clearformer.tasks.task import Judging, Scoring, Workspace
from clearformer.training.distributed import Ranks
from flows.tiny_tasks import write_mails
from run.assembled import assemble
from support.every_kind import make


class Parrot:
    """Says what it is told, text by text."""

    def __init__(self, answers):
        self.answers = answers

    def summarize(self, texts, config, on_progress):
        return [Summary(text=self.answers[text], score=0.0, tokens=1, read=1) for text in texts]


def judging(*, thorough=True):
    return Judging(options=SummaryConfig(), scoring=Scoring(), ranks=Ranks(), thorough=thorough)


@pytest.fixture
def made(tmp_path):
    return assemble(read_recipe(write_mails(tmp_path)), tmp_path)


def test_texts_are_cut_and_long_summaries_left_out_aloud(tmp_path, caplog):
    write_mails(tmp_path)
    data = SummaryData(train="mails.jsonl", text="mail", summary="subject", max_length=10, max_summary=8)
    with caplog.at_level(logging.INFO):
        prepared = summaries.prepare(data, Workspace(folder=tmp_path / "run", base=tmp_path))
    assert "which have more than 9 tokens, the beginning is learned from" in caplog.text
    sources, targets = zip(*prepared.train, strict=True)
    assert max(map(len, sources)) == 9
    assert max(map(len, targets)) < 8
    assert prepared.lengths[0].max() == 10  # with the marker
    held = {pair.text for pair in prepared.held.pairs}
    learned = {prepared.preprocessing.sides[0].decode(source) for source in sources}
    assert held
    assert not held & learned


def test_a_run_remembers_how_its_model_summarises(made, tmp_path):
    bundle.save(made.made, tmp_path / "model")
    opened = Summarizer(bundle.load(tmp_path / "model"))
    assert opened.usual == SummaryConfig(beam=2, max_tokens=8)
    assert opened.longest == 23
    assert opened.bundle.provenance["columns"] == {"text": "mail", "summary": "subject"}


def test_scores_of_near_copies_and_of_other_people_stand_apart():
    pairs = [
        summaries.SummaryPair("a long text", "seat list", ("seat list", "other words")),
        summaries.SummaryPair("another text", "golf trip", ("golf trip", "golf")),
    ]
    parrot = Parrot({"a long text": "seat list", "another text": "nothing"})
    scores = summaries.score(parrot, HeldSummaries(pairs, [True, False]), judging())
    assert scores["rouge_l"] == 50.0
    assert (scores["near_copies"], scores["rouge_l_near_copies"], scores["rouge_l_without"]) == (1.0, 100.0, 0.0)
    assert scores["rouge_l_against_others"] == 50.0
    assert scores["rouge_l_of_others"] == pytest.approx((100 + 0 + 100 + 200 / 3) / 4)
    assert "at least 70% of its runs of 5 words" in scores["signature"]
    quick = summaries.score(parrot, HeldSummaries(pairs), judging(thorough=False))
    assert quick["sample_0"] == "seat list → seat list"
    assert "signature" not in quick


def test_training_tables_beside_a_test_tell_which_texts_are_known(made, tmp_path):
    bundle.save(made.made, tmp_path / "model")
    lines = (tmp_path / "mails.jsonl").read_text().splitlines()
    other = json.dumps({"mail": "nobody ever wrote such a thing to anybody in this house", "subject": "such a thing"})
    (tmp_path / "test.jsonl").write_text(f"{lines[0]}\n{other}\n")
    folder = summaries.ModelFolder(tmp_path / "model")
    assert summaries.held_out([tmp_path / "test.jsonl"], folder).near == [True, False]
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "test.jsonl").write_text(f"{lines[0]}\n")
    assert summaries.held_out([elsewhere / "test.jsonl"], folder).near is None


def test_an_encoder_gets_a_decoder_that_begins_like_it(tmp_path):
    """BERT's markers stand around the text, and everything but the cross-attention and the pointer comes from it."""
    torch.manual_seed(1)
    make("bert states", tmp_path / "start")
    recipe = read_recipe(write_mails(tmp_path))
    recipe = replace(recipe, model={"from": str(tmp_path / "start"), "decoder_layers": 1, "head": {"copy": True}})
    with pytest.raises(ValueError, match="splits merged pairs"):
        assemble(recipe, tmp_path)
    recipe = replace(recipe, data=replace(recipe.data, split_pieces=0.0))
    made = assemble(recipe, tmp_path)
    start = bundle.load(tmp_path / "start")
    cls, sep = (start.preprocessing.sides[0].special_id(role) for role in ("cls", "sep"))
    assert made.made.preprocessing.framing.before_source == (cls,)
    batch = made.parts().batch_at(0)
    assert set(batch.source[:, 0].tolist()) == {cls}
    assert set(batch.target_in[:, 0].tolist()) == {cls}
    assert (batch.target_out[batch.target_keep] == sep).sum() == len(batch)
    given, own = dict(start.model.named_parameters()), dict(made.made.model.named_parameters())
    for name in ("encoder.front.embed.weight", "encoder.layers.0.ffn.up_proj.weight"):
        assert torch.equal(own[name], given[name])
    assert torch.equal(
        own["decoder.layers.0.self_attn.q_proj.weight"], given["encoder.layers.0.self_attn.q_proj.weight"]
    )
    bundle.save(made.made, tmp_path / "model")
    [found] = Summarizer(bundle.load(tmp_path / "model")).summarize("two dogs play in the snow", beam=2)
    assert len(found.text) <= len("two dogs play in the snow")


def test_a_validation_has_the_three_scores_and_the_best_is_rouge_l(made):
    held = made.prepared.held
    scores = summaries.score(Summarizer(made.made), HeldSummaries(held.pairs[:4]), judging(thorough=False))
    assert {"rouge_1", "rouge_2", "rouge_l", "sample_0"} <= scores.keys()
    assert np.isfinite(made.task.training.better({**scores, "loss": 1.0}))
