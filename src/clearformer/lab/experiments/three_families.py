"""Claim (the notes): an encoder alone suits classification, a decoder alone continues texts, an encoder–decoder maps
one text to another, as in translation.

Expected, at equal size and trained alike: whether a sentence was a question, all three can tell; a decoder
alone also translates, about as well as the encoder–decoder. An encoder alone, which fills in all places at once,
classifies, and translates far worse: no place knows what the others say.
"""

from collections.abc import Sequence

from clearformer.data.catalogue.fetch import get
from clearformer.lab.bilingual import Bilingual
from clearformer.lab.comparison import (
    BLEU,
    LOSS,
    Variant,
    difference_check,
    scores_of,
    train_variant,
)
from clearformer.lab.drawing import draw_bars
from clearformer.lab.experiment import (
    Experiment,
    Findings,
    Measured,
    MeasuredTable,
    Measurement,
    Seeds,
    Trial,
    column,
)
from clearformer.lab.kept_results import usual_folder
from clearformer.lab.lost_marks import write_unmarked
from clearformer.lab.one_stack import become_decoder, become_encoder
from clearformer.lab.trained_networks import TrainedNetwork
from clearformer.lab.verdicts import spread

# 2 + 2 layers with cross-attention have 56·d² weights; so have 4 layers whose feed-forward parts are 5·d wide.
ONE_STACK = ("model.layers=4", "model.decoder_layers=1", "model.hidden_dim=320")
PAIR, WRITER, READER = "encoder-decoder", "decoder", "encoder"
FAMILIES = (
    Variant(name=PAIR, label=Bilingual("encoder–decoder", "编码器–解码器")),
    Variant(name=WRITER, label=Bilingual("decoder alone", "纯解码器"), changes=ONE_STACK, adjust=become_decoder),
    Variant(name=READER, label=Bilingual("encoder alone", "纯编码器"), changes=ONE_STACK, adjust=become_encoder),
)
TRANSLATE, ASKED = "translation", "question"
CASES = tuple(f"{family.name}, {task}" for task in (TRANSLATE, ASKED) for family in FAMILIES)


def measure(trial: Trial) -> Measured:
    """Train one family on one task; where it is classification, count the right labels."""
    name, task = trial.case.split(", ")
    family = next(one for one in FAMILIES if one.name == name)
    more = _unmarked() if task == ASKED else ()
    variant = Variant(name=trial.case, label=family.label, changes=(*family.changes, *more), adjust=family.adjust)
    network = train_variant(trial, (variant,))
    return scores_of(network) if task == TRANSLATE else {**scores_of(network), "right": _right(network)}


def _unmarked() -> tuple[str, ...]:
    """The same recipe with other files: a sentence without its last mark, and the word that says what it was."""
    files = write_unmarked(get("sample") / "train.en.gz", usual_folder() / "lost-marks")
    return ("training.steps=150", *(f"data.{name}={path}" for name, path in files.items()))


def _right(network: TrainedNetwork) -> float:
    """The share of the development sentences whose label it writes."""
    predictor, held = network.predictor(), network.prepared.held
    predictor.stepper = predictor.readable
    written = predictor.translate(held.sources, network.recipe.use, any_language=True)
    right = sum(bool(one.text == label) for one, label in zip(written, held.references, strict=True))
    return right / len(written)


def conclude(found: Sequence[Measurement]) -> Findings:
    """Each family's own field, and how far the others get in it."""
    reads, writes, maps = (f"{name}, {TRANSLATE}" for name in (READER, WRITER, PAIR))
    read, wrote = (f"{name}, {ASKED}" for name in (READER, WRITER))
    return Findings(
        claims=[
            difference_check(
                found,
                Bilingual("translation: loss, decoder alone − encoder–decoder", "翻译：损失，纯解码器 − 编码器–解码器"),
                (writes, maps),
            ),
            difference_check(
                found,
                Bilingual(
                    "question or not: right, encoder alone − decoder alone", "是否问句：正确率，纯编码器 − 纯解码器"
                ),
                (read, wrote),
                key="right",
            ),
        ],
        conditions=[
            difference_check(
                found,
                Bilingual("translation: loss, encoder alone − encoder–decoder", "翻译：损失，纯编码器 − 编码器–解码器"),
                (reads, maps),
                low=0.1,
            ),
        ],
        tables=[_table(found)],
        figures=[
            draw_bars(
                "loss",
                Bilingual("Translation: loss per token", "翻译：每词元损失"),
                [(one.label, _mean(found, "loss", f"{one.name}, {TRANSLATE}")) for one in FAMILIES],
            ),
            draw_bars(
                "asked",
                Bilingual("Question or statement: share of right answers", "问句还是陈述句：答对的比例"),
                [(one.label, _mean(found, "right", f"{one.name}, {ASKED}")) for one in FAMILIES],
            ),
        ],
    )


def _mean(found: Sequence[Measurement], key: str, case: str) -> float:
    values = column(found, key, case)
    return sum(values) / len(values)


def _table(found: Sequence[Measurement]) -> MeasuredTable:
    rows = []
    for one in FAMILIES:
        translates, asks = f"{one.name}, {TRANSLATE}", f"{one.name}, {ASKED}"
        numbers = [column(found, key, translates) for key in ("parameters", "loss", "bleu")]
        rows.append([one.label, *map(spread, numbers), spread(column(found, "right", asks))])
    return MeasuredTable(
        title=Bilingual(
            "English to French; and whether a sentence without its last mark was a question",
            "英译法；以及去掉句末标点后，判断原句是不是问句",
        ),
        columns=[
            Bilingual("family", "类型"),
            Bilingual("parameters", "参数量"),
            LOSS,
            BLEU,
            Bilingual("question: right", "是否问句：正确率"),
        ],
        rows=rows,
    )


EXPERIMENT = Experiment(
    name="three-families",
    number="–",
    question=Bilingual(
        "Encoder, decoder, or both: what is each family good for?", "纯编码器、纯解码器、编码器–解码器，各适合做什么？"
    ),
    claim=Bilingual(
        "an encoder alone suits text classification; a decoder alone completes a sequence by the next word; an "
        "encoder–decoder suits translation and summaries",
        "纯编码器非常适合用于文本分类或命名实体识别等任务；纯解码器通过迭代预测下一个词来自动完成序列；"
        "编码器-解码器适用于机器翻译和摘要任务",
    ),
    expected=Bilingual(
        "all three classify; a decoder alone translates about as well as the pair; an encoder alone translates far "
        "worse",
        "三者都能分类；纯解码器翻译得与编码器–解码器相近；纯编码器翻译差得多",
    ),
    answer=Bilingual(
        "What separates the families is a mask. An encoder sees both sides, so each of its vectors knows the whole "
        "sentence; but if it fills in all places at once, none of them knows what the others say. A decoder sees one "
        "side only, and can therefore write word by word; with the source as the beginning of its text it "
        "translates, and with a label as the next word it classifies. An encoder–decoder has both, and cross-attention "
        "in between. So the families are habits, not basks: today's decoders do all of it.",
        "把三类模型区分开的，是掩码。编码器左右都看，每个向量都知道整句话；可要是一次填完所有位置，谁也不知道别的位置填"
        "了什么。解码器只看一边，因此能逐词往下写：把原文当作开头，它就能翻译；把标签当作下一个词，它就能分类。编码器–解码"
        "器两样都有，中间用交叉注意力相连。所以这三类是习惯用法，不是界线：如今的解码器什么都做。",
    ),
    code=("src/clearformer/lab/one_stack.py", "src/clearformer/model/masks.py"),
    measure=measure,
    conclude=conclude,
    cases=CASES,
    seeds=Seeds(quick=1, full=3),
    minutes=4,
)
