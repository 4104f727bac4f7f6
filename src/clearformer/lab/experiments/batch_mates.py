"""Claim (questions 12 and 13): BatchNorm is incompatible with self-attention.

Expected: it is not impossible: a small encoder with BatchNorm learns to write backwards, too. But a sentence's
output then depends on the others in its batch (more than 0.01; with LayerNorm 0), and training differs from
evaluation.
"""

from collections.abc import Sequence

import torch
from torch import nn

from clearformer.lab.bilingual import Bilingual
from clearformer.lab.drawing import Curves, draw_curves
from clearformer.lab.experiment import (
    Experiment,
    Findings,
    Measured,
    MeasuredTable,
    Measurement,
    Trial,
    column,
    mean_lists,
)
from clearformer.lab.verdicts import Check, spread
from clearformer.model.build import build
from clearformer.model.config import DropoutConfig, HeadConfig, ModelConfig, NormConfig
from clearformer.model.families import bert

VOCABULARY, LENGTH, ROWS = 16, 8, 32
NORMS = ("layer", "batch")


def measure(trial: Trial) -> Measured:
    """Train both on writing backwards, then change a sentence's neighbours, and its mode."""
    values: Measured = {}
    for kind in NORMS:
        torch.manual_seed(trial.seed)
        model = build(_config(kind))
        losses = _train(model, steps=60 if trial.quick else 200)
        tokens = torch.randint(VOCABULARY, (ROWS, LENGTH))
        other = torch.cat((tokens[:1], torch.randint(VOCABULARY, (ROWS - 1, LENGTH))))
        with torch.no_grad():
            here, there = model(tokens)[0], model(other)[0]
            used, expected = model.eval()(tokens), tokens.flip(1)
        values |= {
            f"{kind}_losses": losses,
            f"{kind}_neighbours": (here - there).abs().max().item(),
            f"{kind}_modes": (here - used[0]).abs().max().item(),
            f"{kind}_right": (used.argmax(-1) == expected).float().mean().item(),
            f"{kind}_share": losses[-1] / losses[0],
        }
    return values


def _config(kind: str) -> ModelConfig:
    norm = NormConfig(kind="batch" if kind == "batch" else "layer", place="post")
    sizes = {"vocab_size": VOCABULARY, "dim": 32, "hidden_dim": 64, "layers": 2, "max_len": LENGTH}
    head = HeadConfig(kind="tags", labels=VOCABULARY)
    return bert(
        **sizes,
        heads=4,
        norm=norm,
        head=head,
        dropout=DropoutConfig.everywhere(0.0),
        init_std=None,
    )


def _train(model: nn.Module, steps: int) -> list[float]:
    """Adam, nothing else; the loss of every tenth step."""
    optimiser = torch.optim.Adam(model.parameters(), lr=3e-3)
    losses = []
    for step in range(steps):
        tokens = torch.randint(VOCABULARY, (ROWS, LENGTH))
        loss = nn.functional.cross_entropy(model(tokens).flatten(0, 1), tokens.flip(1).flatten())
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
        if step % 10 == 0 or step == steps - 1:
            losses.append(loss.item())
    return losses


def conclude(found: Sequence[Measurement]) -> Findings:
    """Incompatible would mean that it does not learn."""
    named = {"layer": "LayerNorm", "batch": "BatchNorm"}
    rows = (
        (
            "neighbours",
            Bilingual("change of a sentence's logits with other neighbours", "换掉同批句子后，一个句子的 logits 变化"),
        ),
        ("modes", Bilingual("training mode against evaluation mode", "训练模式与评估模式之差")),
        ("right", Bilingual("letters right in use", "使用时写对的比例")),
        ("share", Bilingual("last loss ÷ first", "最终损失 ÷ 初始损失")),
    )
    table = MeasuredTable(
        title=Bilingual("Two encoders learn to write backwards", "两个编码器学习倒写"),
        columns=("", *named.values()),
        rows=[(label, *(spread(column(found, f"{kind}_{name}")) for kind in NORMS)) for name, label in rows],
    )
    figure = draw_curves(
        "losses",
        Bilingual("Loss while learning to write backwards", "学习倒写时的损失"),
        Curves(
            x_label=Bilingual("steps ÷ 10", "步数 ÷ 10"),
            lines=[(name, list(enumerate(mean_lists(found, f"{kind}_losses")))) for kind, name in named.items()],
        ),
    )
    return Findings(
        claims=[
            Check(
                says=Bilingual("BatchNorm does not learn: last loss ÷ first", "BatchNorm 学不会：最终损失 ÷ 初始损失"),
                values=column(found, "batch_share"),
                low=0.9,
            )
        ],
        tables=[table],
        figures=[figure],
    )


EXPERIMENT = Experiment(
    name="batch-mates",
    number="13",
    question=Bilingual("Why LayerNorm and not BatchNorm?", "为什么用 LayerNorm 而不是 BatchNorm？"),
    claim=Bilingual("BatchNorm is incompatible with recurrence and self-attention", "与循环/自注意力不兼容"),
    expected=Bilingual(
        "BatchNorm learns, too; a sentence changes with its neighbours by more than 0.01, with LayerNorm by 0",
        "BatchNorm 也能学会；句子随同批句子变化超过 0.01，LayerNorm 为 0",
    ),
    answer=Bilingual(
        "BatchNorm normalises a feature over all tokens of the batch, (x − μ)/σ · γ + β, and keeps running means "
        "for use. "
        "That works with attention, and learns. But a sentence's result then depends on its batch mates and on "
        "padding, "
        "small batches make it noisy, and use differs from training. LayerNorm looks at one token's features alone: "
        "same "
        "result alone, in any batch, in training and in use. Ill-suited, then, and not incompatible.",
        "BatchNorm 对每个特征在批内所有词元上归一化：(x − μ)/σ · γ + β，并记下滑动均值供使用时用。它可以和注意力一起"
        "用，也学得会。但这样一来，"
        "一个句子的结果取决于同批的句子和填充，批小时噪声大，使用时又和训练时不同。LayerNorm 只看一个词元自己的特征："
        "单独算、放在任何批里、"
        "训练或使用，结果都一样。所以准确的说法是“不合适”，而不是“不兼容”。",
    ),
    code=("src/clearformer/model/layers.py",),
    measure=measure,
    conclude=conclude,
    minutes=0.3,
)
