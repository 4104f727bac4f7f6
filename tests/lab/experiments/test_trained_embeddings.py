"""The factor √d, and one table or three."""


def test_three_tables_have_more_parameters(found, had_it_been):
    _, findings = found("trained-embeddings")
    one, _, three, _ = findings.tables[0].rows
    assert float(one[1].replace(",", "")) < float(three[1].replace(",", ""))
    assert (
        had_it_been("trained-embeddings", {"all-scaled": {"loss": 3.0}, "all-plain": {"loss": 3.5}}) != "does not hold"
    )
    assert (
        had_it_been("trained-embeddings", {"all-scaled": {"loss": 3.5}, "all-plain": {"loss": 3.0}}) == "does not hold"
    )
