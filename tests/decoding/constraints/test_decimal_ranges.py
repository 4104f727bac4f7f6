"""Numbers between bounds: exactly those, judged by arithmetic on every number nearby."""

from decimal import Decimal
from random import Random

import pytest

from clearformer.decoding.constraints.automaton import Automaton
from clearformer.decoding.constraints.byte_network import ByteNetwork
from clearformer.decoding.constraints.decimal_ranges import Limit, decimals
from clearformer.decoding.constraints.grammar import Grammar


def judge(low, high):
    def within(value):
        above = low is None or value > low.value or (value == low.value and not low.open)
        return above and (high is None or value < high.value or (value == high.value and not high.open))

    return within


def automaton(low, high, fraction):
    return Automaton(ByteNetwork.of(Grammar(decimals(low, high, fraction=fraction), {})))


def fits(machine, said):
    return machine.accepts(machine.step(machine.start, said.encode()))


@pytest.mark.parametrize("seed", range(60))
def test_exactly_the_numbers_between_the_bounds_are_written(seed):
    random = Random(seed)
    fraction = random.randrange(4)

    def limit():
        if random.random() < 0.2:
            return None
        return Limit(round(Decimal(random.uniform(-120, 120)), random.randrange(4)), random.random() < 0.5)

    low, high = limit(), limit()
    within, machine = judge(low, high), automaton(low, high, fraction)
    numbers = {
        Decimal(0),
        *(Decimal(random.randrange(-130_000, 130_000)).scaleb(-random.randrange(4)) for _ in range(300)),
    }
    for bound in (low, high):
        if bound is not None:
            numbers |= {bound.value + Decimal(step).scaleb(-digits) for step in range(-12, 13) for digits in range(4)}
    for number in numbers:
        said = f"{number:f}"
        digits = len(said.partition(".")[2])
        if digits <= fraction and not (number == 0 and said.startswith("-")):
            assert fits(machine, said) == within(number), (low, high, said)


def test_whole_numbers_and_nothing_like_them():
    machine = automaton(Limit(Decimal(7)), Limit(Decimal(1203)), 0)
    assert [number for number in range(-20, 2000) if fits(machine, str(number))] == list(range(7, 1204))
    for said in ("007", "+7", "7.", "7.0", "-0", "1e2", ""):
        assert not fits(machine, said)
