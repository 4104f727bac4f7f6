"""Running text as ids: line by line, with a token for every line end, whatever the vocabulary."""

from collections.abc import Iterable

from clearformer.text.tokenizer import Tokenizer


def running_ids(tokenizer: Tokenizer, text: str) -> list[int]:
    """All ids of a long text, line by line, so that a vocabulary never joins two lines.

    A vocabulary that forgets spacing (whole words, WordPiece) would forget where lines end, too: there the token that
    ends a text stands for each line end, as everybody counts the words of WikiText.
    """
    *ended, last = text.split("\n")  # nowhere else: str.splitlines knows nine more line ends
    lines = [f"{line}\n" for line in ended] + ([last] if last else [])
    rows = tokenizer.ids(lines, add_special=False)
    if forgets_lines(tokenizer):
        end = line_end(tokenizer)
        rows = [[*row, end] if line.endswith("\n") else row for row, line in zip(rows, lines, strict=True)]
    return [number for row in rows for number in row]


def running_text(tokenizer: Tokenizer, ids: Iterable[int]) -> str:
    """The text of such ids, with its line ends where the vocabulary forgets them."""
    if not forgets_lines(tokenizer):
        return tokenizer.decode(ids)
    end, lines = line_end(tokenizer), [list[int]()]
    for number in ids:
        if number == end:
            lines.append([])
        else:
            lines[-1].append(number)
    return "\n".join(tokenizer.decode(line) for line in lines)


def forgets_lines(tokenizer: Tokenizer) -> bool:
    """Whether a line end leaves no trace in the ids of a text."""
    return not tokenizer.encode("\n", add_special=False).ids


def line_end(tokenizer: Tokenizer) -> int:
    """The token that stands for a line end in a vocabulary that forgets them."""
    known = tokenizer.special_ids
    end = known.get("eos", known.get("sep"))
    if end is None:
        raise ValueError("this vocabulary forgets line ends and has no token that ends a text; choose another")
    return end
