"""Claim (question 19): at test time dropout switches itself off, there is nothing to take care of.

Expected: only `eval()` does it. Without it the translator that ships gives another answer each time, also under
`no_grad`, and finds its own translations less likely.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from clearformer.lab.bilingual import Bilingual
from clearformer.lab.drawing import draw_bars
from clearformer.lab.experiment import Experiment, Findings, Measured, MeasuredTable, Measurement, Trial, column
from clearformer.lab.shipped import read_shipped
from clearformer.lab.verdicts import Check, spread
from clearformer.model.build import build
from clearformer.model.config import DropoutConfig
from clearformer.model.families import transformer

SENTENCES = (
    "Two dogs are playing with a ball in the deep snow.",
    "The train to Berlin leaves in ten minutes.",
    "I have never seen such a small house.",
    "She asked whether the shop was still open.",
)
SITES = ("embedding", "attention", "activation", "residual")


@torch.no_grad()
def measure(trial: Trial) -> Measured:
    """Two passes over the same sentences in each mode; then a fresh model with dropout at one site at a time."""
    apart, likely = [], []
    for sentence in SENTENCES[: 2 if trial.quick else 4]:
        read = read_shipped(sentence)
        written = _written(read.network, read.tokens)
        used = _likelihood(read.network, read.tokens, written)
        read.network.train()
        first, second = (_likelihood(read.network, read.tokens, written) for _ in range(2))
        apart.append((first - second).abs().max().item())
        likely.append((first.mean() - used.mean()).item())
    return {
        "apart": max(apart),
        "lost": -sum(likely) / len(likely),
        **{f"site_{site}": _noise(site) for site in SITES},
    }


def _written(network: Any, source: Tensor) -> Tensor:
    """What the model itself would write, word by word."""
    memory, target = network.encode(source), torch.tensor([[1]])
    for _ in range(20):
        target = torch.cat((target, network.decode(target, memory)[:, -1:].argmax(-1)), dim=1)
    return target


def _likelihood(network: Any, source: Tensor, target: Tensor) -> Tensor:
    """The log-probability of each written token."""
    chosen = network(source, target[:, :-1]).log_softmax(-1)
    likely: Tensor = chosen.gather(-1, target[:, 1:, None])[0, :, 0]
    return likely


def _noise(site: str) -> float:
    """How much the logits of a fresh model move when 0.1 is dropped at one site, in shares of their size."""
    rates = dict.fromkeys(SITES, 0.0) | {site: 0.1}
    torch.manual_seed(0)
    sizes = {"vocab_size": 100, "dim": 64, "hidden_dim": 128, "layers": 3}
    model = build(transformer(**sizes, dropout=DropoutConfig(**rates)))
    tokens = torch.randint(100, (8, 12))
    calm = model.eval()(tokens, tokens)
    noisy = model.train()(tokens, tokens)
    noise: float = ((noisy - calm).square().mean() / calm.square().mean()).sqrt().item()
    return noise


def conclude(found: Sequence[Measurement]) -> Findings:
    """Nothing to take care of would mean: the same answer twice."""
    names = {
        "embedding": Bilingual("embedding + position", "嵌入 + 位置"),
        "attention": Bilingual("attention weights", "注意力权重"),
        "activation": Bilingual("inside the feed-forward part", "前馈内部"),
        "residual": Bilingual("output of each part, before the sum", "各子层输出，相加之前"),
    }
    places = {site: column(found, f"site_{site}") for site in SITES}
    table = MeasuredTable(
        title=Bilingual("The shipped translator without eval()", "不调用 eval() 的翻译模型"),
        columns=("", Bilingual("number", "数值")),
        rows=[
            (Bilingual("two passes differ by (nats)", "两次计算之差（nat）"), spread(column(found, "apart"))),
            (
                Bilingual("likelihood lost per token (nats)", "每个词元损失的对数似然（nat）"),
                spread(column(found, "lost")),
            ),
        ],
    )
    sites = MeasuredTable(
        title=Bilingual(
            "Rate 0.1 at one site: noise in the logits, as a share", "只在一处以 0.1 丢弃：logits 的噪声占比"
        ),
        columns=(Bilingual("site", "位置"), Bilingual("noise", "噪声"), Bilingual("in the paper", "论文里有吗")),
        rows=[
            (
                names[site],
                spread(places[site]),
                Bilingual("yes", "有") if site in ("embedding", "residual") else Bilingual("in its code", "只在代码里"),
            )
            for site in SITES
        ],
    )
    figure = draw_bars(
        "sites",
        Bilingual("Noise in the logits when a tenth is dropped at one site", "只在一处丢弃十分之一时，logits 的噪声"),
        [(names[site], sum(places[site]) / len(places[site])) for site in SITES],
    )
    return Findings(
        claims=[
            Check(
                says=Bilingual("without eval(): two passes differ by", "不调用 eval()：两次计算之差"),
                values=column(found, "apart"),
                high=1e-6,
            )
        ],
        tables=[table, sites],
        figures=[figure],
    )


EXPERIMENT = Experiment(
    name="forgotten-dropout",
    number="19",
    question=Bilingual("Where is dropout, and what about test time?", "Dropout 的位置在哪里？测试时需要注意什么？"),
    claim=Bilingual("dropout switches itself off, nothing needs to be done", "Dropout 会自动关闭，无需显式处理"),
    expected=Bilingual("two passes differ by more than 0.01; likelihood is lost", "两次计算相差超过 0.01；似然下降"),
    answer=Bilingual(
        "Dropout is off only after `model.eval()`. `torch.no_grad()` stops gradients, not dropout: without `eval()` a "
        "model gives another answer each time, and a worse one. The paper drops on the output of every sub-layer "
        "before "
        "it is added, and on the sum of embedding and position; attention weights and the inside of the "
        "feed-forward part "
        "came with the authors' code.",
        "只有调用 `model.eval()` 之后 Dropout 才关闭。`torch.no_grad()` 关掉的是梯度，不是 Dropout：不调用 `eval()`，"
        "模型每次给出的结果都不同，而且更差。"
        "论文里的 Dropout 有两处：各子层输出在相加之前，以及嵌入与位置之和；注意力权重和前馈内部的 Dropout 出自作者"
        "的代码。",
    ),
    code=("src/clearformer/model/dropout.py", "src/clearformer/model/config.py"),
    measure=measure,
    conclude=conclude,
)
