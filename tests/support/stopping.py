"""A wish to stop that comes before some step: for tests of what a stopped run leaves behind."""


class StopsAt:
    """In place of `training.signals.Stop`: asked before the step with this number."""

    def __init__(self, step: int) -> None:
        self._left = step

    def __enter__(self) -> "StopsAt":
        return self

    def __exit__(self, *_: object) -> None:
        pass

    @property
    def asked(self) -> bool:
        self._left -= 1
        return self._left < 0
