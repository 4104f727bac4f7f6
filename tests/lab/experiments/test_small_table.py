"""Table 3 in small."""

from clearformer.lab.experiments.small_table import BETTER, VARIANTS, WORSE


def test_each_row_is_held_against_the_base(found, had_it_been):
    assert {*WORSE, *BETTER} <= {one.name for one in VARIANTS}
    rows = {row[0].en: float(row[1].replace(",", "")) for row in found("small-table")[1].tables[0].rows}
    assert rows["(A) 1 head"] == rows["base"]
    assert rows["(C) width 32"] < rows["base"] < rows["(C) width 128"]
    numbers = {one.name: {"loss": 3.0} for one in VARIANTS}
    numbers |= {name: {"loss": 3.5} for name in WORSE} | {name: {"loss": 2.5} for name in BETTER}
    assert had_it_been("small-table", numbers) == "holds"
    assert had_it_been("small-table", {**numbers, "D-no-dropout": {"loss": 2.0}}) == "does not hold"
