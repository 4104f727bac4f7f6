"""Numbers find their place."""

import pytest

from clearformer.figures.axes import Linear, Logarithmic, short_number


def test_on_a_linear_axis_equal_differences_are_equal_distances():
    axis = Linear([36.2, 40.9], 0, 100)
    assert list(axis.ticks()) == [36, 37, 38, 39, 40, 41]
    assert axis.place(38) - axis.place(37) == pytest.approx(axis.place(41) - axis.place(40))
    assert (axis.place(36), axis.place(41)) == pytest.approx((0, 100))


def test_on_a_logarithmic_axis_equal_ratios_are_equal_distances():
    axis = Logarithmic([1, 100], 0, 200)
    assert [axis.place(value) for value in (1, 10, 100)] == pytest.approx([0, 100, 200])
    assert list(Logarithmic([8, 512], 0, 1).ticks()) == pytest.approx([10, 20, 50, 100, 200, 500])


@pytest.mark.parametrize("axis", [Linear, Logarithmic])
@pytest.mark.parametrize("value", [5.0, 1e-9, 1e12])
def test_a_single_value_stands_inside(axis, value):
    assert 0 < axis([value, value], 0, 10).place(value) < 10


@pytest.mark.parametrize(
    "values", [[0.0, 0.0], [-3.0, 5.0], [0.0001, 0.0007], [-1e9, 1e9], [1.0, 1.0 + 1e-9], [0, 29], [3, 100_000]]
)
def test_ticks_are_few_and_everything_stands_between_the_ends(values):
    axis = Linear(values, 0, 100)
    assert 2 <= len(list(axis.ticks())) <= 9
    assert all(-1e-6 <= axis.place(value) <= 100 + 1e-6 for value in [*values, *axis.ticks()])


@pytest.mark.parametrize("lowest", [0.5, 1e-3, 1e-6, 1e-13, 1e-80])
def test_a_logarithmic_axis_is_never_crowded(lowest):
    axis = Logarithmic([lowest, 1.0], 0, 100)
    ticks = list(axis.ticks())
    assert 2 <= len(ticks) <= 14
    assert all(0 <= axis.place(value) <= 100 + 1e-6 for value in ticks)


@pytest.mark.parametrize("values", [[], [0.0, 1.0], [-1.0]])
def test_a_logarithmic_axis_needs_numbers_above_zero(values):
    with pytest.raises(ValueError, match="above zero"):
        Logarithmic(values, 0, 1)


def test_long_numbers_are_written_short():
    assert [short_number(value) for value in (20_000, 1.5e6, 2e9, 0.25, -3, 0)] == [
        "20k",
        "1.5M",
        "2G",
        "0.25",
        "−3",
        "0",
    ]
