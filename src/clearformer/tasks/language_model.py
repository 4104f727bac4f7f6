"""Language model: running text in, a decoder that continues it out, judged by nats per token on unseen text."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from clearformer.data.collate import BlockBatch, collate_blocks, keep_documents_apart
from clearformer.data.file_facts import scan
from clearformer.data.readers.texts import is_table, read_documents
from clearformer.data.shards import Column, ShardWriter, shards_for, token_type_for
from clearformer.data.token_pairs import TokenIds
from clearformer.evaluation.likelihood import summarise
from clearformer.folder.description import ModelFolder
from clearformer.folder.preprocessing import Markers, Preprocessing
from clearformer.inference.likelihood_settings import LikelihoodConfig
from clearformer.inference.text_generator import TextGenerator
from clearformer.tasks.automatic import plain_text
from clearformer.tasks.data_files import DataFiles, file_names, folder_of, several
from clearformer.tasks.learned_vocabulary import as_preprocessing, vocabularies
from clearformer.tasks.task import Judging, Prepared, Scores, Scoring, Seed, Task, Training, Workspace
from clearformer.tasks.verbs import VERBS
from clearformer.text.lines import read_lines
from clearformer.text.running_text import running_ids
from clearformer.text.tokenizer import Tokenizer
from clearformer.text.train_tokenizer import TokenizerConfig
from clearformer.training.loss import Loss
from clearformer.training.projected_loss import projected_cross_entropy

PARTS = ("train", "dev")
SAMPLE_TOKENS = 80
COMPARED = ("nats", "perplexity", "bits_per_byte")  # with a memory and without, side by side


@dataclass(frozen=True, kw_only=True)
class RunningText(DataFiles):
    """Plain text, which is read end to end, or documents, none of which is seen from another: the rows of a table, or
    what stands between separators. Without `dev`, the last part of the training text is held out.
    """

    train: str | tuple[str, ...] = file_names(
        "one or more text files"
    )  # text files, read one after the other, or tables of texts
    dev: str = file_names()  # a text to choose the best checkpoint by; empty: the end of train
    test: str = file_names()  # a text for the end
    hold_out: float = 0.1  # share of the characters, or documents, where there is no `dev`
    separator: str = ""  # the line that stands between two documents, "\n" for an empty one; empty: one long text
    # single characters by default; a space is never put before a line, whatever prefix_space says
    vocabulary: TokenizerConfig = field(default_factory=lambda: TokenizerConfig(kind="character", min_frequency=1))
    context: int = 256  # tokens that the model sees at a time
    word_dropout: float = 0.0  # chance that a token is hidden in training

    def __post_init__(self) -> None:
        if not 0 < self.hold_out < 1:
            raise ValueError(f"data.hold_out is a share of the text, above 0 and below 1, not {self.hold_out}")
        if self.context < 2:
            raise ValueError(f"data.context must be at least 2 tokens, not {self.context}")
        if not 0 <= self.word_dropout < 1:
            raise ValueError(f"data.word_dropout is a chance, at least 0 and below 1, not {self.word_dropout}")


@dataclass(frozen=True, kw_only=True)
class NextToken:
    """Cross-entropy of the next token."""

    smoothing: float = 0.0  # label smoothing: the share of the probability that is spread over all tokens


@dataclass(frozen=True, kw_only=True)
class TextScoring(LikelihoodConfig, Scoring):
    """How a model is scored: the stretch that it sees, and what it may remember of the text it has read."""


class Windows:
    """A stream of tokens as overlapping stretches of two contexts, out of which `collate` cuts one at any offset."""

    def __init__(self, stream: TokenIds, context: int) -> None:
        self.stream, self.context = stream, context

    def __len__(self) -> int:
        return max(1, (len(self.stream) - 1) // self.context)

    def __getitem__(self, index: int) -> TokenIds:
        start = index * self.context
        return self.stream[start : start + 2 * self.context]


def prepare(data: RunningText, workspace: Workspace) -> Prepared[TokenIds]:
    """Read the text, learn a vocabulary, and keep the tokens of both parts as one long row each."""
    folder = folder_of(data, workspace.base)
    files = [folder / name for name in (*several(data.train), *((data.dev,) if data.dev else ()))]
    apart = bool(data.separator) or any(map(is_table, files))
    train, dev = _documents(files, data) if apart else _texts(files, data)
    start = None if workspace.start is None else workspace.start.preprocessing
    given = () if start is None else start.sides[:1]
    # A space before each line would be learned, and written: running text begins in the middle of things.
    vocabulary = replace(data.vocabulary, prefix_space=False)
    lines = [line for text in train for line in text.splitlines(keepends=True)]
    [tokenizer] = vocabularies(vocabulary, {"joint": lines}, workspace, given)
    preprocessing = as_preprocessing([tokenizer], start)
    preprocessing = _marked(preprocessing) if apart else _unmarked(preprocessing)

    def fill(writer: ShardWriter) -> dict[str, Any]:
        for done, texts in enumerate((train, dev), start=1):
            ids = np.array([number for text in texts for number in _framed(text, preprocessing)])
            writer.add(tokens=Column(ids, np.array([len(ids)])))
            workspace.on_progress(done, 2)
        return {"tokens": "all"}

    made_from = {
        "files": [vars(scan(path)) for path in files],
        "tokenizer": tokenizer.fingerprint(),
        "hold_out": None if data.dev else data.hold_out,
        **({"separator": data.separator} if apart else {}),
    }
    columns = {"tokens": token_type_for(tokenizer.vocab_size)}
    made = workspace.folder / "shards"
    shards = shards_for(made, columns=columns, made_from=made_from, fill=fill, same=workspace.resume)
    streams = [shards[place][0] for place in range(len(PARTS))]
    windows = Windows(streams[0], data.context)
    blocks = [streams[1][at : at + data.context + 1] for at in range(0, len(streams[1]) - 1, data.context)]
    return Prepared(
        train=windows,
        lengths=[np.full(len(windows), min(data.context, len(streams[0]) - 1))],
        dev=blocks,
        held=dev,
        preprocessing=preprocessing,
    )


def _texts(files: Sequence[Path], data: RunningText) -> tuple[list[str], list[str]]:
    """One long text to learn from, and one to look at meanwhile."""
    texts = ["".join(f"{line}\n" for line in read_lines(path)) for path in files]
    whole = "".join(texts[:-1] if data.dev else texts)
    cut = len(whole) if data.dev else round(len(whole) * (1 - data.hold_out))
    train, dev = whole[:cut], texts[-1] if data.dev else whole[cut:]
    if min(len(train.strip()), len(dev.strip())) < 2:  # a token, and one to predict from it
        raise ValueError(_too_little(files))
    return [train], [dev]


def _documents(files: Sequence[Path], data: RunningText) -> tuple[list[str], list[str]]:
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


def _unmarked(preprocessing: Preprocessing) -> Preprocessing:
    """Running text has no markers: a prompt is given as it is, and a text without one begins with a new line."""
    first = running_ids(preprocessing.sides[0], "\n")[0]
    return preprocessing if preprocessing.markers is not None else replace(preprocessing, markers=Markers(start=first))


def _marked(preprocessing: Preprocessing) -> Preprocessing:
    """A document begins with the vocabulary's start token and ends with its end token. Where these are one token, as
    GPT-2's are, the beginning of the next document is the end of this one.
    """
    known = preprocessing.sides[0].special_ids
    start, end = known.get("bos", known.get("eos")), known.get("eos")
    if start is None or end is None:
        raise ValueError("documents need a start and an end token, and this vocabulary has none; train on one text")
    after = () if start == end else (end,)
    return replace(preprocessing, markers=Markers(before_source=(start,), after_source=after, start=start))


def _framed(text: str, preprocessing: Preprocessing) -> list[int]:
    """The ids of a text with what stands around it."""
    markers = preprocessing.markers
    assert markers is not None
    return [*markers.before_source, *running_ids(preprocessing.sides[0], text), *markers.after_source]


def sizes(preprocessing: Preprocessing) -> dict[str, Any]:
    """How many rows the model's table has."""
    return {"vocab_size": preprocessing.sides[0].vocab_size}


def collate(data: RunningText, preprocessing: Preprocessing) -> Callable[[Sequence[TokenIds], Seed], BlockBatch]:
    """In training, a context at a random offset of each window, some of it hidden; in validation, the block as it is.

    What is hidden is still asked for: a token is predicted whether or not the next ones will see it.
    """
    tokenizer, markers = preprocessing.sides[0], preprocessing.markers
    pad, hidden = tokenizer.pad_id, tokenizer.special_ids.get("unk") if data.word_dropout else None
    if data.word_dropout and hidden is None:
        raise ValueError("data.word_dropout hides tokens behind the unknown one, and this vocabulary has none; take 0")

    def collate_rows(rows: Sequence[TokenIds], seed: Seed) -> BlockBatch:
        if not seed:
            return apart(collate_blocks(rows, pad=pad))
        random = np.random.default_rng(seed)
        draw = random.random(len(rows))
        cuts = [_cut(row, chance, data.context) for row, chance in zip(rows, draw, strict=True)]
        batch = apart(collate_blocks(cuts, pad=pad))
        if hidden is None:
            return batch
        chosen = torch.from_numpy(random.random(batch.inputs.shape) < data.word_dropout) & batch.keep
        return replace(batch, inputs=batch.inputs.masked_fill(chosen, hidden))

    def apart(batch: BlockBatch) -> BlockBatch:
        if markers is None or not markers.before_source:
            return batch
        return keep_documents_apart(batch, start=markers.before_source[0], ends=not markers.after_source)

    return collate_rows


def _cut(row: TokenIds, chance: float, context: int) -> NDArray[np.int64]:
    most = max(0, len(row) - context - 1)
    start = int(chance * (most + 1))
    return row[start : start + context + 1].astype(np.int64)


def loss(model: nn.Module, batch: BlockBatch, objective: NextToken) -> Loss:
    """Cross-entropy of the next token. Right padding needs no mask: no token looks ahead."""
    states = model.decoder(batch.inputs, segments=batch.segments)[batch.keep]  # type: ignore[operator]
    features, table, bias = model.head.projection(states)  # type: ignore[union-attr, operator]
    return projected_cross_entropy(features, table, bias, batch.targets[batch.keep], smoothing=objective.smoothing)


def score(generator: TextGenerator, held: Sequence[str], judging: Judging) -> Scores:
    """A sample of what it writes; thoroughly, the likelihood of the whole text with a stated stride."""
    if not judging.thorough:
        opening = held[0][:40].splitlines(keepends=True)[0]
        while len(opening) > 1 and len(generator.encode(opening)) >= generator.window:  # a very short context
            opening = opening[: len(opening) // 2]
        written = generator.generate(opening, judging.options, max_new=SAMPLE_TOKENS)
        return {"sample_0": f"{opening}{written}"}
    markers = generator.bundle.preprocessing.markers
    apart = markers is not None and bool(markers.before_source)
    ids = [running_ids(generator.tokenizer, text) for text in held]
    end = [generator.end()] if apart else []  # the end of a document is predicted, too, and counts as a line end
    text = "".join(f"{text}\n" if apart else text for text in held)
    found = generator.likelihoods(
        [[*generator.before_text(), *row, *end] for row in ids], judging.scoring, on_progress=judging.on_progress
    )
    scores = {**summarise(found.pop(""), text=text), **_unknown(generator.tokenizer, ids, text)}
    for name, remembering in found.items():
        summary = summarise(remembering, text=text)
        scores |= {f"{name}_{key}": value for key, value in summary.items() if key.startswith(COMPARED)}
        scores[f"{name}_signature"] = _signature(name, judging.scoring)
    return scores


def _signature(name: str, config: LikelihoodConfig) -> str:
    """What a model remembered, and how."""
    rates = f"rate {config.dynamic:g}, decay {config.dynamic_decay:g}"
    learning = f"a gradient step on each stretch once it is scored, {rates}"
    pointing = f"the last {config.cache:,} states, theta {config.cache_theta:g}, share {config.cache_share:g}"
    parts = {"dynamic": learning, "cache": pointing}
    return "; ".join(parts[part] for part in name.split("_"))


def _unknown(tokenizer: Tokenizer, rows: Sequence[Sequence[int]], text: str) -> dict[str, float]:
    """How many words are not in the vocabulary: a model need not spell what it may call unknown."""
    unknown = tokenizer.special_ids.get("unk")
    spelled = 0 if unknown is None else text.count(tokenizer.piece(unknown))  # WikiText itself writes <unk>
    count = 0 if unknown is None else sum(row.count(unknown) for row in rows) - spelled
    return {"unknown": float(count)} if count > 0 else {}


def held_out(files: Sequence[Path], folder: ModelFolder) -> list[str]:
    """The text of some files, one after the other; documents, where the model was trained on those."""
    markers = folder.preprocessing.markers
    if markers is None or not markers.before_source:
        return ["".join(f"{line}\n" for path in files for line in read_lines(path))]
    separator = str(folder.description.provenance.get("separator", ""))
    return [text for path in files for text in read_documents(path, separator=separator) if text.strip()]


def facts(recipe: Any) -> dict[str, Any]:
    """What a folder remembers of its recipe."""
    apart = {"separator": recipe.data.separator} if recipe.data.separator else {}
    return {
        "data": recipe.data.corpus or ", ".join(Path(name).name for name in several(recipe.data.train)),
        "context": recipe.data.context,
        **apart,
    }


TASK = Task(
    name="language-model",
    verb=VERBS["generate"],
    use=TextGenerator,
    training=Training(
        data=RunningText,
        objective=NextToken,
        scoring=TextScoring,
        prepare=prepare,
        sizes=sizes,
        collate=collate,
        loss=loss,
        score=score,
        held_out=held_out,
        test_files=lambda data: (data.test,),
        best="-loss",
        facts=facts,
    ),
    automatic=plain_text.AUTOMATIC,
)
