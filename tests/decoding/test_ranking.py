import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from clearformer.decoding.ranking import BLOCK, in_order, top


@settings(max_examples=300, deadline=None)
@given(
    rows=st.lists(
        st.lists(st.sampled_from([-torch.inf, -2.0, -1.0, 0.0]), min_size=7, max_size=7), min_size=1, max_size=5
    ),
    k=st.integers(1, 9),
)
def test_equals_a_full_stable_sort(rows, k):
    values = torch.tensor(rows)
    expected, expected_index = values.sort(dim=-1, descending=True, stable=True)
    best, index = top(values, k)
    assert torch.equal(best, expected[:, :k])
    possible = best > -torch.inf
    assert torch.equal(index[possible], expected_index[:, :k][possible])


def test_a_row_is_ranked_the_same_in_any_company():
    values = torch.randn(50, 1000, generator=torch.Generator().manual_seed(0)).bfloat16().float()  # many ties
    best, index = top(values, 10)
    for row in range(50):
        alone = top(values[row : row + 1], 10)
        assert torch.equal(alone[0][0], best[row])
        assert torch.equal(alone[1][0], index[row])


def test_by_hand():
    best, index = top(torch.tensor([[1.0, 3.0, 3.0, 2.0, 3.0, 3.0]]), 3)
    assert best.tolist() == [[3.0, 3.0, 3.0]]
    assert index.tolist() == [[1, 2, 4]]
    assert in_order(torch.tensor([[5.0, 7.0, 5.0]]), torch.tensor([[9, 3, 4]]))[1].tolist() == [[3, 4, 9]]


@pytest.mark.parametrize("crumbs", [0, 1, BLOCK - 1])
@pytest.mark.parametrize("levels", [3, 50, 10**6])
def test_wide_rows_are_ranked_by_blocks_as_a_full_sort_would(crumbs, levels):
    """With few levels nearly everything is equal, with many nothing is; the best also stand at the very end."""
    generator = torch.Generator().manual_seed(levels)
    values = torch.randint(levels, (20, 40 * BLOCK + crumbs), generator=generator).float()
    values[:5, -3:] = levels + 1.0
    values[5:8] = -torch.inf
    values[6, 77] = 1.0
    expected, expected_index = values.sort(dim=-1, descending=True, stable=True)
    best, index = top(values, 9)
    assert torch.equal(best, expected[:, :9])
    possible = best > -torch.inf
    assert torch.equal(index[possible], expected_index[:, :9][possible])
