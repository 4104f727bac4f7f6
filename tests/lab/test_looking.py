"""Where heads look."""

from clearformer.lab.comparison import QUICK, TRANSLATION
from clearformer.lab.looking import encoder_looks
from clearformer.lab.trained_networks import Wanted, train_wanted


def test_a_row_per_head_of_all_layers():
    network = train_wanted(Wanted(recipe=TRANSLATION, changes=(*QUICK, "scoring.examples=20")))
    before, itself = zip(*encoder_looks(network, (-1, 0)), strict=True)
    assert len(before) == len(itself) == 2 * 4
    assert all(0 < share < 1 for share in (*before, *itself))
    assert [row[0] for row in encoder_looks(network, (0,))] == list(itself)
