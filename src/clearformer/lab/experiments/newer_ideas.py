"""Claim: newer ideas make a Transformer better: QK-norm, value embeddings, gated and differential attention, Muon.

Expected, language models at equal products per token: most of them change the loss of so small a network by less than
0.05 nats, and many within the spread; Muon is ahead of Adam after the same steps, by more than that.
"""

from collections.abc import Sequence
from typing import Any

from torch import nn

from clearformer.lab.bilingual import Bilingual
from clearformer.lab.comparison import (
    WRITING,
    Variant,
    difference_check,
    names,
    scores_of,
    train_variant,
    variants_figure,
    variants_table,
)
from clearformer.lab.experiment import Experiment, Findings, Measured, Measurement, Seeds, Trial
from clearformer.lab.newer_attention import DifferentialScores, GatedOutput, TokenValues
from clearformer.model.attention import Attention


def add_value_embeddings(model: nn.Module) -> None:
    """A second table, from which every layer's values get a vector for their token."""
    network: Any = model
    table = nn.Embedding(network.decoder.front.embed.num_embeddings, network.decoder.front.embed.embedding_dim)
    nn.init.normal_(table.weight, std=0.02)
    network.decoder.value_table = table
    for layer in network.decoder.layers:
        part = layer.self_attn
        part.v_proj = TokenValues(part.v_proj, table, network.decoder.front)


def gate_outputs(model: nn.Module) -> None:
    """What attention gathers is multiplied by a sigmoid of the layer's input."""
    network: Any = model
    for layer in network.decoder.layers:
        layer.self_attn = GatedOutput(layer.self_attn)


def subtract_attention(model: nn.Module) -> None:
    """The difference of two softmaxes in every head."""
    for depth, part in enumerate(_attentions(model)):
        part.kernel = DifferentialScores(part.heads.value_dim, depth=depth + 1)


def _attentions(model: nn.Module) -> list[Attention]:
    return [part for part in model.modules() if isinstance(part, Attention)]


STEPS = ("training.steps=200",)
VARIANTS = (
    Variant(name="usual", label=Bilingual("as usual, Adam", "通常做法，Adam"), changes=STEPS),
    # a tenth fewer steps, for the products of its own
    Variant(name="muon", label="Muon", changes=("training.optimiser.kind=muon", "training.steps=180")),
    Variant(name="qk-norm", label=Bilingual("QK-norm", "QK 归一化"), changes=(*STEPS, "model.attention.norm=true")),
    Variant(name="values", label=Bilingual("value embeddings", "值嵌入"), changes=STEPS, adjust=add_value_embeddings),
    # a gate costs d·d products, which the feed-forward part gives up: 2·d·32
    Variant(
        name="gated",
        label=Bilingual("gated attention", "门控注意力"),
        changes=(*STEPS, "model.hidden_dim=224"),
        adjust=gate_outputs,
    ),
    Variant(
        name="differential",
        label=Bilingual("differential attention", "差分注意力"),
        changes=STEPS,
        adjust=subtract_attention,
    ),
)


def measure(trial: Trial) -> Measured:
    """Train with one idea."""
    return scores_of(train_variant(trial, VARIANTS, WRITING))


def conclude(found: Sequence[Measurement]) -> Findings:
    """Each idea against the usual network."""
    return Findings(
        claims=[
            difference_check(
                found,
                Bilingual(f"loss as usual − with {one.name}", f"损失：通常做法 − {one.name}"),
                ("usual", one.name),
            )
            for one in VARIANTS[1:]
        ],
        tables=[
            variants_table(
                Bilingual("Running English text, equal products per token", "英文连续文本，每词元计算量相同"),
                found,
                VARIANTS,
            )
        ],
        figures=[variants_figure(Bilingual("Loss by idea", "损失与各做法"), found, VARIANTS)],
    )


EXPERIMENT = Experiment(
    name="newer-ideas",
    number="–",
    question=Bilingual("Do newer ideas help a small network?", "新想法对小网络有用吗？"),
    claim=Bilingual(
        "QK-norm, value embeddings, gated attention, differential attention and Muon each lower the loss",
        "QK 归一化、值嵌入、门控注意力、差分注意力和 Muon 都能降低损失",
    ),
    expected=Bilingual(
        "Muon clearly, value embeddings perhaps; the others within the spread",
        "Muon 明显，值嵌入可能；其余在离散范围之内",
    ),
    answer=Bilingual(
        "These come from large networks, where they keep training stable or save a few per cent of compute. At equal "
        "products per token a network of two layers shows mainly what speeds up early learning. Muon takes a tenth "
        "fewer "
        "steps here, for its own products. What is told is the difference to the usual network, seed by seed, and "
        "whether it is larger than its spread; a small network's silence says nothing about a large one.",
        "这些做法出自大网络，在那里用来稳定训练，或省下几个百分点的计算。每词元计算量相同时，两层的网络主要能显出什么"
        "加快了"
        "早期学习。Muon 自身也要计算，所以这里少走十分之一的步数。所列的是与通常做法逐种子的差，以及它是否大于离散程"
        "度；"
        "小网络看不出差别，并不说明大网络也没有。",
    ),
    code=("src/clearformer/training/muon.py", "src/clearformer/lab/newer_attention.py"),
    measure=measure,
    conclude=conclude,
    cases=names(VARIANTS),
    seeds=Seeds(quick=1, full=3),
    minutes=4,
)
