"""A text that a model cannot take, told by its number, so that whoever read it from a file can name the line."""


class UnusableTextError(ValueError):
    """number: which of the texts that were given together, from 1; reason: what is wrong and what to do."""

    def __init__(self, number: int, reason: str) -> None:
        super().__init__(f"text {number} {reason}")
        self.number, self.reason = number, reason
