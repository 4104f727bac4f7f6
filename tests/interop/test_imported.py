"""A checkpoint's tensors in one of our models: all of them used, none guessed, and shapes compared before memory."""

import pytest
import torch

from clearformer.interop.hf import bert
from clearformer.interop.imported import assemble
from clearformer.interop.renaming import give, link
from clearformer.model.config import HeadConfig
from clearformer.model.families import FAMILIES
from clearformer.model.weights import weights_of
from interop.folders import SIZES, model_of

CONFIG = FAMILIES["bert"](vocab_size=20, head=HeadConfig(kind="states", pooler=True), **SIZES)


class Store:
    """Tensors in memory."""

    def __init__(self, tensors):
        self.tensors = tensors
        self.shapes = {name: tuple(tensor.shape) for name, tensor in tensors.items()}

    def read(self, name):
        return self.tensors[name]


@pytest.fixture
def published():
    model = model_of(CONFIG)
    weights = weights_of(model)
    return model, give(link(bert.names(CONFIG).rules, weights), weights)


def test_every_number_arrives(published):
    model, tensors = published
    made, aside = assemble(CONFIG, bert.names(CONFIG), Store(tensors), "bert.")
    assert not aside
    assert not made.training
    before, after = weights_of(model), weights_of(made)
    assert all(torch.equal(before[name], after[name]) for name in before)


def test_a_missing_and_a_strange_tensor_are_named(published):
    _, tensors = published
    name = next(iter(tensors))
    with pytest.raises(ValueError, match=name.replace(".", r"\.")):
        assemble(CONFIG, bert.names(CONFIG), Store({key: tensors[key] for key in tensors if key != name}), "bert.")
    with pytest.raises(ValueError, match="surprise"):
        assemble(CONFIG, bert.names(CONFIG), Store({**tensors, "surprise": torch.ones(1)}), "bert.")


def test_a_configuration_that_asks_for_more_than_the_file_has_costs_nothing(published):
    _, tensors = published
    huge = FAMILIES["bert"](
        vocab_size=1 << 25, head=HeadConfig(kind="states", pooler=True), **{**SIZES, "dim": 1 << 14, "layers": 400}
    )
    with pytest.raises(ValueError, match="the weights lack"):  # 36 TB would have been asked for otherwise
        assemble(huge, bert.names(huge), Store(tensors), "bert.")
