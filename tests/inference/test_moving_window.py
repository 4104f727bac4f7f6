"""A window that moves: rows forget by their own length, and the model never reads more than the window."""

import pytest
import torch

from clearformer.inference.moving_window import WindowStepper, moves


class Reader:
    """A stepper that notes what it has been given to read; the next token is the sum of all that it holds."""

    def __init__(self):
        self.most = 0

    def start(self, source):
        return torch.tensor([row[-1] for row in source]), Held([list(row[:-1]) for row in source])

    def step(self, tokens, state):
        held = [[*row, token] for row, token in zip(state.rows, tokens.tolist(), strict=True)]
        self.most = max(self.most, *map(len, held))
        logits = torch.zeros(len(held), 50)
        for row, one in enumerate(held):
            logits[row, sum(one) % 50] = 1.0
        return logits, Held(held)


class Held:
    def __init__(self, rows):
        self.rows = rows

    def select(self, rows):
        return Held([self.rows[row] for row in rows.tolist()])

    def join(self, other):
        return Held(self.rows + other.rows)


def written(prompts, window, count):
    reader = Reader()
    stepper = WindowStepper(reader, window)
    tokens, state = stepper.start(prompts)
    rows = [[] for _ in prompts]
    for _ in range(count):
        logits, state = stepper.step(tokens, state)
        tokens = logits.argmax(-1)
        for row, token in zip(rows, tokens.tolist(), strict=True):
            row.append(token)
    return rows, reader.most


@pytest.mark.parametrize("window", [2, 3, 8, 9])
def test_a_row_beside_others_is_written_as_alone(window):
    prompts = [[3, 1], [7], [2]]
    together, most = written(prompts, window, 30)
    assert most <= window
    for prompt, row in zip(prompts, together, strict=True):
        assert written([prompt], window, 30)[0] == [row]


def test_until_it_is_full_a_window_changes_nothing():
    assert written([[3, 1]], 9, 8) == written([[3, 1]], 1000, 8)
    assert written([[3, 1]], 9, 9) != written([[3, 1]], 1000, 9)
    assert not moves(9, 2, 8)
    assert moves(9, 2, 9)


def test_rows_are_selected_and_joined_with_what_they_hold():
    stepper = WindowStepper(Reader(), 4)
    (one, first), (other, second) = stepper.start([[1, 2], [3, 4]]), stepper.start([[5, 6]])
    both = first.select(torch.tensor([1, 1])).join(second)
    logits, _ = stepper.step(torch.cat([one[[1, 1]], other]), both)
    assert logits.argmax(-1).tolist() == [7, 7, 11]


def test_a_window_too_small_to_move_is_refused():
    with pytest.raises(ValueError, match="at least 2"):
        WindowStepper(Reader(), 1)
