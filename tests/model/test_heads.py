"""Heads: what comes out has the shape of the task, and padding has no say in it."""

import pytest
import torch

from clearformer.model.config import FrontConfig, HeadConfig
from clearformer.model.frontends import patchify
from clearformer.model.heads import (
    AnswerSpan,
    Boxes,
    EndState,
    FirstAndPatches,
    LanguageModel,
    PatchMean,
    Pixels,
    SequenceClass,
    States,
    TaughtClass,
    TokenTags,
    Vector,
)
from model.specimens import DIM, VOCAB, close, specimen

B, T, D = 2, 5, 8
STATES = torch.randn(B, T, D, generator=torch.Generator().manual_seed(0))
KEEP = torch.tensor([[True, True, True, False, False], [False, True, True, True, True]])


def test_shapes():
    assert States(D)(STATES).shape == (B, T, D)
    assert LanguageModel(D, 11)(STATES).shape == (B, T, 11)
    assert SequenceClass(D, 3)(STATES).shape == (B, 3)
    assert Vector(D)(STATES).shape == (B, D)
    assert Vector(D, 3, pool="slot")(STATES).shape == (B, 3)
    assert TokenTags(D, 3)(STATES).shape == (B, T, 3)
    assert AnswerSpan(D)(STATES).shape == (B, T, 2)
    assert Boxes(D, 3)(STATES).shape == (B, T, 3 + 1 + 4)
    assert Pixels(D, channels=3, picture=4, patch=2)(STATES).shape == (B, 3, 4, 4)


def test_a_tied_table_is_one_parameter():
    """Words that mean alike are read alike and written alike; a step on one is a step on the other."""
    model = specimen("gpt2")
    assert model.head.table is model.decoder.front.embed.weight
    names = [name for name, _ in model.named_parameters()]
    assert "decoder.front.embed.weight" in names
    assert "head.table" not in names


def test_language_model_by_the_formula():
    table = torch.nn.Parameter(torch.randn(11, D))
    head = LanguageModel(D, 11, table=table, bias=True, scale=0.5, transform=torch.nn.Linear(D, D))
    torch.nn.init.normal_(head.bias)
    close(head(STATES), head.transform(STATES) * 0.5 @ table.mT + head.bias)


def test_the_mean_is_over_real_tokens():
    head = SequenceClass(D, 3, pool="mean")
    expected = torch.stack([row[real].mean(dim=0) for row, real in zip(STATES, KEEP, strict=True)])
    close(head(STATES, KEEP), head.classify(expected))
    close(head(STATES), head.classify(STATES.mean(dim=1)))
    assert head(STATES, torch.zeros_like(KEEP)).isfinite().all()


def test_a_weighted_mean_leaves_padding_out():
    """By the formula: the softmax of one score for each real state."""
    head = SequenceClass(D, 3, pool="weighted")
    scores = head.pool.weigh(STATES)[..., 0].masked_fill(~KEEP, -torch.inf)
    close(head(STATES, KEEP), head.classify(torch.einsum("bt,btd->bd", scores.softmax(dim=1), STATES)))
    torch.nn.init.zeros_(head.pool.weigh.weight)
    close(head(STATES), head.classify(STATES.mean(dim=1)))  # equal scores: the plain mean


def test_the_mean_of_patches_leaves_out_what_stands_before_them():
    close(PatchMean(2)(STATES), STATES[:, 2:].mean(dim=1))
    close(FirstAndPatches(2)(STATES), torch.cat((STATES[:, 0], STATES[:, 2:].mean(dim=1)), dim=-1))
    head = SequenceClass(2 * D, 3, pool=FirstAndPatches(1))
    close(head(STATES), head.classify(FirstAndPatches(1)(STATES)))


def test_two_classifiers_have_the_same_say():
    head = TaughtClass(D, 3)
    close(head(STATES), (head.classify(STATES[:, 0]) + head.classify_taught(STATES[:, 1])) / 2)


def test_the_first_token_is_the_first_real_one():
    head = SequenceClass(D, 3, pooler=True)
    first = torch.stack([STATES[0, 0], STATES[1, 1]])
    close(head(STATES, KEEP), head.classify(torch.tanh(head.pooler(first))))
    states = States(D, pooler=True)
    close(states.pool(STATES, KEEP), torch.tanh(states.pooler(first)))
    close(states.pool(STATES), torch.tanh(states.pooler(STATES[:, 0])))


def test_there_is_nothing_to_pool_without_a_pooler():
    with pytest.raises(ValueError, match=r"this model has no pooler; build it with head\.pooler"):
        States(D).pool(STATES)


def test_padding_is_never_part_of_an_answer():
    weights = AnswerSpan(D)(STATES, KEEP).softmax(dim=1)
    assert (weights[~KEEP] == 0).all()
    close(weights.sum(dim=1), torch.ones(B, 2))


def test_boxes_lie_in_the_picture():
    boxes = Boxes(D, 3)(100 * STATES)[..., -4:]
    assert ((boxes >= 0) & (boxes <= 1)).all()


def test_pixels_are_painted_where_their_patch_was():
    """The class token is left out, and each patch's state paints its own square."""
    head = Pixels(D, channels=3, picture=4, patch=2)
    close(patchify(head(STATES), 2), head.paint(STATES[:, 1:]))
    head.start = Pixels(D, channels=3, picture=4, patch=2, class_token=False).start
    close(patchify(head(STATES[:, :4]), 2), head.paint(STATES[:, :4]))


@pytest.mark.parametrize(
    ("head", "shape"),
    [
        (HeadConfig(kind="class", labels=5), (2, 5)),
        (HeadConfig(kind="class", labels=5, pool="mean", pooler=True, dropout=0.1), (2, 5)),
        (HeadConfig(kind="boxes", labels=5), (2, 4, 9)),
        (HeadConfig(kind="masks", labels=5), (2, 5, 8, 8)),
        (HeadConfig(kind="pixels"), (2, 3, 8, 8)),
        (HeadConfig(kind="states"), (2, 5, DIM)),
    ],
    ids=lambda value: value.kind if isinstance(value, HeadConfig) else "",
)
def test_every_picture_task_fits_one_encoder(head, shape):
    model = specimen("vit", head=head, front=FrontConfig(kind="patches", picture=8, patch=4))
    assert model(torch.randn(2, 3, 8, 8)).shape == shape


@pytest.mark.parametrize(
    ("head", "shape"),
    [
        (HeadConfig(transform=True, bias=True), (2, 6, VOCAB)),
        (HeadConfig(kind="class", labels=5), (2, 5)),
        (HeadConfig(kind="tags", labels=5), (2, 6, 5)),
        (HeadConfig(kind="span"), (2, 6, 2)),
    ],
    ids=lambda value: value.kind if isinstance(value, HeadConfig) else "",
)
@pytest.mark.parametrize("family", ["bert", "albert", "gpt2"])
def test_every_text_task_fits_every_stack(family, head, shape):
    assert specimen(family, head=head)(torch.randint(VOCAB, (2, 6))).shape == shape


def test_the_end_of_a_text_is_found_by_its_token():
    """The first end counts, what stands behind it does not; without a number the highest token is the end."""
    tokens = torch.tensor([[1, 9, 3, 9, 0], [4, 2, 7, 5, 6]])
    at = torch.tensor([0, 1])
    assert torch.equal(EndState(9)(STATES, tokens), STATES[at, torch.tensor([1, 0])])  # the second row has none
    assert torch.equal(EndState()(STATES, tokens), STATES[at, torch.tensor([1, 2])])
    with pytest.raises(ValueError, match="found by its tokens"):
        EndState(9)(STATES)


def test_a_vector_is_read_where_its_text_ends():
    """What stands behind the end cannot be seen from it, so padding of any kind changes nothing."""
    model = specimen("gpt2", head=HeadConfig(kind="vector", pool="end", end=9, width=6))
    tokens = torch.tensor([[1, 2, 9, 9, 9], [3, 4, 5, 6, 9]])
    close(model(tokens)[0], model(tokens[:1, :3])[0])
    close(model(tokens, keep=torch.tensor([[True] * 3 + [False] * 2, [True] * 5])), model(tokens))


def test_the_last_slot_counts_even_if_it_is_padding():
    assert torch.equal(Vector(D, pool="slot")(STATES, KEEP), STATES[:, -1])
    assert torch.equal(Vector(D, pool="last")(STATES, KEEP), STATES[[0, 1], [2, 4]])
