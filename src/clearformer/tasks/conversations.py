"""Conversation: turns in, a model that answers as they do out. It begins with a model that converses already, and only
the answers are learned, not what was asked.
"""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from clearformer.data.chat_text import ChatText, template_of
from clearformer.data.class_split import hold_out_by_class
from clearformer.data.collate import AnswerBatch, collate_answers
from clearformer.data.file_facts import scan
from clearformer.data.readers.turns import Dialogue, Message, read_turns
from clearformer.data.shards import Column, ShardWriter, shards_for, token_type_for
from clearformer.evaluation.likelihood import Likelihood, summarise
from clearformer.folder.description import ModelFolder
from clearformer.folder.preprocessing import Preprocessing
from clearformer.inference.conversation import Chatter
from clearformer.tasks.automatic import turn_files
from clearformer.tasks.data_files import DataFiles, check_files, file_names, folder_of, several
from clearformer.tasks.task import Judging, Prepared, Scores, Scoring, Seed, Task, Training, Workspace
from clearformer.tasks.verbs import VERBS
from clearformer.training.loss import Loss
from clearformer.training.projected_loss import projected_cross_entropy

log = logging.getLogger(__name__)
Example = tuple[NDArray[Any], ...]  # ids, and which of them are of an answer
SAMPLE_TOKENS = 60


@dataclass(frozen=True, kw_only=True)
class TurnsData(DataFiles):
    """JSON lines, each a conversation: `messages` with role and content, or ShareGPT's `conversations`."""

    train: str | tuple[str, ...] = file_names("one or more files of conversations")  # JSON lines to learn from
    dev: str = file_names()  # conversations to choose the best checkpoint by; empty: some of train
    test: str = file_names()  # conversations for the end
    hold_out: float = 0.1  # share of the conversations, where there is no dev
    max_length: int = 1024  # tokens; the last turns of a longer conversation are left off

    def __post_init__(self) -> None:
        if not 0 < self.hold_out < 1:
            raise ValueError(f"data.hold_out is a share of the conversations, above 0 and below 1, not {self.hold_out}")
        if self.max_length < 16:
            raise ValueError(f"data.max_length is {self.max_length}; a turn needs at least 16 tokens")


@dataclass(frozen=True, kw_only=True)
class AnswerObjective:
    """Cross-entropy of the next token, over answers alone."""

    smoothing: float = 0.0  # label smoothing: the share of the probability that is spread over all tokens


def check(data: TurnsData, workspace: Workspace) -> None:
    """The files are there, and so is a model that converses."""
    check_files(data, workspace.base)
    chat_text(workspace)


def chat_text(workspace: Workspace) -> ChatText:
    """How the model that training begins with is told of a conversation."""
    start = workspace.start
    if start is None:
        raise ValueError("conversations are learned by a model that converses already; say model.from, as in smollm2")
    template = template_of(start.preprocessing.chat_template, start.provenance)
    if template is None:
        raise ValueError(f"{start.path} has no chat template, so it does not converse; begin with a model that has one")
    return ChatText(start.preprocessing.sides[0], template)


def prepare(data: TurnsData, workspace: Workspace) -> Prepared[Example]:
    """Read the conversations, hold some out, and keep the tokens with what is to be learned of them."""
    assert workspace.start is not None
    text, folder = chat_text(workspace), folder_of(data, workspace.base)
    paths = [folder / name for name in several(data.train)]
    train = [one for path in paths for one in read_turns(path)]
    dev = list(read_turns(folder / data.dev)) if data.dev else []
    if not dev:
        train, dev = held_apart(train, data.hold_out)
    looked_at = examples(text, dev, data.max_length)
    if not train or not looked_at:
        raise ValueError(
            f"{paths[0]}: there are too few answers that fit to learn from and to hold some out; give more"
        )
    made_from = {
        "files": [vars(scan(path)) for path in (*paths, *([folder / data.dev] if data.dev else []))],
        "tokenizer": text.tokenizer.fingerprint(),
        "chat_template": text.template.source,
        "hold_out": data.hold_out,
        "max_length": data.max_length,
    }

    def fill(writer: ShardWriter) -> dict[str, Any]:
        rows = examples(text, train, data.max_length)
        if not rows:
            raise ValueError(f"{paths[0]}: no conversation has an answer that fits into {data.max_length} tokens")
        lengths = np.array([len(ids) for ids, _ in rows])
        tokens, learned = (np.concatenate(column) for column in zip(*rows, strict=True))
        writer.add(tokens=Column(tokens, lengths), learned=Column(learned, lengths))
        return {"kept": len(rows)}

    columns = {"tokens": token_type_for(text.tokenizer.vocab_size), "learned": "|u1"}
    made = workspace.folder / "shards"
    shards = shards_for(made, columns=columns, made_from=made_from, fill=fill, same=workspace.resume)
    return Prepared(
        train=shards,
        lengths=[shards.lengths("tokens") - 1],
        dev=looked_at,
        held=dev,
        preprocessing=replace(workspace.start.preprocessing, chat_template=text.template.source),
    )


def held_apart(rows: Sequence[Dialogue], share: float) -> tuple[list[Dialogue], list[Dialogue]]:
    """Most conversations, and a share of them; the same conversation is never in both."""
    keys = [tuple((one.role, one.content) for one in row.messages) for row in rows]
    held = hold_out_by_class(keys, [""] * len(rows), share=share)
    return (
        [row for row, out in zip(rows, held, strict=True) if not out],
        [row for row, out in zip(rows, held, strict=True) if out],
    )


def examples(text: ChatText, rows: Sequence[Dialogue], max_length: int) -> list[Example]:
    """Each conversation as far as whole turns of it fit; how many were shortened or left out is said."""
    found: list[Example] = []
    shortened = 0
    for row in rows:
        try:
            turns = _answered(row.messages)
            example = text.learned(turns) if turns else None
            while example is not None and len(example[0]) > max_length:
                turns = _answered(turns[:-1])
                example = text.learned(turns) if turns else None
        except ValueError as error:
            raise ValueError(f"{row.place} {error}") from None
        shortened += example is not None and len(turns) < len(_answered(row.messages))
        if example is not None and example[1].any():
            found.append(example)
    if shortened or len(found) < len(rows):
        left_out = len(rows) - len(found)
        log.info(
            "%d conversations are learned from as far as they fit into %d tokens; %d have no answer that fits",
            shortened, max_length, left_out,
        )  # fmt: skip
    return found


def _answered(messages: Sequence[Message]) -> Sequence[Message]:
    """Up to the last answer."""
    last = max((place for place, one in enumerate(messages) if one.role == "assistant"), default=-1)
    return messages[: last + 1]


def sizes(preprocessing: Preprocessing) -> dict[str, Any]:
    """Nothing: the model that it begins with has its sizes."""
    return {}


def collate(data: TurnsData, preprocessing: Preprocessing) -> Callable[[Sequence[Example], Seed], AnswerBatch]:
    """Conversations side by side; nothing is drawn."""
    pad = preprocessing.sides[0].special_ids.get("pad", 0)
    return lambda rows, seed: collate_answers(rows, pad=pad)


def loss(model: nn.Module, batch: AnswerBatch, objective: AnswerObjective) -> Loss:
    """Cross-entropy of the answers' tokens. Right padding needs no mask: no token looks ahead."""
    states = model.decoder(batch.inputs)[batch.learned]  # type: ignore[operator]
    features, table, bias = model.head.projection(states)  # type: ignore[union-attr, operator]
    return projected_cross_entropy(features, table, bias, batch.targets[batch.learned], smoothing=objective.smoothing)


def score(chatter: Chatter, held: Sequence[Dialogue], judging: Judging) -> Scores:
    """An answer to look at; thoroughly, how likely the held-out answers are."""
    if not judging.thorough:
        asked = min((row.messages for row in held), key=lambda said: sum(len(one.content) for one in said))
        system = asked[0].content if asked[0].role == "system" else None
        said = next(one.content for one in asked if one.role == "user")
        return {"sample_0": chatter.chat(said, judging.options, system=system, max_new=SAMPLE_TOKENS)}
    rows = examples(chatter.text, held, chatter.context)
    blocks = []
    for done, (ids, learned) in enumerate(rows, start=1):
        blocks.append(_nats(chatter, ids, learned))
        judging.on_progress(done, len(rows))
    answers = "".join(chatter.tokenizer.decode(ids[learned]) for ids, learned in rows)
    context = chatter.context
    found = summarise(Likelihood(blocks=blocks, context=context, stride=context), text=answers)
    return {**found, "signature": "answers only, per token, each after the whole conversation before it"}


@torch.inference_mode()
def _nats(chatter: Chatter, ids: NDArray[Any], learned: NDArray[Any]) -> list[float]:
    """Of each token of the answers."""
    row = torch.tensor(ids.astype(np.int64)[None], device=chatter.stepper.device)
    wanted = torch.from_numpy(learned[1:].astype(bool))
    states = chatter.model.decoder(row[:, :-1])[:, wanted]  # type: ignore[operator]
    scores = chatter.model.head(states, None).log_softmax(-1)  # type: ignore[operator]
    nats: list[float] = (-scores[0].gather(-1, row[0, 1:][wanted][:, None])[:, 0]).tolist()
    return nats


def held_out(files: Sequence[Path], folder: ModelFolder) -> list[Dialogue]:
    """The conversations of some files."""
    return [one for path in files for one in read_turns(path)]


def facts(recipe: Any) -> dict[str, Any]:
    """What a folder remembers of its recipe."""
    return {"data": recipe.data.corpus or ", ".join(Path(name).name for name in several(recipe.data.train))}


TASK = Task(
    name="conversation",
    verb=VERBS["chat"],
    use=Chatter,
    training=Training(
        data=TurnsData,
        objective=AnswerObjective,
        scoring=Scoring,
        check=check,
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
    automatic=turn_files.AUTOMATIC,
)
