"""A text further on."""

from clearformer.lab.experiments.shifted_positions import RELATIVE


def test_relative_schemes_do_not_notice_a_shift(found):
    values, findings = found("shifted-positions")
    assert max(values[kind] for kind in RELATIVE) < 1e-2
    assert min(values["sinusoidal"], values["learned"]) > 0.1
    assert findings.verdict == "holds"


def test_only_a_table_ends(found):
    values, _ = found("shifted-positions")
    assert values["learned_beyond"] == 0
    assert all(values[f"{kind}_beyond"] == 1 for kind in ("sinusoidal", *RELATIVE))
