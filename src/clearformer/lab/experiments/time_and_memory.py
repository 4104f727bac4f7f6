"""Claim (an empty heading of the notes, filled from the paper, section 4): a layer of self-attention is faster than a
recurrent one as long as a sequence is shorter than its vectors are wide.

Expected, on one thread: so it is, and far beyond, for a recurrence waits for itself n times: the lines cross at several
times the length at which the counted operations are equal (n = d / 2). What attention keeps for the way back grows with
n², what the others keep with n.
"""

import math
import time
from collections.abc import Callable, Sequence
from functools import partial

import torch
from torch import Tensor, nn

from clearformer.lab.bilingual import Bilingual, Sayable
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
from clearformer.lab.verdicts import Check, number
from clearformer.model.attention import attend

DIM, LENGTH = 64, 256
LENGTHS, WIDTHS = (64, 128, 256, 512, 1024, 2048), (32, 64, 128, 256, 512)
KINDS = (
    ("attention", Bilingual("self-attention", "自注意力"), "O(n²·d)"),
    ("recurrent", Bilingual("recurrence", "循环"), "O(n·d²)"),
    ("convolution", Bilingual("convolution of 3", "核宽 3 的卷积"), "O(k·n·d²)"),
)
COUNTED = 0.5  # n ÷ d at which the counted operations of attention and recurrence are equal


def measure(trial: Trial) -> Measured:
    """Milliseconds of each layer by length and by width, and the bytes that it keeps for the way back."""
    repeats = 3 if trial.quick else 15
    values: Measured = {}
    for name, make in MAKERS.items():
        values[f"{name}_length"] = [1000 * _seconds(make(length, DIM), repeats) for length in LENGTHS]
        values[f"{name}_width"] = [1000 * _seconds(make(LENGTH, width), repeats) for width in WIDTHS]
        values[f"{name}_bytes"] = [_kept(make(length, DIM)) for length in LENGTHS]
    attention, recurrent = values["attention_length"], values["recurrent_length"]
    place = LENGTHS.index(DIM)
    values["at_width"] = recurrent[place] / attention[place]
    values["crossing"] = _crossing([a / b for a, b in zip(attention, recurrent, strict=True)]) / DIM
    return values


def _attention(length: int, dim: int) -> Callable[[], Tensor]:
    """Scores, softmax, and sums, as the paper counts: without the projections."""
    q = torch.randn(1, 1, length, dim, requires_grad=True)
    return partial(attend, q, q, q)


def _recurrent(length: int, dim: int) -> Callable[[], Tensor]:
    """The simplest one, h = tanh(W·h + U·x)."""
    layer, x = nn.RNN(dim, dim, batch_first=True), torch.randn(1, length, dim)
    return lambda: layer(x)[0]


def _convolution(length: int, dim: int) -> Callable[[], Tensor]:
    layer, x = nn.Conv1d(dim, dim, 3, padding=1), torch.randn(1, dim, length)
    return lambda: layer(x)


MAKERS = {"attention": _attention, "recurrent": _recurrent, "convolution": _convolution}


def _seconds(work: Callable[[], Tensor], repeats: int) -> float:
    """Of this thread's own time, forwards and back; the fastest of several runs, for others were disturbed."""
    taken = []
    for _ in range(repeats + 1):
        started = time.process_time()
        work().sum().backward()  # type: ignore[no-untyped-call]
        taken.append(time.process_time() - started)
    return max(min(taken[1:]), 1e-7)


def _kept(work: Callable[[], Tensor]) -> int:
    """Bytes of the tensors that are kept for the way back; each storage counts once."""
    seen: dict[int, int] = {}

    def keep(tensor: Tensor) -> Tensor:
        seen[tensor.untyped_storage().data_ptr()] = tensor.untyped_storage().nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        result = work()  # held until all is counted, so that no storage is used twice
    return sum(seen.values()) + result.nbytes


def _crossing(ratios: Sequence[float]) -> float:
    """The length at which attention becomes the slower one, between two lengths on a logarithmic scale; where it never
    does, the longest."""
    for (left, a), (right, b) in zip(
        zip(LENGTHS, ratios, strict=True), zip(LENGTHS[1:], ratios[1:], strict=True), strict=False
    ):
        if a < 1 <= b:
            share = -math.log(a) / (math.log(b) - math.log(a))
            return float(left * (right / left) ** share)
    return float(LENGTHS[-1] if ratios[-1] < 1 else LENGTHS[0])


def _power(sizes: Sequence[int], values: Sequence[float]) -> float:
    """The exponent at the large end."""
    return math.log(values[-1] / values[-2]) / math.log(sizes[-1] / sizes[-2])


def conclude(found: Sequence[Measurement]) -> Findings:
    """Faster at n = d, and much further; and what it costs in memory."""
    return Findings(
        claims=[
            Check(
                says=Bilingual(
                    f"n = d = {DIM}: time of recurrence ÷ of attention", f"n = d = {DIM}：循环用时 ÷ 注意力用时"
                ),
                values=column(found, "at_width"),
                low=1.0,
            )
        ],
        conditions=[
            Check(
                says=Bilingual(
                    "attention becomes the slower one at n = c·d; c in time, as far as 32 (counted: 0.5)",
                    "注意力从 n = c·d 起更慢；按时间的 c，最多看到 32（按次数是 0.5）",
                ),
                values=column(found, "crossing"),
                low=2 * COUNTED,
            ),
            Check(
                says=Bilingual(
                    "power of n by which attention's kept bytes grow", "注意力为反向传播保留的字节随 n 增长的幂次"
                ),
                values=[_power(LENGTHS, one.values["attention_bytes"]) for one in found],
                low=1.5,
            ),
        ],
        tables=[_table(found)],
        figures=[_figure(found)],
    )


def _table(found: Sequence[Measurement]) -> MeasuredTable:
    rows: list[Sequence[Sayable]] = []
    for name, label, order in KINDS:
        lengths, widths, kept = (mean_lists(found, f"{name}_{what}") for what in ("length", "width", "bytes"))
        powers = (_power(LENGTHS, lengths), _power(WIDTHS, widths), _power(LENGTHS, kept))
        rows.append((label, order, *map(number, powers), number(kept[-1] / 2**20)))
    return MeasuredTable(
        title=Bilingual(
            "Powers at the large end: forwards and back, one thread", "大尺寸一端的幂次：前向加反向，单线程"
        ),
        columns=(
            Bilingual("layer", "层"),
            Bilingual("counted", "理论"),
            Bilingual("time with n", "时间随 n"),
            Bilingual("time with d", "时间随 d"),
            Bilingual("kept bytes with n", "保留的字节随 n"),
            Bilingual(f"MiB at n = {LENGTHS[-1]:,}", f"n = {LENGTHS[-1]} 时的 MiB"),
        ),
        rows=rows,
    )


def _figure(found: Sequence[Measurement]) -> MeasuredFigure:
    def lines(what: str, sizes: Sequence[int], scale: float = 1.0) -> list[tuple[Bilingual, list[tuple[float, float]]]]:
        return [
            (label, [(x, y / scale) for x, y in zip(sizes, mean_lists(found, f"{name}_{what}"), strict=True)])
            for name, label, _ in KINDS
        ]

    milliseconds = Bilingual("milliseconds", "毫秒")
    tokens = Bilingual("tokens n", "词元数 n")
    return draw_curves(
        "cost",
        Bilingual("Time and memory of one layer, forwards and back", "一层的时间与内存，前向加反向"),
        Curves(
            title=Bilingual(f"time, d = {DIM}", f"时间，d = {DIM}"),
            x_label=tokens,
            y_label=milliseconds,
            lines=lines("length", LENGTHS),
            log_x=True,
            log_y=True,
        ),
        Curves(
            title=Bilingual(f"time, n = {LENGTH}", f"时间，n = {LENGTH}"),
            x_label=Bilingual("width d", "宽度 d"),
            y_label=milliseconds,
            lines=lines("width", WIDTHS),
            log_x=True,
            log_y=True,
        ),
        Curves(
            title=Bilingual(f"kept for the way back, d = {DIM}", f"为反向保留，d = {DIM}"),
            x_label=tokens,
            y_label="MiB",
            lines=lines("bytes", LENGTHS, 2.0**20),
            log_x=True,
            log_y=True,
        ),
    )


EXPERIMENT = Experiment(
    name="time-and-memory",
    number="–",
    question=Bilingual(
        "What does a layer cost in time and memory, and where do the lines cross?",
        "一层要花多少时间和内存？在哪里交叉？",
    ),
    claim=Bilingual(
        "(an empty heading; the paper, section 4:) self-attention layers are faster than recurrent layers when the "
        "sequence length n is smaller than the representation dimensionality d",
        "（空标题；论文第 4 节：）序列长度 n 小于表示维度 d 时，自注意力层比循环层快",
    ),
    expected=Bilingual(
        "faster at n = d; slower only from several times that length on; kept bytes grow with n²",
        "n = d 时更快；要到数倍于此的长度才变慢；保留的字节随 n² 增长",
    ),
    answer=Bilingual(
        "Counted, attention's n²·d and a recurrence's n·d² are equal near n = d. A clock says otherwise: the "
        "recurrence "
        "is n small products, one waiting for the other, attention two large ones, which a processor does at full "
        "speed. So it stays ahead well beyond n = d, on a GPU still further. What ends first is memory: the n² weights "
        "that are kept for the way back, unless a fused kernel computes them again.",
        "按次数算，注意力的 n²·d 与循环的 n·d² 在 n 接近 d 时相等。看表却不是这样：循环是 n 次小乘法，一次等一次；"
        "注意力是两次大乘法，处理器可以全速计算。所以远过了 n = d，它仍然更快，在 GPU 上还要更远。先用完的是内存："
        "为反向传播保留的 n² 个权重，除非用融合的核函数在需要时重算。",
    ),
    code=("src/clearformer/model/attention.py", "src/clearformer/lab/experiments/measured_cost.py"),
    measure=measure,
    conclude=conclude,
    seeds=Seeds(quick=1, full=3),
    minutes=1,
    timed=True,
)
