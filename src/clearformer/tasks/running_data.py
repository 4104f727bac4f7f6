"""What language models read: one long text, or documents, none of which sees another, and the markers around them."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from clearformer.data.readers.texts import read_documents
from clearformer.data.token_pairs import TokenIds
from clearformer.folder.preprocessing import Markers, Preprocessing
from clearformer.tasks.data_files import DataFiles, file_names
from clearformer.text.lines import read_lines
from clearformer.text.running_text import running_ids
from clearformer.text.train_tokenizer import TokenizerConfig


@dataclass(frozen=True, kw_only=True)
class RunningText(DataFiles):
    """Plain text, which is read end to end, or documents, none of which is seen from another: the rows of a table, or
    what stands between separators. Without `dev`, the last part of the training text is held out. A vocabulary never
    puts a space before a line, whatever its prefix_space says.
    """

    train: str | tuple[str, ...] = file_names("one or more text files")  # read one after the other, or tables of texts
    dev: str = file_names()  # a text to choose the best checkpoint by; empty: the end of train
    test: str = file_names()  # a text for the end
    hold_out: float = 0.1  # share of the characters, or documents, where there is no `dev`
    separator: str = ""  # the line that stands between two documents, "\n" for an empty one; empty: one long text
    vocabulary: TokenizerConfig = field(default_factory=lambda: TokenizerConfig(kind="character", min_frequency=1))
    context: int = 256  # tokens that the model sees at a time
    memory: int = 0  # tokens before those whose states are remembered from step to step (Transformer-XL); 0: none
    word_dropout: float = 0.0  # chance that a token is hidden in training

    def __post_init__(self) -> None:
        if not 0 < self.hold_out < 1:
            raise ValueError(f"data.hold_out is a share of the text, above 0 and below 1, not {self.hold_out}")
        if self.context < 2:
            raise ValueError(f"data.context must be at least 2 tokens, not {self.context}")
        if self.memory < 0:
            raise ValueError(f"data.memory is a number of tokens, at least 0, not {self.memory}")
        if not 0 <= self.word_dropout < 1:
            raise ValueError(f"data.word_dropout is a chance, at least 0 and below 1, not {self.word_dropout}")


class Windows:
    """A stream of tokens as overlapping stretches of two contexts, out of which `collate` cuts one at any offset."""

    def __init__(self, stream: TokenIds, context: int) -> None:
        self.stream, self.context = stream, context

    def __len__(self) -> int:
        return max(1, (len(self.stream) - 1) // self.context)

    def __getitem__(self, index: int) -> TokenIds:
        start = index * self.context
        return self.stream[start : start + 2 * self.context]


class Segments:
    """A stream of tokens as the stretch of one context behind any of its tokens; nothing is cut out of it."""

    def __init__(self, stream: TokenIds, context: int) -> None:
        self.stream, self.context = stream, context

    def __len__(self) -> int:
        return max(1, len(self.stream) - self.context)

    def __getitem__(self, index: int) -> TokenIds:
        return self.stream[index : index + self.context + 1]


def blocks(stream: TokenIds, context: int, memory: int) -> list[TokenIds]:
    """A stream in blocks of so many predictions, each counted once. With a memory a block has the tokens that would be
    remembered before it: only its last `context` predictions count, which is why the first block is the short one.
    """
    if not memory:
        return [stream[at : at + context + 1] for at in range(0, len(stream) - 1, context)]
    ends = range(len(stream), 1, -context)
    return [stream[max(0, end - context - 1 - memory) : end] for end in reversed(ends)]


def whole_texts(files: Sequence[Path], data: RunningText) -> tuple[list[str], list[str]]:
    """One long text to learn from, and one to look at meanwhile."""
    texts = ["".join(f"{line}\n" for line in read_lines(path)) for path in files]
    whole = "".join(texts[:-1] if data.dev else texts)
    cut = len(whole) if data.dev else round(len(whole) * (1 - data.hold_out))
    train, dev = whole[:cut], texts[-1] if data.dev else whole[cut:]
    if min(len(train.strip()), len(dev.strip())) < 2:  # a token, and one to predict from it
        raise ValueError(_too_little(files))
    return [train], [dev]


def documents(files: Sequence[Path], data: RunningText) -> tuple[list[str], list[str]]:
    """The same of documents, of which the last ones are held out whole."""
    parts = [[text for text in read_documents(path, separator=data.separator) if text.strip()] for path in files]
    whole = [text for part in (parts[:-1] if data.dev else parts) for text in part]
    cut = len(whole) if data.dev else min(len(whole) - 1, round(len(whole) * (1 - data.hold_out)))
    train, dev = whole[:cut], parts[-1] if data.dev else whole[cut:]
    if not train or not dev:
        raise ValueError(_too_little(files))
    return train, dev


def _too_little(files: Sequence[Path]) -> str:
    return f"{', '.join(map(str, files))}: there is too little text to learn from and to hold some out"


def unmarked(preprocessing: Preprocessing) -> Preprocessing:
    """Running text has no markers: a prompt is given as it is, and a text without one begins with a new line."""
    first = running_ids(preprocessing.sides[0], "\n")[0]
    return preprocessing if preprocessing.markers is not None else replace(preprocessing, markers=Markers(start=first))


def marked(preprocessing: Preprocessing) -> Preprocessing:
    """A document begins with the vocabulary's start token and ends with its end token. Where these are one token, as
    GPT-2's are, the beginning of the next document is the end of this one.
    """
    known = preprocessing.sides[0].special_ids
    start, end = known.get("bos", known.get("eos")), known.get("eos")
    if start is None or end is None:
        raise ValueError("documents need a start and an end token, and this vocabulary has none; train on one text")
    after = () if start == end else (end,)
    return replace(preprocessing, markers=Markers(before_source=(start,), after_source=after, start=start))


def framed(text: str, preprocessing: Preprocessing) -> list[int]:
    """The ids of a text with what stands around it."""
    markers = preprocessing.markers
    assert markers is not None
    return [*markers.before_source, *running_ids(preprocessing.sides[0], text), *markers.after_source]
