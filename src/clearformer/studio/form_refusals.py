"""What a form (a pattern, a schema) is refused for, as the pages can say it in both languages."""

from collections.abc import Iterator
from contextlib import contextmanager

from clearformer.decoding.constraints.json_schema import SchemaError
from clearformer.decoding.constraints.regex import PatternError
from clearformer.decoding.constraints.token_masks import ImpossibleError
from clearformer.serving.refusal import Refused


@contextmanager
def form_refusals() -> Iterator[None]:
    """A form that cannot be honoured is a refusal with a code. What is wrong at its place is told in English alone."""
    try:
        yield
    except PatternError as error:
        told = "pattern, character {place}: {reason}"
        raise Refused("pattern", told, place=error.place + 1, reason=error.reason) from error
    except SchemaError as error:
        told = "schema at {path}: {reason}" if error.path else "schema: {reason}"
        raise Refused("schema", told, path=error.path or "/", reason=error.reason) from error
    except ImpossibleError as error:
        if error.needed is None:
            raise Refused("impossible", "no text fits this form: {reason}", reason=str(error)) from error
        told = "the shortest text that fits takes {needed} tokens, and at most {limit} may be written"
        raise Refused("room", told, needed=error.needed, limit=error.limit) from error
