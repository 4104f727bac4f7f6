"""Claim (an empty heading of the notes: embeddings and softmax): a learned table puts tokens of like meaning together.

Expected, the one table that the shipped translator uses for English, German and the output: a word's translation is
nearer to it than another word's, although nobody said which belong together; and after training, two random vectors
are no longer at right angles on average, since all of them share a direction.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from clearformer.lab.bilingual import Bilingual
from clearformer.lab.drawing import draw_bars
from clearformer.lab.experiment import ONCE, Experiment, Findings, Measured, MeasuredTable, Measurement, Trial
from clearformer.lab.shipped import read_shipped
from clearformer.lab.verdicts import Check, number
from clearformer.model.trace import trace

PAIRS = (
    ("dog", "Hund"), ("man", "Mann"), ("woman", "Frau"), ("house", "Haus"), ("water", "Wasser"), ("red", "rot"),
    ("I", "Ich"), ("is", "ist"), ("and", "und"), ("not", "nicht"), ("good", "gut"), ("two", "zwei"),
    ("children", "Kinder"), ("book", "Buch"), ("time", "Zeit"), ("street", "Straße"),
)  # fmt: skip
SENTENCES = (
    "Two dogs play in the snow.", "Where is the train station?", "I would like a cup of coffee, please.",
    "A man in a red shirt rides a bicycle.", "She reads a book in the garden.", "The children do not want to go home.",
    "It is very cold today.", "My brother works in a hospital.",
)  # fmt: skip


@torch.no_grad()
def measure(trial: Trial) -> Measured:
    """Cosines of translations and of random pairs; which words feed-forward units react to."""
    opened = read_shipped("a")
    table: Tensor = opened.network.encoder.front.embed.weight
    units = torch.nn.functional.normalize(table, dim=-1)
    ids = [row for row in (_ids(opened.tokenizer, pair) for pair in PAIRS) if row is not None]
    pairs = [(PAIRS[place], row) for place, row in enumerate([_ids(opened.tokenizer, pair) for pair in PAIRS]) if row]
    right = torch.stack([units[one] @ units[other] for one, other in ids])
    crossed = torch.stack([units[one] @ units[ids[(row + 1) % len(ids)][1]] for row, (one, _) in enumerate(ids)])
    order = torch.randperm(len(units))
    drawn = (units * units[order]).sum(-1)
    return {
        "words": [" – ".join(pair) for pair, _ in pairs],
        "right": right.tolist(),
        "crossed": crossed.tolist(),
        "random": drawn.mean().item(),
        "neighbours": {pair[0]: _neighbours(opened.tokenizer, units, row[0]) for pair, row in pairs[:6]},
        **_units(opened),
    }


def _ids(tokenizer: Any, pair: Sequence[str]) -> list[int] | None:
    """Where both are one piece."""
    rows = tokenizer.ids(list(pair), add_special=False)
    return [row[0] for row in rows] if all(len(row) == 1 for row in rows) else None


def _neighbours(tokenizer: Any, units: Tensor, word: int) -> str:
    near = (units @ units[word]).topk(6).indices.tolist()[1:]
    return ", ".join(tokenizer.decode([one]).strip() or "·" for one in near)


def _units(opened: Any) -> Measured:
    """How often a unit of the encoder's feed-forward parts is above zero, and which tokens move some of them most."""
    hidden, pieces = [], []
    for sentence in SENTENCES:
        read = read_shipped(sentence)
        with trace(opened.network, only=["encoder*ffn.hidden"]) as seen:
            opened.network.encoder(read.tokens)
        hidden.append(torch.cat([seen[name][0, :-2] for name in seen], dim=-1))  # T, units of all layers
        pieces += read.pieces[:-2]  # the full stop and the end move a unit each, in every sentence
    active = torch.cat(hidden)
    pointed = active.amax(0) / (active.mean(0) + active.mean())  # strong for few tokens
    strongest = pointed.topk(8).indices.tolist()
    told = []
    for unit in strongest:
        places = active[:, unit].topk(3).indices.tolist()
        told.append(", ".join(pieces[place] for place in places))
    return {"active": (active > 0).float().mean().item(), "units": told}


def conclude(found: Sequence[Measurement]) -> Findings:
    """Translations against crossed pairs."""
    [one] = found
    values = one.values
    wins = sum(mine > other for mine, other in zip(values["right"], values["crossed"], strict=True))
    table = MeasuredTable(
        title=Bilingual("Nearest neighbours in the one table", "同一个表里的最近邻"),
        columns=(Bilingual("word", "词"), Bilingual("nearest", "最近的")),
        rows=list(values["neighbours"].items()),
    )
    bars = [
        (Bilingual("translations", "互译的词"), sum(values["right"]) / len(values["right"])),
        (Bilingual("crossed pairs", "错配的词"), sum(values["crossed"]) / len(values["crossed"])),
        (Bilingual("random tokens", "随机词元"), values["random"]),
    ]
    rows = [
        (word, number(mine), number(other))
        for word, mine, other in zip(values["words"], values["right"], values["crossed"], strict=True)
    ]
    cosines = MeasuredTable(
        title=Bilingual(
            "Cosine of a word and its translation, and of a word and the next one's",
            "词与其译词的余弦，以及与下一个译词的余弦",
        ),
        columns=(Bilingual("words", "词"), Bilingual("translation", "译词"), Bilingual("crossed", "错配")),
        rows=rows,
    )
    return Findings(
        claims=[
            Check(
                says=Bilingual(
                    "share of words nearer to their translation than to another", "与自己的译词更近的词所占比例"
                ),
                values=[wins / len(values["right"])],
                low=0.8,
            )
        ],
        conditions=[
            Check(
                says=Bilingual("share of a feed-forward unit's time above zero", "前馈单元大于零的时间占比"),
                values=[values["active"]],
                high=0.5,
            )
        ],
        tables=[table, cosines, _units_table(values)],
        figures=[draw_bars("cosines", Bilingual("Mean cosine in the learned table", "学到的表里的平均余弦"), bars)],
    )


def _units_table(values: Measured) -> MeasuredTable:
    return MeasuredTable(
        title=Bilingual("Tokens that move the choosiest feed-forward units most", "最挑剔的前馈单元对哪些词元反应最大"),
        columns=(Bilingual("unit", "单元"), Bilingual("tokens", "词元")),
        rows=[(str(place + 1), said) for place, said in enumerate(values["units"])],
    )


EXPERIMENT = Experiment(
    name="learned-table",
    number="–",
    question=Bilingual(
        "What does the shared table learn, and what do feed-forward units react to?",
        "共用的词表学到了什么？前馈单元对什么有反应？",
    ),
    claim=Bilingual(
        "(empty headings: embeddings and softmax, feed-forward networks) tokens of like meaning come to lie together",
        "（笔记中 Embeddings and softmax、Feed-forward Networks 标题下为空）意思相近的词元会靠在一起",
    ),
    expected=Bilingual(
        "four of five words are nearer to their translation than to another word's; units are silent most of the time",
        "五分之四以上的词离自己的译词比离别的译词近；单元多数时候不响应",
    ),
    answer=Bilingual(
        "One table serves three purposes: what the encoder reads, what the decoder reads, and the directions that "
        "score the "
        "next token. Words that stand in like contexts get like vectors, and so does a word and its translation, "
        "although "
        "nobody lists which belong together. A feed-forward unit with ReLU is silent for most tokens; those that "
        "respond "
        "strongly often do so for one word, or one kind of place.",
        "一个表身兼三职：编码器读入的、解码器读入的，以及给下一个词元打分的方向。出现在相似上下文里的词得到相似的向量，"
        "词与它的译词也是如此，尽管没人告诉它哪些是一对。带 ReLU 的前馈单元对多数词元不响应；响应强的，往往只针对某个"
        "词，"
        "或者某一类位置。",
    ),
    code=("src/clearformer/model/frontends.py", "src/clearformer/model/layers.py"),
    measure=measure,
    conclude=conclude,
    seeds=ONCE,
    minutes=0.1,
)
