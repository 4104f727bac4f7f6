"""Endless data whose right answer is known."""

from clearformer.lab.made_tasks import copying_batch, recall_batch


def test_copying():
    batch = copying_batch(4, 6, 10)
    assert batch.shape == (4, 13)
    assert (batch[:, 6] == 0).all()
    assert (batch[:, :6] == batch[:, 7:]).all()
    assert batch[:, :6].min() >= 1


def test_recalling():
    tokens, answers, asked = recall_batch(50, 8, 10, (1, 3, 8))
    assert tokens.shape == (50, 9)
    assert set(asked.tolist()) == {0, 1, 2}
    for row, answer, number in zip(tokens.tolist(), answers.tolist(), asked.tolist(), strict=True):
        assert row[-1] == 10 + number
        assert answer == row[8 - (1, 3, 8)[number]]
