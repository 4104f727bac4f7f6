"""What a stranger's template may cost: steps, characters, and how deeply it nests. Beyond that it is refused."""

from typing import Any

MOST_STEPS = 1_000_000  # about a second; a conversation of hundreds of turns takes some tens of thousands
MOST_TEXT = 2_000_000  # characters of one text, or of the result
MOST_ITEMS = 100_000  # of a list
MOST_DEPTH = 40  # of brackets and blocks, and of lists inside lists
LARGEST_NUMBER = 1 << 63
CHARACTERS_A_STEP = 64


class TemplateError(ValueError):
    """A template that cannot be understood, or that does not accept what it was given: one sentence."""


class Budget:
    """Counts what evaluating one template costs."""

    def __init__(self) -> None:
        self.steps = 0

    def spend(self, steps: int = 1) -> None:
        """Steps that are about to be taken."""
        self.steps += steps
        if self.steps > MOST_STEPS:
            raise TemplateError(f"it takes more than {MOST_STEPS:,} steps")

    def room_for_text(self, characters: int) -> None:
        """A text of this length is about to be made."""
        if characters > MOST_TEXT:
            raise TemplateError(f"it makes a text of more than {MOST_TEXT:,} characters")
        self.spend(characters // CHARACTERS_A_STEP)

    def room_for_items(self, items: int) -> None:
        """A list of this length is about to be made."""
        if items > MOST_ITEMS:
            raise TemplateError(f"it makes a list of more than {MOST_ITEMS:,} items")
        self.spend(items)

    def weigh(self, value: Any, depth: int = 0) -> None:
        """Pay for all that a value holds. Lists that hold one list many times cost what they would cost to show."""
        if depth > MOST_DEPTH:
            raise TemplateError(f"it nests lists more than {MOST_DEPTH} deep")
        self.spend()
        if isinstance(value, str):
            self.room_for_text(len(value))
        elif isinstance(value, list | tuple):
            for item in value:
                self.weigh(item, depth + 1)
        elif isinstance(value, dict):
            for key, item in value.items():
                self.weigh(key, depth + 1)
                self.weigh(item, depth + 1)
        elif isinstance(value, int) and abs(value) > LARGEST_NUMBER:
            raise TemplateError(f"it computes a number above {LARGEST_NUMBER:,}")
