"""Each head in NumPy says what the module of the model says."""

import numpy as np
import pytest
import torch

from clearformer.foundation.storage import DamagedError
from clearformer.inference.array_heads import array_head
from clearformer.model.config import HeadConfig
from support.toy_readers import HEADS, reader

LENGTHS = np.array([3, 7, 1])


@pytest.mark.parametrize("name", HEADS)
def test_every_head_says_the_same_without_pytorch(name):
    made = reader(head=HEADS[name])
    weights = {f"head.{key}": value.numpy() for key, value in made.model.head.state_dict().items()}
    states = torch.randn(3, 7, 32)
    keep = torch.arange(7)[None] < torch.tensor(LENGTHS)[:, None]
    with torch.inference_mode():
        expected = made.model.head(states, keep).numpy()
    found = array_head(HEADS[name], weights)(states.numpy(), LENGTHS)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


def test_padding_does_not_change_what_is_said_of_a_text():
    for name, head in HEADS.items():
        made = reader(head=head)
        weights = {f"head.{key}": value.numpy() for key, value in made.model.head.state_dict().items()}
        say = array_head(head, weights)
        states = torch.randn(1, 4, 32).numpy()
        padded = np.concatenate((states, np.full((1, 3, 32), 9, np.float32)), axis=1)
        alone, among = say(states, np.array([4])), say(padded, np.array([4]))
        np.testing.assert_allclose(among if among.ndim == 2 else among[:, :4], alone, atol=1e-6, err_msg=name)


def test_a_head_without_its_weights_is_damaged_and_an_unknown_one_refused():
    with pytest.raises(DamagedError, match=r"lack 'head\.classify\.weight'"):
        array_head(HEADS["tags"], {})
    with pytest.raises(ValueError, match="no head for language-model in NumPy; use the torch engine"):
        array_head(HeadConfig(), {})
