"""Repairs: gaps are filled where they stand, a whole text is damaged first, and a long one is refused by its number."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from clearformer.data.corruption import SENTINEL
from clearformer.folder.bundle import Bundle
from clearformer.folder.preprocessing import Preprocessing
from clearformer.inference.text_repairer import TextRepairer, corruption_of
from clearformer.model.build import build
from clearformer.model.families import transformer
from clearformer.text.assemble import with_mask, with_pieces
from clearformer.text.unusable import UnusableTextError
from support.toy_models import small, vocabulary

TEXT = "two dogs play in the snow the cat runs"


def repairer(kind):
    plain = vocabulary()
    tokenizer = with_mask(plain) if kind == "infilling" else with_pieces(plain, [SENTINEL.format(n) for n in range(4)])
    torch.manual_seed(1)
    config = transformer(vocab_size=tokenizer.vocab_size, dim=16, hidden_dim=16, layers=1, heads=2)
    told = {"max_length": 40, "corruption": {"kind": kind, "rate": 0.2}}
    return TextRepairer(
        Bundle(
            config=config, model=build(config).eval(), preprocessing=Preprocessing(tokenizer=tokenizer), provenance=told
        )
    )


@pytest.fixture(scope="module", params=["infilling", "span-corruption"])
def model(request):
    return repairer(request.param)


def test_a_whole_text_is_damaged_always_in_the_same_way(model):
    [first], [again] = model.fill(TEXT), model.fill(TEXT)
    assert first == again
    assert "[MASK]" in first.shown
    assert "[MASK]" not in first.text


def test_a_gap_is_shown_where_it_stands(model):
    [found] = model.fill("two [MASK] play in the [MASK]")
    assert found.shown == "two [MASK] play in the [MASK]"
    assert model.fill(["", "two [MASK] play"])[1] == model.fill("two [MASK] play")[0]
    assert model.fill("")[0].text == ""


def test_what_was_not_hidden_stays_where_spans_alone_are_written():
    [found] = repairer("span-corruption").fill("two [MASK] play")
    assert found.text.startswith("two")
    assert found.text.endswith("play")


def test_every_token_that_is_written_is_judged(model):
    rows = model.rows([TEXT, "the cat " * 40])
    assert max(map(len, rows)) == model.longest == 39
    for row, one in zip(rows, model.judge(rows), strict=True):
        _, wanted = model.corruption(row, np.random.default_rng(row))
        assert len(one.nats) == len(one.right) == len(wanted) + 1  # and the end
        assert (one.nats > 0).all()


def test_what_is_too_long_or_has_too_many_gaps_is_refused_by_its_number(model):
    with pytest.raises(UnusableTextError, match=r"text 2 has .* tokens, more than the 39"):
        model.fill([TEXT, "the cat " * 40])
    if len(model.corruption.sentinels):
        with pytest.raises(UnusableTextError, match="text 1 has 4 gaps, more than the 3"):
            model.fill("[MASK] a [MASK] b [MASK] c [MASK]")


def test_a_model_that_never_learned_to_repair_is_refused():
    with pytest.raises(ValueError, match="neither a mask nor sentinels"):
        TextRepairer(small())


def test_a_folder_that_names_no_damage_of_ours_is_refused():
    assert corruption_of({}).kind == "infilling"
    with pytest.raises(ValueError, match="kind"):
        corruption_of({"corruption": {"kind": "shredding"}})
    with pytest.raises(ValueError, match="rate is a share"):
        TextRepairer(replace(repairer("infilling").bundle, provenance={"corruption": {"rate": 7}}))
