"""Claim (an empty heading of the notes: feed-forward networks): a unit of the feed-forward part stands for one pattern.

Expected, the encoder of the translator that ships, on sentences of the corpus that ships: the ten places that move a
unit most hold far fewer different tokens than ten places drawn at random, so units are choosy (Geva et al., 2021). But
few of them react to one token alone: most patterns are a group of words, or a kind of place.
"""

import gzip
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from clearformer.data.catalogue.fetch import get
from clearformer.lab.bilingual import Bilingual
from clearformer.lab.drawing import draw_bars
from clearformer.lab.experiment import ONCE, Experiment, Findings, Measured, MeasuredTable, Measurement, Trial
from clearformer.lab.shipped import read_shipped
from clearformer.lab.verdicts import Check, number
from clearformer.model.trace import trace

STRONGEST, SHOWN = 10, 8
TOLD = 2  # of each layer


@torch.no_grad()
def measure(trial: Trial) -> Measured:
    """Every unit of every encoder layer, at every token of some hundred sentences."""
    with gzip.open(get("sample") / "dev.en.gz", "rt", encoding="utf-8") as file:
        lines = file.read().splitlines()[: 200 if trial.quick else 400]
    opened = read_shipped("a")
    pieces, hidden = _activations(opened, lines)
    drawn = torch.randint(len(pieces), (STRONGEST, 2000))
    values: Measured = {"random": _different(pieces, drawn).mean().item(), "places": len(pieces), "layers": []}
    for active in hidden:
        top = active.topk(STRONGEST, dim=0).indices
        different = _different(pieces, top)
        values["layers"].append(
            {
                "different": different.mean().item(),
                "alone": (different == 1).float().mean().item(),
                "above": (active > 0).float().mean().item(),
                "units": [_told(pieces, top[:, unit]) for unit in _examples(different)],
            }
        )
    return values


def _activations(opened: Any, lines: Sequence[str]) -> tuple[list[str], list[Tensor]]:
    """The pieces of all sentences, one behind the other, and for each layer what every unit gives: places × units."""
    pieces: list[str] = []
    layers: dict[str, list[Tensor]] = {}
    for ids in opened.tokenizer.ids(list(lines), add_special=False):
        with trace(opened.network, only=["encoder*ffn.hidden"]) as seen:
            opened.network.encoder(torch.tensor([[*ids, opened.tokenizer.eos_id]]))
        for name, value in seen.items():
            layers.setdefault(name, []).append(value[0, :-1])  # without the end of the sentence
        pieces += [opened.tokenizer.decode([one]).strip().lower() or "·" for one in ids]
    return pieces, [torch.cat(parts) for parts in layers.values()]


def _different(pieces: Sequence[str], places: Tensor) -> Tensor:
    """How many different pieces stand at some places. places: count × units; returns one number per unit."""
    numbers = {piece: number for number, piece in enumerate(dict.fromkeys(pieces))}
    found = torch.tensor([numbers[piece] for piece in pieces])[places].sort(dim=0).values
    return (found.diff(dim=0) != 0).sum(0).float() + 1


def _examples(different: Tensor) -> list[int]:
    """Units that are neither the choosiest nor the least choosy."""
    order = different.argsort(stable=True).tolist()
    return [order[len(order) * (2 * place + 1) // (4 * TOLD)] for place in range(TOLD)]


def _told(pieces: Sequence[str], places: Tensor) -> str:
    return ", ".join(list(dict.fromkeys(pieces[place] for place in places.tolist()))[:SHOWN])


def conclude(found: Sequence[Measurement]) -> Findings:
    """Choosier than chance, and how seldom one word is all."""
    [one] = found
    layers, chance = one.values["layers"], one.values["random"]
    mean = sum(layer["different"] for layer in layers) / len(layers)
    alone = sum(layer["alone"] for layer in layers) / len(layers)
    titles = _titles(layers)
    bars = [(title, layer["different"]) for title, layer in zip(titles, layers, strict=True)]
    return Findings(
        claims=[
            Check(
                says=Bilingual(
                    "different tokens among a unit's ten strongest places, ÷ among ten drawn ones",
                    "单元反应最强的十处有多少个不同词元，÷ 随机十处",
                ),
                values=[mean / chance],
                high=0.8,
            )
        ],
        conditions=[
            Check(
                says=Bilingual("share of units that react to one token alone", "只对一个词元起反应的单元占比"),
                values=[alone],
                high=0.5,
            )
        ],
        tables=_tables(layers),
        figures=[
            draw_bars(
                "different",
                Bilingual(
                    "Different tokens among the ten places that move a unit most",
                    "让一个单元反应最强的十处，有多少个不同词元",
                ),
                [*bars, (Bilingual("drawn at random", "随机抽取"), chance)],
            )
        ],
    )


def _titles(layers: Sequence[Measured]) -> list[Bilingual]:
    return [Bilingual(f"layer {place + 1}", f"第 {place + 1} 层") for place in range(len(layers))]


def _tables(layers: Sequence[Measured]) -> list[MeasuredTable]:
    titles = _titles(layers)
    kinds = MeasuredTable(
        title=Bilingual(f"{STRONGEST} strongest places of each unit", f"每个单元反应最强的 {STRONGEST} 处"),
        columns=(
            Bilingual("layer", "层"),
            Bilingual("different tokens", "不同词元数"),
            Bilingual("units with one token alone", "只对一个词元反应的单元"),
            Bilingual("share of places above zero", "大于零的位置占比"),
        ),
        rows=[
            (title, *(number(layer[key]) for key in ("different", "alone", "above")))
            for title, layer in zip(titles, layers, strict=True)
        ],
    )
    examples = MeasuredTable(
        title=Bilingual("Two units of each layer: what moves them most", "每层两个单元：对什么反应最强"),
        columns=(Bilingual("unit", "单元"), Bilingual("tokens", "词元")),
        rows=[
            (Bilingual(f"{title.en}, unit {place + 1}", f"{title.zh}，单元 {place + 1}"), said)
            for title, layer in zip(titles, layers, strict=True)
            for place, said in enumerate(layer["units"])
        ],
    )
    return [kinds, examples]


EXPERIMENT = Experiment(
    name="single-units",
    number="–",
    question=Bilingual("What do single feed-forward units react to?", "前馈网络的单个单元对什么起反应？"),
    claim=Bilingual(
        "(an empty heading: feed-forward networks) every unit of the inner layer stands for a pattern",
        "（笔记中 Feed-forward Networks 标题下为空）中间层的每个单元对应一种模式",
    ),
    expected=Bilingual(
        "clearly fewer different tokens than at random places; one token alone for less than half of the units",
        "不同词元明显少于随机位置；只对一个词元起反应的单元不到一半",
    ),
    answer=Bilingual(
        "A unit multiplies the token's vector with a pattern of its own and is silent below zero, so it can be asked "
        "what moves it most. The answer is seldom chance and seldom one word: some units have a word, more have a "
        "group of words that are used alike, and in the upper layers a kind of place. That a unit means one thing is "
        "a hope, not a rule: what a model knows is spread over many units, and each takes part in much.",
        "一个单元把词元的向量与自己的模式相乘，小于零就不作声，所以可以问它：什么最能打动你？答案很少是碰巧，也很少是某"
        "一个词：有的单元认一个词，更多的认一组用法相近的词，越往上层越认某类位置。“一个单元只表示一件事”是愿望，不是规"
        "律：模型知道的东西分散在许多单元里，每个单元也都参与许多事情。",
    ),
    code=("src/clearformer/model/layers.py", "src/clearformer/model/trace.py"),
    measure=measure,
    conclude=conclude,
    seeds=ONCE,
    minutes=0.5,
)
