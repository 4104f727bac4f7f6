"""Claim (questions 9 and 10): sinusoidal positions extrapolate well, learned ones cannot; rotary and ALiBi do.

Expected, language models trained alike on 64 tokens and read at 64, 128 and 256 (Press et al., 2022): ALiBi's loss
stays, sinusoidal positions' rises, and so does that of learned ones. So "extrapolates well" does not hold of waves.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import torch

from clearformer.lab.bilingual import Bilingual, Sayable
from clearformer.lab.comparison import WRITING, Variant, interval, names, train_variant
from clearformer.lab.drawing import Curves, draw_curves
from clearformer.lab.experiment import (
    Experiment,
    Findings,
    Measured,
    MeasuredFigure,
    MeasuredTable,
    Measurement,
    Seeds,
    Trial,
    column,
    mean_lists,
)
from clearformer.lab.trained_networks import TrainedNetwork
from clearformer.lab.verdicts import Check, spread
from clearformer.tasks.running_data import blocks

TRAINED, TIMES = 64, (1, 2, 4)
KINDS: dict[str, Sayable] = {
    "none": Bilingual("none (causal mask alone)", "无（只有因果掩码）"),
    "learned": Bilingual("learned", "可学习"),
    "sinusoidal": Bilingual("sinusoidal", "正弦"),
    "drowned": Bilingual("sinusoidal, embeddings not scaled", "正弦，嵌入不放大"),
    "rotary": Bilingual("rotary", "旋转（RoPE）"),
    "relative": Bilingual("relative (Transformer-XL)", "相对（Transformer-XL）"),
    "buckets": Bilingual("buckets (T5)", "分桶（T5）"),
    "alibi": "ALiBi",
}
# Waves have the size 0.7: beside them embeddings begin at size 1, as in the paper, or drown at 0.02.
CHANGES = {
    "sinusoidal": ("model.position.kind=sinusoidal", "model.embedding.scale=true", "model.init_std=0.125"),
    "drowned": ("model.position.kind=sinusoidal",),
}
VARIANTS = tuple(
    Variant(name=kind, label=label, changes=CHANGES.get(kind, (f"model.position.kind={kind}",)))
    for kind, label in KINDS.items()
)


def measure(trial: Trial) -> Measured:
    """Train on 64 tokens at a time, and read the held-out text in longer and longer stretches."""
    network = train_variant(trial, VARIANTS, WRITING)
    stream = _stream(network)[: 1200 if trial.quick else 12000]
    losses = [_loss_at(network, stream, TRAINED * times) for times in TIMES]
    return {"by_length": losses, **{f"at_{times}": loss for times, loss in zip(TIMES, losses, strict=True)}}


def _stream(network: TrainedNetwork) -> torch.Tensor:
    """The held-out text as one row: blocks overlap by one token."""
    parts = [torch.as_tensor(block.astype("int64")) for block in network.prepared.dev]
    return torch.cat([parts[0][:1], *(part[1:] for part in parts)])


@torch.inference_mode()
def _loss_at(network: TrainedNetwork, stream: torch.Tensor, length: int) -> float:
    """The mean loss of whole stretches of so many tokens."""
    training: Any = network.task.training
    collate = training.collate(network.recipe.data, network.bundle.preprocessing)
    rows = [row for row in blocks(stream.numpy(), length, 0) if len(row) == length + 1]
    total, count = 0.0, 0
    for start in range(0, len(rows), 16):
        found = training.loss(network.model, collate(rows[start : start + 16], ()), network.recipe.objective)
        total, count = total + float(found.total), count + found.count
    return total / count


def conclude(found: Sequence[Measurement]) -> Findings:
    """How much the loss rises from the trained length to four times as many tokens."""
    rises = {one.name: [v4 - v1 for v4, v1 in zip(*_ends(found, one.name), strict=True)] for one in VARIANTS}
    enough = len(rises["alibi"]) > 1
    beyond = [high - low for high, low in zip(rises["sinusoidal"], rises["alibi"], strict=True)]
    return Findings(
        claims=[
            Check(
                says=Bilingual("sinusoidal: loss at 4 × the length − at 1 ×", "正弦：4 倍长度的损失 − 1 倍"),
                values=interval(rises["sinusoidal"]),
                high=0.05,
                enough=enough,
            ),
            Check(
                says=Bilingual("ALiBi: the same", "ALiBi：同上"),
                values=interval(rises["alibi"]),
                high=0.05,
                enough=enough,
            ),
        ],
        conditions=[
            Check(
                says=Bilingual("rise, sinusoidal − ALiBi", "上升之差：正弦 − ALiBi"),
                values=interval(beyond),
                low=0.0,
                enough=enough,
            )
        ],
        tables=[_table(found, rises)],
        figures=[
            _curves(found),
        ],
    )


def _table(found: Sequence[Measurement], rises: Mapping[str, Sequence[float]]) -> MeasuredTable:
    return MeasuredTable(
        title=Bilingual("Loss per token by the length that is read", "每词元损失与读入长度"),
        columns=(
            Bilingual("positions", "位置方案"),
            *(Bilingual(f"{TRAINED * times} tokens", f"{TRAINED * times} 个词元") for times in TIMES),
            Bilingual("rise to 4×", "到 4 倍时的上升"),
        ),
        rows=[
            (
                one.label,
                *(spread(column(found, f"at_{times}", one.name)) for times in TIMES),
                spread(rises[one.name]),
            )
            for one in VARIANTS
        ],
    )


def _curves(found: Sequence[Measurement]) -> MeasuredFigure:
    """Without the drowned ones, which are far above all the others."""
    return draw_curves(
        "lengths",
        Bilingual("Loss by the length that is read; trained on 64", "损失与读入长度；训练长度 64"),
        Curves(
            x_label=Bilingual("tokens", "词元数"),
            y_label=Bilingual("loss", "损失"),
            lines=[
                (
                    one.label,
                    [
                        (float(TRAINED * times), loss)
                        for times, loss in zip(TIMES, mean_lists(found, "by_length", one.name), strict=True)
                    ],
                )
                for one in VARIANTS
                if one.name != "drowned"
            ],
            log_x=True,
        ),
    )


def _ends(found: Sequence[Measurement], case: str) -> tuple[list[float], list[float]]:
    return column(found, f"at_{TIMES[-1]}", case), column(found, f"at_{TIMES[0]}", case)


EXPERIMENT = Experiment(
    name="longer-than-trained",
    number="9, 10",
    question=Bilingual("Which positions work beyond the trained length?", "哪些位置编码能用在比训练更长的文本上？"),
    claim=Bilingual(
        "sinusoidal positions can be carried over to long sequences and extrapolate well; so does ALiBi",
        "正弦：可推广到长序列，通用性强，外推性好；ALiBi：长序列外推性强",
    ),
    expected=Bilingual(
        "ALiBi stays; sinusoidal rises, and so does learned (rows that were never trained)",
        "ALiBi 不变；正弦上升，可学习的也上升（有些行从未训练过）",
    ),
    answer=Bilingual(
        "Waves can be computed for any position, but a network that has seen 64 of them has never learned what the "
        "vector "
        "of position 200 means, and the loss rises beyond the trained length. ALiBi says nothing but how far away a "
        "token "
        "is, and less the farther: longer texts bring nothing new. This is the ordering of Press et al. (2022). "
        "Learned "
        "rows that were never updated stay as small as they began, so they do little harm here, and no good.",
        "正弦可以算到任意位置，但只见过 64 个位置的网络从没学过第 200 个位置的向量是什么意思，所以超出训练长度后损失"
        "上升。"
        "ALiBi 只说一个词元有多远，越远权重越小，更长的文本不带来任何新东西。这与 Press 等人（2022）的次序一致。"
        "可学习位置中从未更新过的行一直像初始时那样小，在这里害处不大，也没有用处。",
    ),
    code=("src/clearformer/model/positions.py",),
    measure=measure,
    conclude=conclude,
    cases=names(VARIANTS),
    seeds=Seeds(quick=1, full=3),
    minutes=6,
)
