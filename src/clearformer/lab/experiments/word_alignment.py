"""Claim (question 15): decoder tokens query all source tokens, equivalent to the attention of seq2seq: an alignment.

Expected, the shipped translator against words that people linked (alignment error rate, 0 is perfect): single heads do
little better than the diagonal, the mean of a layer's heads somewhat, and an aligner that was made for it clearly. The
row that writes a word and the row that reads it look at different source words.
"""

import gzip
import random
import re
import statistics
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from clearformer.data.catalogue.fetch import locate
from clearformer.lab.bilingual import Bilingual
from clearformer.lab.drawing import draw_bars
from clearformer.lab.experiment import (
    ONCE,
    DataNeededError,
    Experiment,
    Findings,
    Measured,
    MeasuredTable,
    Measurement,
    Trial,
)
from clearformer.lab.gold_alignments import LinkedPair, chinese_english, german_english
from clearformer.lab.shipped import read_shipped
from clearformer.lab.verdicts import Check, number
from clearformer.lab.word_aligner import Links, WordAligner, alignment_error, diagonal_links
from clearformer.model.trace import trace

ROWS = ("reads", "writes")  # the row whose input the word is; the row whose output it is
TEXT = "tatoeba-en-de"  # the aligner's text, besides the sentences themselves


def measure(trial: Trial) -> Measured:
    """Links of every head, of the diagonal, and of an aligner, against gold."""
    german, chinese = german_english(), chinese_english()
    if trial.quick:
        german, chinese = german[:12], chinese[:40]
    heads = _links_of_heads(german)
    gold = [one.links for one in german]
    errors = {name: alignment_error(links, gold) for name, links in heads.items()}
    best = min((name for name in errors if " mean" not in name), key=errors.__getitem__)
    diagonal = [diagonal_links(one.source, one.target) for one in german]
    pairs = [(one.source, one.target) for one in german]
    aligner = WordAligner(pairs + _everyday(300 if trial.quick else 8000), rounds=2 if trial.quick else 5)
    statistical = [aligner.links(*pair) for pair in pairs]
    return {
        "errors": errors,
        "best": best,
        "diagonal": alignment_error(diagonal, gold),
        "aligner": alignment_error(statistical, gold),
        "over_diagonal": _interval(diagonal, heads[best], gold),
        "over_aligner": _interval(statistical, heads[best], gold),
        "chinese": _chinese(chinese, rounds=2 if trial.quick else 5),
    }


@torch.inference_mode()
def _links_of_heads(pairs: Sequence[LinkedPair]) -> dict[str, list[Links]]:
    """For each head and each layer's mean: the source word that each target word looks at most."""
    opened = read_shipped("a")
    network, tokenizer = opened.network, opened.tokenizer
    found: dict[str, list[Links]] = {}
    for pair in pairs:
        source, source_word = _pieces(tokenizer, pair.source)
        target, target_word = _pieces(tokenizer, pair.target)
        with trace(network, only=["*cross_attn.weights"]) as seen:
            network(torch.tensor([[*source, tokenizer.eos_id]]), torch.tensor([[tokenizer.bos_id, *target]]))
        for layer, name in enumerate(seen, start=1):
            weights = seen[name][0][:, :, : len(source)]  # H, T + 1, S
            for shift, row in ((1, "reads"), (0, "writes")):
                looks = weights[:, shift : shift + len(target)]
                parts = {f"layer {layer} mean, {row}": looks.mean(0)}
                parts |= {f"layer {layer} head {head + 1}, {row}": looks[head] for head in range(len(looks))}
                for key, part in parts.items():
                    found.setdefault(key, []).append(_word_links(part, source_word, target_word))
    return found


def _pieces(tokenizer: Any, words: Sequence[str]) -> tuple[list[int], list[int]]:
    """The pieces of each word, and which word each is of."""
    rows = tokenizer.ids(list(words), add_special=False)
    return [piece for row in rows for piece in row], [word for word, row in enumerate(rows) for _ in row]


def _word_links(weights: Tensor, source_word: Sequence[int], target_word: Sequence[int]) -> Links:
    """Weights of pieces summed over each source word and target word; the largest decides. weights: T S."""
    summed = torch.zeros(max(target_word) + 1, max(source_word) + 1)
    by_source = torch.zeros(len(target_word), summed.size(1)).index_add_(1, torch.tensor(source_word), weights)
    summed.index_add_(0, torch.tensor(target_word), by_source)
    return {(best, word) for word, best in enumerate(summed.argmax(-1).tolist())}


def _everyday(count: int) -> list[tuple[list[str], list[str]]]:
    """Pairs that the aligner learns from as well."""
    folder = locate(TEXT)
    if folder is None:
        raise DataNeededError(f"needs the corpus {TEXT}: `clearformer data list` says how to get it")
    sides = []
    for language in ("en", "de"):
        with gzip.open(folder / f"train.{language}.gz", "rt", encoding="utf-8") as lines:
            sides.append(
                [re.findall(r"\w+|[^\w\s]", line.lower()) for line, _ in zip(lines, range(count), strict=False)]
            )
    return list(zip(*sides, strict=True))


def _interval(worse: Sequence[Links], better: Sequence[Links], gold: Sequence[Links]) -> list[float]:
    """The 95 % interval of a difference of error rates, by drawing sentences again."""
    draw, apart = random.Random(0), []
    for _ in range(500):
        rows = [draw.randrange(len(gold)) for _ in gold]
        one, other = (
            alignment_error([side[row] for row in rows], [gold[row] for row in rows]) for side in (worse, better)
        )
        apart.append(one - other)
    apart.sort()
    return [apart[12], apart[487]]


def _chinese(pairs: Sequence[LinkedPair], rounds: int) -> dict[str, float]:
    """Without a translator of ours: the diagonal, the aligner with these sentences alone, and a multilingual BERT."""
    gold, possible = [one.links for one in pairs], [one.possible for one in pairs]
    texts = [(one.source, one.target) for one in pairs]
    aligner = WordAligner(texts, rounds=rounds)
    return {
        "diagonal": alignment_error([diagonal_links(*text) for text in texts], gold, possible),
        "aligner": alignment_error([aligner.links(*text) for text in texts], gold, possible),
        "awesome-align": alignment_error([one.others for one in pairs], gold, possible),
    }


def conclude(found: Sequence[Measurement]) -> Findings:
    """The best head against the diagonal, and how rare it is."""
    [one] = found
    values = one.values
    errors: dict[str, float] = values["errors"]
    ranked = sorted(errors.items(), key=lambda item: item[1])
    heads = [error for name, error in errors.items() if "head" in name and name.endswith("writes")]
    table = MeasuredTable(
        title=Bilingual("German–English: alignment error rate, best first", "德–英：对齐错误率，从好到差"),
        columns=(Bilingual("links of", "链接来自"), Bilingual("error rate", "错误率")),
        rows=[
            (
                Bilingual("aligner (IBM model 2 with a diagonal)", "统计对齐（IBM 模型 2 加对角线先验）"),
                number(values["aligner"]),
            ),
            (Bilingual("diagonal", "对角线"), number(values["diagonal"])),
            *((name, number(error)) for name, error in ranked[:16]),
        ],
    )
    return Findings(
        claims=[
            Check(
                says=Bilingual("error rate of the aligner − of the best head", "错误率：统计对齐 − 最好的头"),
                values=values["over_aligner"],
                low=0.0,
            ),
            Check(
                says=Bilingual("error rate of the diagonal − of the best head", "错误率：对角线 − 最好的头"),
                values=values["over_diagonal"],
                low=0.0,
            ),
        ],
        conditions=[
            Check(
                says=Bilingual("error rate of the median head − of the best", "错误率：中位的头 − 最好的头"),
                values=[statistics.median(heads) - errors[values["best"]]],
                low=0.05,
            ),
        ],
        tables=[table, _chinese_table(values)],
        figures=[
            draw_bars(
                "errors",
                Bilingual(
                    "Alignment error rate of each head (row that writes the word)", "各头的对齐错误率（写出该词的一行）"
                ),
                [(name.removesuffix(", writes"), error) for name, error in errors.items() if name.endswith("writes")],
            )
        ],
    )


def _chinese_table(values: Measured) -> MeasuredTable:
    return MeasuredTable(
        title=Bilingual("Chinese–English, beside other aligners", "中–英：其他对齐方法"),
        columns=(Bilingual("links of", "链接来自"), Bilingual("error rate", "错误率")),
        rows=[(name, number(error)) for name, error in values["chinese"].items()],
    )


EXPERIMENT = Experiment(
    name="word-alignment",
    number="15",
    question=Bilingual("Is cross-attention an alignment of words?", "交叉注意力就是词对齐吗？"),
    claim=Bilingual(
        "each decoder token queries all encoder tokens, equivalent to the attention of seq2seq",
        "每个 Decoder token 查询 Encoder 全部 token 的信息，等价于 seq2seq 中的 attention",
    ),
    expected=Bilingual(
        "an aligner made for it is clearly better than any head; single heads are near the diagonal",
        "专门的对齐方法明显好于任何一个头；单个头与对角线相差不多",
    ),
    answer=Bilingual(
        "The decoder's queries meet the encoder's keys in every layer, and each target token takes a mean of the "
        "encoder's "
        "values: that is how the two interact. But nothing tells a head to align words. It looks where something "
        "helps to "
        "choose the next token, and states of the encoder hold more than their own word. So a map of weights is not an "
        "alignment: say which head, which row, and hold it against words that people linked.",
        "每一层里，解码器的查询与编码器的键相遇，每个目标词元取编码器各个值的加权平均：两端就是这样交互的。但没有谁要"
        "求某个"
        "头去对齐词。它看的是有助于选出下一个词元的地方，而编码器的每个状态里不止有自己那个词。所以权重图不等于词对齐："
        "要说明是哪个头、哪一行，并拿人工对齐来检验。",
    ),
    code=("src/clearformer/model/layers.py", "src/clearformer/lab/word_aligner.py"),
    measure=measure,
    conclude=conclude,
    seeds=ONCE,
    minutes=1,
)
