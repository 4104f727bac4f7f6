"""Claim: recurrent networks forget what came early, later inputs overwrite it; attention reaches any distance.

Expected, after the same steps on "which token stood so many places back?": the Transformer is right at every
distance, the LSTM the less the further back, the convolution (which sees four places back) guesses beyond four. Asked
for the first token alone, an LSTM with attention over its own states finds it, too.
"""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from clearformer.lab.bilingual import Bilingual
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
from clearformer.lab.made_tasks import recall_batch
from clearformer.lab.small_training import SmallRun, train_small
from clearformer.lab.verdicts import Check, margin, spread
from clearformer.model.attention import Attention
from clearformer.model.attention_context import AttentionContext
from clearformer.model.baselines.convolution import ConvolutionalEncoderLayer
from clearformer.model.baselines.lstm import recur
from clearformer.model.build import build
from clearformer.model.config import DropoutConfig
from clearformer.model.families import gpt2

DIM, VOCABULARY, LAYERS = 32, 16, 2
TOKENS = VOCABULARY + 8  # and questions
CASES = ("transformer", "lstm", "lstm-attention", "convolution")


def measure(trial: Trial) -> Measured:
    """Train on random tokens and a question at the end; then ask for each distance. Twice: only for the first token,
    and for any."""
    distances = (1, 2, 4, 8) if trial.quick else (1, 2, 4, 8, 16, 32)
    run = SmallRun(steps=120 if trial.quick else 700, peak=5e-3)
    any_one = _trained(trial.case, distances, run)
    first = _trained(trial.case, distances[-1:], run)
    return {
        "distances": list(distances),
        "right": _right(any_one, distances),
        "first": _right(first, distances[-1:])[0],
    }


def _trained(case: str, distances: Sequence[int], run: SmallRun) -> nn.Module:
    network = NETWORKS[case](distances[-1] + 1)

    def loss_of(model: nn.Module) -> Tensor:
        tokens, answers, _ = recall_batch(32, distances[-1], VOCABULARY, distances)
        return nn.functional.cross_entropy(model(tokens)[:, -1], answers)

    train_small(network, loss_of, run)
    return network


@torch.no_grad()
def _right(network: nn.Module, distances: Sequence[int]) -> list[float]:
    """The share of right answers by distance."""
    tokens, answers, asked = recall_batch(400 * len(distances), distances[-1], VOCABULARY, distances)
    right = network(tokens)[:, -1].argmax(-1) == answers
    return [right[asked == number].float().mean().item() for number in range(len(distances))]


class Recurrent(nn.Module):
    """An LSTM; with attention, the last state also looks back at all the others."""

    def __init__(self, *, looks_back: bool) -> None:
        super().__init__()
        self.embed, self.head = nn.Embedding(TOKENS, DIM), nn.Linear(DIM, TOKENS)
        self.lstm = nn.LSTM(DIM, DIM, LAYERS, batch_first=True)
        self.attention = Attention(DIM, heads=4) if looks_back else None

    def forward(self, tokens: Tensor) -> Tensor:
        x, _ = recur(self.lstm, self.embed(tokens))
        if self.attention is not None:
            places = torch.arange(x.size(1))[None]
            x = x[:, -1:] + self.attention(x[:, -1:], AttentionContext(places[:, -1:], places), source=x)
        logits: Tensor = self.head(x)
        return logits


class Convolutional(nn.Module):
    """Convolutions of three, which see one place further on each side per layer."""

    def __init__(self) -> None:
        super().__init__()
        self.embed, self.head = nn.Embedding(TOKENS, DIM), nn.Linear(DIM, TOKENS)
        self.layers = nn.ModuleList(ConvolutionalEncoderLayer(DIM, kernel=3) for _ in range(2 * LAYERS))

    def forward(self, tokens: Tensor) -> Tensor:
        x: Tensor = self.embed(tokens)
        for layer in self.layers:
            x = layer(x, None)
        logits: Tensor = self.head(x)
        return logits


def _transformer(length: int) -> nn.Module:
    sizes: dict[str, Any] = {"vocab_size": TOKENS, "dim": DIM, "hidden_dim": 4 * DIM, "layers": LAYERS}
    return build(gpt2(**sizes, heads=4, max_len=length, dropout=DropoutConfig.everywhere(0.0)))


NETWORKS: dict[str, Callable[[int], nn.Module]] = {
    "transformer": _transformer,
    "lstm": lambda length: Recurrent(looks_back=False),
    "lstm-attention": lambda length: Recurrent(looks_back=True),
    "convolution": lambda length: Convolutional(),
}
NAMES = {
    "transformer": Bilingual("Transformer", "Transformer"),
    "lstm": Bilingual("LSTM", "LSTM"),
    "lstm-attention": Bilingual("LSTM with attention", "LSTM 加注意力"),
    "convolution": Bilingual("convolution, 4 layers of 3", "卷积，4 层，核宽 3"),
}


def conclude(found: Sequence[Measurement]) -> Findings:
    """At the greatest distance."""
    far: dict[str, list[float]] = {case: [] for case in CASES}
    for one in found:
        far[one.trial.case].append(one.values["right"][-1])
    first = {case: column(found, "first", case) for case in CASES}
    distance = found[0].values["distances"][-1]
    table = MeasuredTable(
        title=Bilingual(
            f"Right answers about the token {distance} places back", f"问 {distance} 个位置之前的词元，答对的比例"
        ),
        columns=(
            Bilingual("network", "网络"),
            Bilingual("any distance may be asked", "可能问任何距离"),
            Bilingual("only the first token is asked", "只问首个词元"),
        ),
        rows=[(NAMES[case], spread(far[case]), spread(first[case])) for case in CASES],
    )
    return Findings(
        claims=[
            Check(
                says=Bilingual("Transformer: right at the greatest distance", "Transformer：最远距离的正确率"),
                values=far["transformer"],
                low=0.9,
            ),
            Check(
                says=Bilingual("worst Transformer above best LSTM by", "最差的 Transformer 比最好的 LSTM 高出"),
                values=[margin(far["transformer"], far["lstm"])],
                low=0.1,
            ),
        ],
        conditions=[
            Check(
                says=Bilingual(
                    "LSTM with attention, asked for the first token alone: right", "LSTM 加注意力，只问首个词元：正确率"
                ),
                values=first["lstm-attention"],
                low=0.9,
            )
        ],
        tables=[table],
        figures=[_figure(found)],
    )


def _figure(found: Sequence[Measurement]) -> MeasuredFigure:
    distances = found[0].values["distances"]
    return draw_curves(
        "recall",
        Bilingual("Which token stood so many places back?", "这么多位置之前是哪个词元？"),
        Curves(
            x_label=Bilingual("distance", "距离"),
            y_label=Bilingual("right", "正确率"),
            lines=[
                (NAMES[case], list(zip(distances, mean_lists(found, "right", case), strict=True))) for case in CASES
            ],
            log_x=True,
        ),
    )


EXPERIMENT = Experiment(
    name="long-range",
    number="–",
    question=Bilingual("Do recurrent networks forget, and attention not?", "RNN 会遗忘，注意力就不会吗？"),
    claim=Bilingual(
        "information that came early is lost as the state is updated again and again; attention models long distances",
        "由于上一阶段的状态是不断更新的，即早期序列信息的遗忘问题；有效建模长距离依赖",
    ),
    expected=Bilingual(
        "Transformer above 0.9 at the greatest distance, LSTM clearly below; with attention the LSTM finds the "
        "first token",
        "最远距离时 Transformer 高于 0.9，LSTM 明显更低；加了注意力的 LSTM 找得到首个词元",
    ),
    answer=Bilingual(
        "An LSTM has to carry everything that may be asked in a state of fixed size, and each new token writes over "
        "it: after "
        "the same training it knows the last tokens and guesses the early ones. Attention has all tokens before it, "
        "one "
        "step away, so distance does not matter. An LSTM that may look back at its own states finds the first token as "
        "well, which is how attention came into use in 2014. A convolution sees as far as its layers reach, and no "
        "further.",
        "LSTM 得把一切可能被问到的东西装进固定大小的状态，而每个新词元都会往上覆盖：同样的训练之后，它知道最近的几个，"
        "早先的只能猜。注意力面前摆着"
        "所有词元，都只隔一步，所以与距离无关。让 LSTM 也能回头看自己的各个状态，它同样找得到首个词元，2014 年注意力"
        "正是这样开始使用的。卷积能看多远"
        "取决于层数，不会更多。",
    ),
    code=("src/clearformer/model/baselines/lstm.py", "src/clearformer/model/baselines/convolution.py"),
    measure=measure,
    conclude=conclude,
    cases=CASES,
    seeds=Seeds(quick=1, full=3),
    minutes=6,
)
