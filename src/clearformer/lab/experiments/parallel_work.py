"""Claim (question 17): training runs in parallel over places; inference cannot, it has to go step by step.

Expected: a text of known tokens is read all at once several times faster than token by token, with the same numbers
(to 1e-4); an LSTM needs as many steps as tokens, a Transformer as many as layers. But "cannot" is too strong: 16
sentences written together take far less than 16 times as long as one.
"""

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor

from clearformer.lab.bilingual import Bilingual
from clearformer.lab.drawing import Curves, draw_curves
from clearformer.lab.experiment import (
    Experiment,
    Findings,
    Measured,
    MeasuredFigure,
    MeasuredTable,
    Measurement,
    Trial,
    column,
    mean_lists,
)
from clearformer.lab.verdicts import Check, spread
from clearformer.model.build import build
from clearformer.model.config import AttentionConfig, ModelConfig
from clearformer.model.families import convolution, gpt2, lstm, transformer

DIM, LAYERS, VOCABULARY, TOGETHER = 64, 2, 100, 16
LENGTHS = (32, 64, 128, 256)
FAMILIES: tuple[tuple[str, Callable[..., ModelConfig], dict[str, Any]], ...] = (
    ("transformer", transformer, {"heads": 4}),
    ("lstm", lstm, {"attention": AttentionConfig(heads=1, cross=False)}),
    ("convolution", convolution, {}),
)


@torch.no_grad()
def measure(trial: Trial) -> Measured:
    """Reading at once and step by step; writing one and many; three networks by length."""
    repeats = 2 if trial.quick else 7
    sizes = {"vocab_size": VOCABULARY, "dim": DIM, "hidden_dim": 4 * DIM, "layers": LAYERS, "max_len": 512}
    model: Any = build(gpt2(**sizes, heads=4)).eval()
    tokens = torch.randint(VOCABULARY, (1, 128))
    many = torch.randint(VOCABULARY, (TOGETHER, 128))
    at_once, apart = _seconds(lambda: model(tokens), repeats), _seconds(lambda: _by_steps(model, tokens), repeats)
    together = _seconds(lambda: _by_steps(model, many), repeats)
    return {
        "same": (model(tokens) - _by_steps(model, tokens)).abs().max().item(),
        "reading": apart / at_once,
        "writing": TOGETHER * apart / together,
        **_by_length(repeats),
    }


def _by_steps(model: Any, tokens: Tensor) -> Tensor:
    """Token by token with a cache, as in writing."""
    cache = model.start_cache()
    return torch.cat([model(tokens[:, place : place + 1], cache=cache) for place in range(tokens.size(1))], dim=1)


def _by_length(repeats: int) -> dict[str, list[float]]:
    """Milliseconds to learn from one pair of texts, and to write one, by their length: three translators."""
    taken: dict[str, list[float]] = {}
    for name, family, more in FAMILIES:
        sizes = {"vocab_size": VOCABULARY, "dim": DIM, "hidden_dim": 4 * DIM, "layers": LAYERS, "max_len": 512}
        model: Any = build(family(**sizes, **more)).eval()
        texts = [torch.randint(VOCABULARY, (1, length)) for length in LENGTHS]
        with torch.enable_grad():
            taken[f"{name}_training"] = [1000 * _seconds(partial(_learn, model, one), repeats) for one in texts]
        taken[f"{name}_writing"] = [1000 * _seconds(partial(_write, model, one), min(repeats, 3)) for one in texts]
    return taken


def _learn(model: Any, text: Tensor) -> None:
    """Forwards and back; every token is known."""
    model(text, text).logsumexp(-1).sum().backward()


def _write(model: Any, text: Tensor) -> None:
    """Read the source, then as many steps as it has tokens."""
    memory, cache = model.encode(text), model.start_cache()
    for place in range(text.size(1)):
        model.decode(text[:, place : place + 1], memory, cache=cache)


def _seconds(work: Callable[[], object], repeats: int) -> float:
    """The fastest of several runs: others were disturbed."""
    work()
    taken = []
    for _ in range(repeats):
        started = time.perf_counter()
        work()
        taken.append(time.perf_counter() - started)
    return min(taken)


NETWORKS = (
    ("transformer", Bilingual("Transformer", "Transformer")),
    ("lstm", Bilingual("LSTM", "LSTM")),
    ("convolution", Bilingual("convolution", "卷积")),
)

STEPS = MeasuredTable(
    title=Bilingual("Steps that have to wait for one another, n tokens", "必须依次等待的步数，n 个词元"),
    columns=(Bilingual("network", "网络"), Bilingual("training", "训练"), Bilingual("writing", "生成")),
    rows=[
        (Bilingual("Transformer of L layers", "L 层 Transformer"), "L", "n · L"),
        (Bilingual("LSTM of L layers", "L 层 LSTM"), "n + L − 1", "n · L"),
        (Bilingual("convolutions, L layers", "L 层卷积"), "L", "n · L"),
    ],
)


def conclude(found: Sequence[Measurement]) -> Findings:
    """Parallel in training; in use along the batch."""
    table = MeasuredTable(
        title=Bilingual("Measured on one thread", "单线程实测"),
        columns=("", Bilingual("number", "数值")),
        rows=[
            (
                Bilingual("128 known tokens: step by step ÷ at once (time)", "128 个已知词元：逐个 ÷ 一次（时间）"),
                spread(column(found, "reading")),
            ),
            (Bilingual("largest difference of the results", "结果的最大差异"), spread(column(found, "same"))),
            (
                Bilingual(
                    "16 texts written: one after the other ÷ together (time)", "生成 16 段文本：逐段 ÷ 一起（时间）"
                ),
                spread(column(found, "writing")),
            ),
        ],
    )
    figure = _figure(found)
    return Findings(
        claims=[
            Check(
                says=Bilingual("at once and step by step give the same: difference", "一次算完与逐步计算的差异"),
                values=column(found, "same"),
                high=1e-4,
            ),
            Check(
                says=Bilingual("known tokens step by step take longer: ratio", "已知词元逐个处理更慢：时间比"),
                values=column(found, "reading"),
                low=2.0,
            ),
        ],
        conditions=[
            Check(
                says=Bilingual("writing 16 texts together is faster: ratio", "16 段文本一起生成更快：时间比"),
                values=column(found, "writing"),
                low=1.5,
            )
        ],
        tables=[STEPS, table],
        figures=[figure],
    )


def _figure(found: Sequence[Measurement]) -> MeasuredFigure:
    def curves(what: str, title: Bilingual) -> Curves:
        return Curves(
            title=title,
            x_label=Bilingual("tokens", "词元数"),
            y_label=Bilingual("milliseconds", "毫秒"),
            lines=[
                (label, list(zip(LENGTHS, mean_lists(found, f"{name}_{what}"), strict=True)))
                for name, label in NETWORKS
            ],
            log_x=True,
            log_y=True,
        )

    return draw_curves(
        "length",
        Bilingual(
            "Learning from one pair of texts and writing one: two layers of width 64, one thread",
            "学一对文本、写一段文本：两层、宽 64、单线程",
        ),
        curves("training", Bilingual("training", "训练")),
        curves("writing", Bilingual("writing", "生成")),
    )


EXPERIMENT = Experiment(
    name="parallel-work",
    number="17",
    question=Bilingual("What is parallel, and is the decoder?", "并行化体现在什么地方？Decoder 可以做并行化吗？"),
    claim=Bilingual(
        "training is parallel; inference cannot be entirely, since each token depends on the one before",
        "训练阶段可并行；推理阶段不能完全并行，必须一步步生成",
    ),
    expected=Bilingual(
        "at once at least twice as fast; 16 texts together: clearly faster", "一次算完至少快一倍；16 段一起明显更快"
    ),
    answer=Bilingual(
        "In training all tokens are known, so every place of every layer is computed at once, and the causal mask "
        "keeps "
        "the result the same as step by step. An LSTM waits for the token before even then. In writing each token "
        "needs "
        "the one before it: n steps for one text. But batches, beams, the prompt, and drafts that are checked all "
        "at once "
        "(speculative decoding) run in parallel there, too.",
        "训练时所有词元都已知，每一层的所有位置可以同时算，因果掩码保证结果与逐步计算相同；LSTM 即便在训练时也得等前"
        "一个词元算完。生成时每个词元"
        "都要等前一个，一段文本就是 n 步。但批里的各句、束搜索的各个候选、提示部分，以及先起草再一次性核对的做法（投"
        "机解码），在生成时也都是并行的。",
    ),
    code=("src/clearformer/model/cache.py", "src/clearformer/model/baselines/recurrent.py"),
    measure=measure,
    conclude=conclude,
    timed=True,
)
