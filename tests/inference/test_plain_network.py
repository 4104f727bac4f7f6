"""A network without a verb: tensors in, what it says out, without dropout and without gradients."""

import torch

from clearformer import api
from clearformer.folder import bundle
from clearformer.folder.bundle import Bundle
from clearformer.inference.plain_network import Network
from clearformer.model.build import build
from clearformer.model.config import DropoutConfig
from clearformer.model.families import FAMILIES


def test_it_is_run_as_it_is():
    config = FAMILIES["bert"](
        vocab_size=20, dim=8, hidden_dim=8, layers=1, heads=2, dropout=DropoutConfig.everywhere(0.5)
    )
    network = Network(Bundle(config=config, model=build(config).train()))
    tokens = torch.tensor([[3, 4, 5, 6]])
    said = network.run(tokens, keep=torch.tensor([[True, True, True, False]]))
    assert not said.requires_grad
    again = network.run(tokens, keep=torch.tensor([[True, True, True, False]]))
    torch.testing.assert_close(said, again, rtol=0, atol=0)  # dropout is off, whatever state the model came in
    other = network.run(torch.tensor([[3, 4, 5, 9]]), keep=torch.tensor([[True, True, True, False]]))
    torch.testing.assert_close(said[:, :3], other[:, :3])  # and a mask is passed on


def test_a_folder_that_says_network_opens_as_one(tmp_path):
    config = FAMILIES["bert"](vocab_size=20, dim=8, hidden_dim=8, layers=1, heads=2)
    bundle.save(Bundle(config=config, model=build(config), task="network"), tmp_path / "model")
    opened = api.load(tmp_path / "model")
    assert isinstance(opened, Network)
    assert repr(opened) == "Network(bert, 0.0 M parameters, encoder with a head for states)"
