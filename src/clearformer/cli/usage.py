"""Something was asked for in a way that cannot be meant: exit code 2."""

from collections.abc import Iterator
from contextlib import contextmanager


class UsageError(ValueError):
    """The arguments do not go together; the message says how they would."""


@contextmanager
def asked_wrongly() -> Iterator[None]:
    """What is refused inside was given on the command line or in a recipe: wrong usage, not a failure."""
    try:
        yield
    except UsageError:
        raise
    except ValueError as error:
        raise UsageError(str(error)) from error
