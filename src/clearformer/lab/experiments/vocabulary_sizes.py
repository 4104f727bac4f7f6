"""Claim (question 18, which the notes skip): sub-words make texts shorter than letters, and translation better.

Expected: the larger the vocabulary, the fewer pieces per word. Per word, the loss of byte-pair encoding and of a
unigram model of one size lie close together; letters are clearly worse after a training of the same number of steps,
since a batch then holds fewer sentences.
"""

from collections.abc import Sequence

from clearformer.lab.bilingual import Bilingual
from clearformer.lab.comparison import (
    BLEU,
    Variant,
    difference_check,
    names,
    scores_of,
    train_variant,
    variants_figure,
    within_check,
)
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
from clearformer.lab.verdicts import spread

VARIANTS = (
    Variant(name="letters", label=Bilingual("letters", "字符"), changes=("data.vocabulary.kind=character",)),
    Variant(
        name="bpe-300",
        label=Bilingual("byte-pair encoding, 300", "BPE，300"),
        changes=("data.vocabulary.vocab_size=300",),
    ),
    Variant(name="bpe-1000", label=Bilingual("byte-pair encoding, 1,000", "BPE，1000")),
    Variant(
        name="unigram-1000",
        label=Bilingual("unigram model, 1,000", "一元模型，1000"),
        changes=("data.vocabulary.kind=unigram",),
    ),
    Variant(
        name="bpe-3000",
        label=Bilingual("byte-pair encoding, 3,000", "BPE，3000"),
        changes=("data.vocabulary.vocab_size=3000",),
    ),
)


def measure(trial: Trial) -> Measured:
    """Train with one vocabulary; losses per token are told per word, or they could not be compared."""
    network = train_variant(trial, VARIANTS)
    values, held = scores_of(network), network.prepared.held
    words = sum(len(text.split()) for text in held.references)
    pieces = sum(len(target) for _, target in network.prepared.dev)
    ends = len(held.references)  # each sentence also ends once
    return {
        **values,
        "pieces": pieces / words,
        "per_word": values["loss"] * (pieces + ends) / words,
        "vocabulary": network.prepared.preprocessing.sides[0].vocab_size,
    }


def conclude(found: Sequence[Measurement]) -> Findings:
    """Length, and quality per word."""
    return Findings(
        claims=[
            difference_check(
                found,
                Bilingual("pieces per word, letters − 1,000 pieces", "每词词元数，字符 − BPE 1000"),
                ("letters", "bpe-1000"),
                key="pieces",
                low=1.0,
            ),
            difference_check(
                found,
                Bilingual("loss per word, letters − 1,000 pieces", "每词损失，字符 − BPE 1000"),
                ("letters", "bpe-1000"),
                key="per_word",
            ),
        ],
        conditions=[
            within_check(
                found,
                Bilingual(
                    "loss per word, unigram − byte-pair encoding: no more than 0.3 either way",
                    "每词损失，一元模型 − BPE：相差不超过 0.3",
                ),
                ("unigram-1000", "bpe-1000"),
                key="per_word",
                most=0.3,
            )
        ],
        tables=[_table(found)],
        figures=[
            variants_figure(Bilingual("Loss per word by vocabulary", "每词损失与词表"), found, VARIANTS, "per_word")
        ],
    )


def _table(found: Sequence[Measurement]) -> MeasuredTable:
    return MeasuredTable(
        title=Bilingual("English to French; French words of the development set", "英译法；开发集的法语词"),
        columns=(
            Bilingual("vocabulary", "词表"),
            Bilingual("size", "大小"),
            Bilingual("pieces per word", "每词词元数"),
            Bilingual("loss per word", "每词损失"),
            BLEU,
        ),
        rows=[
            (
                one.label,
                *(spread(column(found, key, one.name)) for key in ("vocabulary", "pieces", "per_word", "bleu")),
            )
            for one in VARIANTS
        ],
    )


EXPERIMENT = Experiment(
    name="vocabulary-sizes",
    number="18",
    question=Bilingual("What do sub-words change in length and quality?", "子词对长度和翻译质量有什么影响？"),
    claim=Bilingual(
        "(the question is missing in the notes) sub-words are shorter than letters and translate better",
        "（笔记缺这一题）子词比字符短，翻译也更好",
    ),
    expected=Bilingual(
        "several times fewer pieces than letters; a lower loss per word; the two algorithms near one another",
        "词元数只有字符的几分之一；每词损失更低；两种算法相差不多",
    ),
    answer=Bilingual(
        "A vocabulary of pieces cuts the number of steps that a sentence takes, so a batch holds more sentences and a "
        "layer reaches farther. Too many pieces make each one rare: a small corpus teaches them badly. Losses per "
        "token "
        "of different vocabularies cannot be compared, since a token is not the same amount of text; losses per "
        "word, and "
        "BLEU, can. How pieces are found, by merging pairs or by a unigram model, matters less than how many there "
        "are.",
        "子词减少了一个句子的步数，于是一批能装更多句子，一层也够得更远。词表太大，每个词元就太少见，小语料教不好它们。"
        "不同词表的每词元损失不能比较，因为一个词元代表的文本长短不同；每词损失和 BLEU 才能比。"
        "词元怎样得来（合并词对，还是一元模型），不如有多少个来得重要。",
    ),
    code=("src/clearformer/text/train_tokenizer.py", "src/clearformer/lab/readable_bpe.py"),
    measure=measure,
    conclude=conclude,
    cases=names(VARIANTS),
    seeds=Seeds(quick=1, full=3),
    minutes=6,
)
