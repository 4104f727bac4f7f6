"""Denoising: texts in, an encoder–decoder that repairs damaged ones out. Summaries may begin with it (`model.from`)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from clearformer.data.catalogue import fetch
from clearformer.data.catalogue.corpora import find_corpus
from clearformer.data.collate import PairBatch, collate_pairs
from clearformer.data.corruption import SENTINEL, Corruption, CorruptionConfig
from clearformer.data.file_facts import scan
from clearformer.data.readers.texts import read_texts
from clearformer.data.shards import Column, ShardWriter, shards_for, token_type_for
from clearformer.data.text_rows import SingleRows, in_parts
from clearformer.data.token_pairs import SPECIALS_PER_SIDE, TokenIds
from clearformer.evaluation.word_likelihood import summarise_words
from clearformer.folder.description import ModelFolder
from clearformer.folder.preprocessing import Preprocessing
from clearformer.foundation import settings
from clearformer.inference.text_repairer import TextRepairer, corruption_of
from clearformer.tasks.data_files import several
from clearformer.tasks.gathered_texts import UnlabelledText, gather
from clearformer.tasks.learned_vocabulary import vocabularies
from clearformer.tasks.next_token import NextTokenObjective, TokenPair, ids_of, loss, sizes
from clearformer.tasks.task import Judging, Prepared, Scores, Scoring, Seed, Task, Training, Workspace
from clearformer.tasks.verbs import VERBS
from clearformer.text.assemble import with_mask, with_pieces
from clearformer.text.tokenizer import Tokenizer
from clearformer.text.train_tokenizer import TokenizerConfig

SAMPLE = 40  # tokens of a text that is shown with its damage
MOST_DEV = 500  # development rows whose loss is looked at: evenly spaced ones, where there are more


@dataclass(frozen=True, kw_only=True)
class DamagedText(UnlabelledText):
    """Text files and tables, of which each text is damaged anew whenever it is read."""

    also: str | tuple[str, ...] = ()  # further corpora of `clearformer data list`, whose training parts are read, too
    join: bool = False  # lines are read end to end in rows of max_length; false: each line or table row by itself
    vocabulary: TokenizerConfig = field(default_factory=TokenizerConfig)
    corruption: CorruptionConfig = field(default_factory=CorruptionConfig)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.vocabulary.kind in ("wordpiece", "word"):
            raise ValueError(f"data.vocabulary.kind is {self.vocabulary.kind}, which loses spaces; use bpe or unigram")


@dataclass(frozen=True, kw_only=True)
class RepairScoring(Scoring):
    """How a model is scored."""

    examples: int = 100  # development rows that a validation during training looks at


def prepare(data: DamagedText, workspace: Workspace) -> Prepared[TokenIds]:
    """Read the texts, learn a vocabulary with what stands for hidden spans, and keep the tokens."""
    found, more = gather(data, workspace.base), further(data)
    texts = [*found.train, *(row.text for path in more for row in read_texts(path))]
    given = () if workspace.start is None else workspace.start.preprocessing.sides[:1]
    [learned] = vocabularies(data.vocabulary, {"joint": texts}, workspace, given)
    tokenizer = learned if given else with_gaps(learned, data)
    if given and len(Corruption(tokenizer, data.corruption).sentinels) < data.corruption.sentinels(data.max_length):
        raise ValueError("the vocabulary of model.from has too few sentinels for data.corruption; begin with another")
    made_from = {
        "files": [vars(scan(path)) for path in (*found.files, *more)],
        "tokenizer": tokenizer.fingerprint(),
        "rows": [data.join, data.max_length],
        "hold_out": None if any(several(data.dev)) else data.hold_out,
    }

    def fill(writer: ShardWriter) -> dict[str, Any]:
        rows = rows_of(tokenizer, texts, data)
        writer.add(tokens=Column(np.concatenate(rows), np.array([len(row) for row in rows])))
        return {"kept": len(rows)}

    columns = {"tokens": token_type_for(tokenizer.vocab_size)}
    made = workspace.folder / "shards"
    shards = shards_for(made, columns=columns, made_from=made_from, fill=fill, same=workspace.resume)
    bounds = np.array([data.corruption.lengths(int(length)) for length in shards.lengths("tokens")])
    return Prepared(
        train=SingleRows(shards),
        lengths=[bounds[:, side] + SPECIALS_PER_SIDE for side in (0, 1)],
        dev=_some(rows_of(tokenizer, found.dev, data), MOST_DEV),
        held=found.dev,
        preprocessing=Preprocessing(tokenizer=tokenizer),
    )


def further(data: DamagedText) -> list[Path]:
    """The training files of other corpora."""
    return [fetch.get(name) / file for name in several(data.also) if name for file in find_corpus(name).split("train")]


def with_gaps(tokenizer: Tokenizer, data: DamagedText) -> Tokenizer:
    """The vocabulary with a mask, or with as many sentinels as the longest row needs."""
    count = data.corruption.sentinels(data.max_length)
    return with_pieces(tokenizer, [SENTINEL.format(n) for n in range(count)]) if count else with_mask(tokenizer)


def rows_of(tokenizer: Tokenizer, texts: Sequence[str], data: DamagedText) -> list[TokenIds]:
    """Texts as rows of at most max_length tokens: a long one in parts, and nothing is left out."""
    room = data.max_length - SPECIALS_PER_SIDE
    whole = ids_of(tokenizer, texts)
    joined: list[TokenIds] = [np.concatenate(whole)] if data.join and whole else whole  # type: ignore[list-item]
    return [part for ids in joined for part in in_parts(ids, room)]


def _some(rows: Sequence[Any], most: int) -> list[Any]:
    """Evenly spaced ones, where there are more."""
    return [rows[place] for place in np.linspace(0, len(rows) - 1, min(len(rows), most)).astype(int)]


def collate(data: DamagedText, preprocessing: Preprocessing) -> Callable[[Sequence[TokenIds], Seed], PairBatch]:
    """Each row damaged, by lots of its own in training, and always in the same way in validation."""
    tokenizer = preprocessing.sides[0]
    damage = Corruption(tokenizer, data.corruption)

    def collate_rows(rows: Sequence[TokenIds], seed: Seed) -> PairBatch:
        pairs: list[TokenPair] = [
            damage(row, np.random.default_rng((*seed, place) if seed else row)) for place, row in enumerate(rows)
        ]
        return collate_pairs(pairs, pad=tokenizer.pad_id, bos=tokenizer.bos_id, eos=tokenizer.eos_id)

    return collate_rows


def score(repairer: TextRepairer, held: Sequence[str], judging: Judging) -> Scores:
    """Nats per token that is written, how many are right with all before them given, and texts side by side."""
    rows = repairer.rows(held)
    found = repairer.judge(rows if judging.thorough else _some(rows, judging.scoring.examples))
    scores = summarise_words(
        [one.nats for one in found], [one.right for one in found], pieces=sum(len(one.nats) for one in found)
    )
    shown = repairer.fill([repairer.tokenizer.decode(row[:SAMPLE]) for row in _some(rows, 3)])
    samples = {f"sample_{n}": f"{one.shown} → {one.text}" for n, one in enumerate(shown)}
    if not judging.thorough:
        return {**{name: scores[name] for name in ("nats", "accuracy")}, **samples}
    scores |= {"unit": "token"}
    told = settings.to_plain(corruption_of(repairer.bundle.provenance))
    signature = ", ".join(f"{name} {value}" for name, value in told.items() if value)
    return {**scores, "signature": f"{signature}; 95 % by bootstrap over rows", **samples}


def held_out(files: Sequence[Path], folder: ModelFolder) -> list[str]:
    """The texts of some files."""
    return [row.text for path in files for row in read_texts(path)]


def facts(recipe: Any) -> dict[str, Any]:
    """What a folder remembers of its recipe."""
    names = [Path(name).name for name in several(recipe.data.train)]
    return {
        "data": ", ".join([recipe.data.corpus or ", ".join(names), *filter(None, several(recipe.data.also))]),
        "max_length": recipe.data.max_length,
        "corruption": settings.to_plain(recipe.data.corruption),
    }


TASK = Task(
    name="denoising",
    verb=VERBS["fill"],
    use=TextRepairer,
    training=Training(
        data=DamagedText,
        objective=NextTokenObjective,
        scoring=RepairScoring,
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
)
