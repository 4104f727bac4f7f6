"""A refusal that the pages can translate: a code with its values, and an English sentence for everybody else."""


class Refused(ValueError):  # noqa: N818 - it is an answer
    """code: a key of the pages' catalogues. Names in braces, there and in the sentence, become the values."""

    def __init__(self, code: str, sentence: str, **values: int | str) -> None:
        super().__init__(sentence.format(**values))
        self.code, self.values = code, values
