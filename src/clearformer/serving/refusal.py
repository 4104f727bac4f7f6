"""A no that can be said in several languages: a code and its values for the page, a sentence for everybody else."""


class Refused(ValueError):  # noqa: N818 - it is an answer
    """code: a key of the pages' catalogues; the values stand in braces in sentence and catalogue alike."""

    def __init__(self, code: str, sentence: str, **values: int | str) -> None:
        super().__init__(sentence.format(**values))
        self.code, self.values = code, values
