"""Claim: the attention weights are really cosine similarities.

Expected: in a trained model keys differ in length, so weights from cosines differ from the real ones: half the
total variation is above 0.1 on a real sentence. A key twice as long draws more weight; a cosine would not notice.
"""

from collections.abc import Sequence

import torch

from clearformer.lab.bilingual import Bilingual
from clearformer.lab.drawing import draw_matrices
from clearformer.lab.experiment import ONCE, Experiment, Findings, Measured, MeasuredTable, Measurement, Trial
from clearformer.lab.shipped import read_shipped
from clearformer.lab.verdicts import Check, number
from clearformer.model.trace import trace

SENTENCE = "Two dogs are playing with a ball in the deep snow."


@torch.no_grad()
def measure(trial: Trial) -> Measured:
    """Real queries and keys of every encoder layer; cosines in place of products, and one key made longer."""
    read = read_shipped(SENTENCE)
    with trace(read.network, only=["encoder.layers.*"]) as seen:
        read.network.encode(read.tokens)
    apart, lengths, scale = [], [], []
    for layer in range(len(read.network.encoder.layers)):
        place = f"encoder.layers.{layer}.self_attn"
        q, k, weights = seen[f"{place}.q"], seen[f"{place}.k"], seen[f"{place}.weights"]
        cosine = torch.cosine_similarity(q[:, :, :, None], k[:, :, None], dim=-1)
        apart.append((cosine.softmax(-1) - weights).abs().sum(-1).mean().item() / 2)
        norms = k.norm(dim=-1)
        lengths.append((norms.amax(-1) / norms.amin(-1)).max().item())
        scale.append((q @ k.mT / q.size(-1) ** 0.5).abs().max().item())
    longer = k.clone()
    first = weights[0, 0, 0].argmax()
    longer[0, 0, first] *= 2
    after = (q @ longer.mT / q.size(-1) ** 0.5).softmax(-1)[0, 0, 0, first].item()
    return {
        "apart": apart,
        "lengths": lengths,
        "scale": scale,
        "before": weights[0, 0, 0, first].item(),
        "after": after,
        "cosine": cosine.softmax(-1)[0, 0].tolist(),
        "real": weights[0, 0].tolist(),
        "pieces": read.pieces,
    }


def conclude(found: Sequence[Measurement]) -> Findings:
    """“Really cosine” would mean: the same weights."""
    [one] = found
    values = one.values
    table = MeasuredTable(
        title=Bilingual("The shipped translator reads a sentence", "翻译模型读一个句子"),
        columns=(
            Bilingual("layer", "层"),
            Bilingual("weights from cosines: share moved", "改用余弦：被挪动的权重比例"),
            Bilingual("longest key ÷ shortest", "最长的键 ÷ 最短的键"),
            Bilingual("largest score (a cosine is at most 1)", "最大分数（余弦至多为 1）"),
        ),
        rows=[
            (layer + 1, *(number(values[name][layer]) for name in ("apart", "lengths", "scale")))
            for layer in range(len(values["apart"]))
        ],
    )
    longer = MeasuredTable(
        title=Bilingual("The strongest key of the first token, made twice as long", "把第一个词元最关注的键加长一倍"),
        columns=(Bilingual("weight before", "之前的权重"), Bilingual("weight after", "之后的权重")),
        rows=[(number(values["before"]), number(values["after"]))],
    )
    figures = [
        draw_matrices(name, caption, {caption: values[kind]}, values["pieces"])
        for name, kind, caption in (
            ("products", "real", Bilingual("One head of the last layer, as it is", "最后一层的一个头：实际的权重")),
            ("cosines", "cosine", Bilingual("The same head with cosines", "同一个头：改用余弦")),
        )
    ]
    return Findings(
        claims=[
            Check(
                says=Bilingual(
                    "share of weight that moves with cosines, mean over layers",
                    "改用余弦后被挪动的权重比例（各层平均）",
                ),
                values=[sum(values["apart"]) / len(values["apart"])],
                high=0.01,
            )
        ],
        tables=[table, longer],
        figures=figures,
    )


EXPERIMENT = Experiment(
    name="cosine-or-dot",
    number="–",
    question=Bilingual("Is attention cosine similarity?", "注意力就是余弦相似度吗？"),
    claim=Bilingual("it is really cosine similarity", "其实就是余弦相似度"),
    expected=Bilingual("more than a tenth of the weight moves", "被挪动的权重超过十分之一"),
    answer=Bilingual(
        "It is a dot product divided by √d_k, and it does not divide by lengths. Trained models use that: a longer key "
        "draws more attention from everybody, a longer query makes its choice sharper. Cosines lie between −1 and "
        "1, so a "
        "softmax over them is nearly flat: no key could get more than e² times the weight of another. There are models "
        "with cosine attention; they multiply by a learned temperature to make up for it.",
        "它是点积除以 √d_k，并没有除以向量长度。训练出来的模型正是利用了长度：键越长，越能吸引所有人的注意；查询越长，"
        "选择越尖锐。余弦只在 −1 到 1 "
        "之间，对它做 softmax 几乎是平的：任何键的权重都不会超过另一个的 e² 倍。确实有用余弦注意力的模型，但它们要乘"
        "一个学到的温度来弥补这一点。",
    ),
    code=("src/clearformer/model/attention.py",),
    measure=measure,
    conclude=conclude,
    seeds=ONCE,
)
