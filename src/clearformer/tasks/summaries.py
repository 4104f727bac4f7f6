"""Summarization: texts with a summary each in, an encoder–decoder that writes the summary out, judged by ROUGE."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from clearformer.data.collate import PairBatch, collate_pairs
from clearformer.data.file_facts import scan
from clearformer.data.near_copies import NEAR, RUN, near_copies
from clearformer.data.readers.summary_pairs import SummaryPair, read_summaries
from clearformer.data.shards import Column, ShardWriter, shards_for, token_type_for
from clearformer.data.subword_dropout import SubwordDropout
from clearformer.data.token_pairs import SPECIALS_PER_SIDE
from clearformer.data.tokenise import SIDES
from clearformer.evaluation.rouge import each_summary, quick_rouge, score_summaries
from clearformer.folder.description import ModelFolder
from clearformer.folder.preprocessing import Markers, Preprocessing
from clearformer.inference.summarizer import Summarizer, summarizer_of
from clearformer.inference.summary_settings import KEPT
from clearformer.tasks.automatic import summary_tables
from clearformer.tasks.data_files import folder_of, several
from clearformer.tasks.learned_vocabulary import as_preprocessing, vocabularies
from clearformer.tasks.next_token import NextTokenObjective, TokenPair, ids_of, loss, sizes
from clearformer.tasks.summary_data import SummaryData, columns_of, split, taught
from clearformer.tasks.summary_lessons import add_lessons
from clearformer.tasks.task import Judging, Prepared, Scores, Seed, Task, Training, Workspace
from clearformer.tasks.verbs import VERBS
from clearformer.text.assemble import with_ends

log = logging.getLogger(__name__)
MOST_DEV = 500  # development texts whose loss is looked at


class HeldSummaries(NamedTuple):
    """Texts to be summarised. near: which of them are nearly in the training data; None where that is not known."""

    pairs: list[SummaryPair]
    near: list[bool] | None = None


def prepare(data: SummaryData, workspace: Workspace) -> Prepared[TokenPair]:
    """Read the tables, hold some texts out, learn a vocabulary, and keep the tokens."""
    folder = folder_of(data, workspace.base)
    files = [folder / name for name in (*several(data.train), data.dev, *several(data.lessons)) if name]
    given, dev = split(data, folder)
    train = taught(data, folder, given)
    if data.unlabelled and not any(several(data.lessons)):
        log.info("data.unlabelled is left aside: only a teacher can summarise it, by `clearformer distill`")
    start = None if workspace.start is None else workspace.start.preprocessing
    texts = [one for pair in train for one in (pair.text, pair.summary)]
    begun = () if start is None else (with_ends(start.sides[0]),)
    preprocessing = framed(as_preprocessing(vocabularies(data.vocabulary, {"joint": texts}, workspace, begun), start))
    source, _ = preprocessing.sides
    markers = preprocessing.framing
    if data.split_pieces and source.kind != "bpe":
        raise ValueError(f"data.split_pieces splits merged pairs, and the vocabulary is {source.kind}; leave it out")
    made_from = {
        "files": [vars(scan(path)) for path in files],
        "tokenizer": source.fingerprint(),
        "lengths": [data.max_length, data.max_summary],
        "columns": [data.text, data.summary],
        "hold_out": None if data.dev else data.hold_out,
        **({"alone": True} if data.lessons_alone else {}),
    }

    def fill(writer: ShardWriter) -> dict[str, Any]:
        rows = encode(preprocessing, train, data)
        writer.add(**{side: _column([row[place] for row in rows]) for place, side in enumerate(SIDES)})
        return {"kept": len(rows)}

    columns = dict.fromkeys(SIDES, token_type_for(source.vocab_size))
    made = workspace.folder / "shards"
    shards = shards_for(made, columns=columns, made_from=made_from, fill=fill, same=workspace.resume)
    return Prepared(
        train=shards,  # type: ignore[arg-type]  # two columns
        lengths=[
            shards.lengths("source") + len(markers.before_source) + len(markers.after_source),
            shards.lengths("target") + SPECIALS_PER_SIDE,
        ],
        dev=encode(preprocessing, dev, data)[:MOST_DEV],
        held=HeldSummaries(dev),
        preprocessing=preprocessing,
    )


def framed(preprocessing: Preprocessing) -> Preprocessing:
    """A text that BERT's vocabulary reads stands between [CLS] and [SEP], as its encoder is used to."""
    source, _ = preprocessing.sides
    if preprocessing.markers is not None or "cls" not in source.special_ids:
        return preprocessing
    cls = source.special_id("cls")
    return replace(preprocessing, markers=Markers(before_source=(cls,), after_source=(source.eos_id,), start=cls))


def sizes_of(preprocessing: Preprocessing) -> dict[str, Any]:
    """How many rows the tables have; an encoder that training begins with gets a decoder."""
    begun = {"shape": "encoder-decoder", "head": {"kind": "language-model"}}
    return sizes(preprocessing) | (begun if preprocessing.framing.before_source else {})


def encode(preprocessing: Preprocessing, pairs: Sequence[SummaryPair], data: SummaryData) -> list[TokenPair]:
    """The pairs as ids; how many texts are cut, and how many pairs are left out, is said."""
    source, target = preprocessing.sides
    room = data.max_length - len(preprocessing.framing.before_source) - len(preprocessing.framing.after_source)
    texts = ids_of(source, [pair.text for pair in pairs])
    summaries = ids_of(target, [pair.summary for pair in pairs])
    kept = [
        (text[:room], summary)
        for text, summary in zip(texts, summaries, strict=True)
        if len(summary) < data.max_summary and len(text) and len(summary)
    ]
    cut = sum(len(text) > room for text in texts)
    log.info(
        "%d texts with summaries: of %d (%.1f %%), which have more than %d tokens, the beginning is learned from; "
        "%d with more than %d tokens of summary are left out",
        len(kept), cut, 100 * cut / len(pairs), room, len(pairs) - len(kept), data.max_summary,
    )  # fmt: skip
    if not kept:
        raise ValueError(f"no summary fits into {data.max_summary} tokens; raise data.max_summary")
    return kept


def _column(rows: Sequence[Any]) -> Column:
    return Column(np.concatenate(rows), np.array([len(row) for row in rows]))


def collate(data: SummaryData, preprocessing: Preprocessing) -> Callable[[Sequence[TokenPair], Seed], PairBatch]:
    """Pairs of ids as one batch; with `split_pieces`, in other pieces at every reading."""
    source, target = preprocessing.sides
    dropout = SubwordDropout(source, target, rate=data.split_pieces, longest=data.max_length)
    before = next(iter(preprocessing.framing.before_source), None)

    def collate_rows(rows: Sequence[TokenPair], seed: Seed) -> PairBatch:
        read = dropout.read(list(rows), seed=seed) if seed else rows
        return collate_pairs(read, pad=source.pad_id, bos=source.bos_id, eos=source.eos_id, before=before)

    return collate_rows


def score(summarizer: Summarizer, held: HeldSummaries, judging: Judging) -> Scores:
    """ROUGE of the first so many texts, or, thoroughly, of all, with what near copies and other people score."""
    pairs = held.pairs if judging.thorough else held.pairs[: judging.scoring.examples]
    mine = judging.ranks.share_out([pair.text for pair in pairs])
    found = judging.ranks.collect(
        [one.text for one in summarizer.summarize(mine, judging.options, on_progress=judging.on_progress)]
    )
    samples = {f"sample_{n}": f"{pairs[n].summary} → {found[n]}" for n in range(min(3, len(found)))}
    wanted = [[pair.summary] for pair in pairs]
    if not judging.thorough:
        return {**quick_rouge(found, wanted), **samples}
    scores = score_summaries(found, wanted)
    told = str(scores.pop("signature"))
    if held.near is not None and any(held.near) and not all(held.near):
        each, near = each_summary(found, wanted)[:, 2], np.array(held.near)
        scores |= {"near_copies": float(near.sum()), "rouge_l_near_copies": float(each[near].mean()),
                   "rouge_l_without": float(each[~near].mean())}  # fmt: skip
        told += f"; a near copy has at least {NEAR:.0%} of its runs of {RUN} words in one training text"
    if all(pair.others for pair in pairs):
        people = [each_summary([one], [[pair.summary]])[0, 2] for pair in pairs for one in pair.others]
        scores |= {"rouge_l_against_others": float(each_summary(found, [pair.others for pair in pairs])[:, 2].mean()),
                   "rouge_l_of_others": float(np.mean(people))}  # fmt: skip
        told += "; of several summaries by people the nearest counts"
    return {**scores, "signature": told, **samples}


def held_out(files: Sequence[Path], folder: ModelFolder) -> HeldSummaries:
    """The texts of some tables. Training tables that lie beside them tell which texts are nearly known."""
    told = folder.provenance
    said = told.get("columns")
    named = {key: str(said.get(key) or "") for key in ("text", "summary", "others")} if isinstance(said, dict) else {}
    pairs = [pair for path in files for pair in read_summaries(path, columns_of(path, **named)) if pair.text]
    names = told.get("train")
    beside = {
        path.parent / Path(str(name)).name for path in files for name in (names if isinstance(names, list) else ())
    }
    known = [one for one in sorted(beside) if one.is_file() and one not in files]
    if not known:
        return HeldSummaries(pairs)
    seen = (pair.text for path in known for pair in read_summaries(path, columns_of(path, **named)))
    return HeldSummaries(pairs, near_copies([pair.text for pair in pairs], seen))


def facts(recipe: Any) -> dict[str, Any]:
    """What a folder remembers of its recipe."""
    data = recipe.data
    return {
        "data": data.corpus or ", ".join(Path(name).name for name in several(data.train)),
        "train": [Path(name).name for name in several(data.train)],
        "columns": {key: value for key in ("text", "summary", "others") if (value := getattr(data, key))},
        "max_length": data.max_length,
        "decoding": {name: getattr(recipe.use, name) for name in KEPT},
    }


TASK = Task(
    name="summarization",
    verb=VERBS["summarize"],
    use=Summarizer,
    together=summarizer_of,
    training=Training(
        data=SummaryData,
        objective=NextTokenObjective,
        prepare=prepare,
        sizes=sizes_of,
        collate=collate,
        loss=loss,
        score=score,
        held_out=held_out,
        test_files=lambda data: (data.test,),
        best="rouge_l",
        facts=facts,
        lessons=add_lessons,
    ),
    automatic=summary_tables.AUTOMATIC,
)
