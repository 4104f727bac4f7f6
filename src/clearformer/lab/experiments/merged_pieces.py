"""Claim (question 18, which the notes skip): byte-pair encoding merges the most frequent pair, again and again;
WordPiece merges the likeliest one and splits by the longest match.

Expected: BPE written out in forty lines learns the very merges of the `tokenizers` library and splits like it, and
so does WordPiece's longest match. Texts become several times shorter than in letters, the more the larger the
vocabulary.
"""

import gzip
import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

import tokenizers
from tokenizers import models, pre_tokenizers, trainers

from clearformer.data.catalogue.corpora import find_corpus
from clearformer.lab import readable_bpe, readable_wordpiece
from clearformer.lab.bilingual import Bilingual
from clearformer.lab.drawing import Curves, draw_curves
from clearformer.lab.experiment import (
    ONCE,
    Experiment,
    Findings,
    Measured,
    MeasuredFigure,
    MeasuredTable,
    Measurement,
    Trial,
)
from clearformer.lab.verdicts import Check, number

SHOWN = 12  # first merges in the table
STEPS = 8  # points of the curve


def measure(trial: Trial) -> Measured:
    """Learn from English sentences, split held-out ones, and ask the library for the same."""
    lines, merges = (600, 120) if trial.quick else (3000, 320)
    known, unseen = _words("train.en.gz", lines), _words("dev.en.gz", lines // 2)
    bpe = readable_bpe.learn_merges(known, merges)
    joins = readable_wordpiece.learn_joins(known, merges)
    library = _library_bpe(known, merges)
    vocabulary = _pieces(known, joins)
    reference = tokenizers.Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    same_split = [readable_bpe.encode_word(word, bpe) == library.encode(word).tokens for word in unseen]
    same_match = [readable_wordpiece.split_word(word, vocabulary) == reference.encode(word).tokens for word in unseen]
    sizes = [round(merges * step / STEPS) for step in range(STEPS + 1)]
    return {
        "merges": len(bpe),
        "same_merges": _agreement(bpe, [tuple(pair) for pair in _merges_of(library)]),
        "same_split": sum(same_split) / len(same_split),
        "same_match": sum(same_match) / len(same_match),
        "sizes": sizes,
        "letters": sum(len(word) * often for word, often in unseen.items()) / sum(unseen.values()),
        "length_bpe": [_merged_length(unseen, bpe[:size]) for size in sizes],
        "length_wordpiece": [_matched_length(unseen, _pieces(known, joins[:size])) for size in sizes],
        "first_bpe": ["".join(pair) for pair in bpe[:SHOWN]],
        "first_wordpiece": [readable_wordpiece.join(*pair) for pair in joins[:SHOWN]],
    }


def _words(file: str, lines: int) -> Counter[str]:
    """The words of the corpus that ships, in small letters, with how often they occur."""
    path = find_corpus("sample").folder / file
    with gzip.open(path, "rt", encoding="utf-8") as opened:
        text = [line for line, _ in zip(opened, range(lines), strict=False)]
    return Counter(word for line in text for word in re.findall(r"[a-z]+", line.lower()))


def _library_bpe(words: Mapping[str, int], merges: int) -> tokenizers.Tokenizer:
    """The same by the library: its vocabulary is the letters and as many merges."""
    letters = {letter for word in words for letter in word}
    tokenizer = tokenizers.Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    trainer = trainers.BpeTrainer(vocab_size=len(letters) + merges, min_frequency=0, show_progress=False)
    tokenizer.train_from_iterator((" ".join([word] * often) for word, often in words.items()), trainer)
    return tokenizer


def _merges_of(tokenizer: tokenizers.Tokenizer) -> list[list[str]]:
    merges: list[list[str]] = json.loads(tokenizer.to_str())["model"]["merges"]
    return merges


def _pieces(words: Mapping[str, int], joins: Sequence[tuple[str, str]]) -> dict[str, int]:
    """WordPiece's vocabulary: the letters in both forms, and what was joined."""
    letters = sorted({letter for word in words for letter in word})
    pieces = ["[UNK]", *letters, *("##" + letter for letter in letters)]
    pieces += [readable_wordpiece.join(*pair) for pair in joins]
    return {piece: place for place, piece in enumerate(dict.fromkeys(pieces))}


def _agreement(ours: Sequence[object], theirs: Sequence[object]) -> float:
    """The share of places at which both lists say the same."""
    return sum(a == b for a, b in zip(ours, theirs, strict=False)) / max(len(ours), len(theirs))


def _merged_length(words: Mapping[str, int], merges: Sequence[tuple[str, str]]) -> float:
    return _length(words, lambda word: readable_bpe.encode_word(word, merges))


def _matched_length(words: Mapping[str, int], vocabulary: Mapping[str, int]) -> float:
    return _length(words, lambda word: readable_wordpiece.split_word(word, vocabulary))


def _length(words: Mapping[str, int], split: Callable[[str], list[str]]) -> float:
    """Pieces per word of running text."""
    return sum(len(split(word)) * often for word, often in words.items()) / sum(words.values())


def conclude(found: Sequence[Measurement]) -> Findings:
    """The same as the library means: in every case."""
    [one] = found
    values = one.values
    first = MeasuredTable(
        title=Bilingual("The first joins", "最先合并的片段"),
        columns=(Bilingual("place", "次序"), "BPE", "WordPiece"),
        rows=[
            (place + 1, left, right)
            for place, (left, right) in enumerate(zip(values["first_bpe"], values["first_wordpiece"], strict=True))
        ],
    )
    lengths = MeasuredTable(
        title=Bilingual("Pieces per word in sentences that were not learned from", "未见过的句子：平均每个词的词片数"),
        columns=(Bilingual("merges", "合并次数"), "BPE", "WordPiece"),
        rows=[
            (size, number(left), number(right))
            for size, left, right in zip(values["sizes"], values["length_bpe"], values["length_wordpiece"], strict=True)
        ],
    )
    figure = _figure(values)
    return Findings(
        claims=[
            Check(
                says=Bilingual("BPE: merges that are the library's, in order", "BPE：与库逐次一致的合并比例"),
                values=[values["same_merges"]],
                low=1.0,
            ),
            Check(
                says=Bilingual("BPE: unseen words split as by the library", "BPE：未见词的切分与库一致的比例"),
                values=[values["same_split"]],
                low=1.0,
            ),
            Check(
                says=Bilingual(
                    "WordPiece: unseen words split as by the library", "WordPiece：未见词的切分与库一致的比例"
                ),
                values=[values["same_match"]],
                low=1.0,
            ),
            Check(
                says=Bilingual("pieces per word after all merges ÷ letters per word", "全部合并之后的词片数 ÷ 字母数"),
                values=[values["length_bpe"][-1] / values["letters"]],
                high=0.7,
            ),
        ],
        tables=[first, lengths],
        figures=[figure],
    )


def _figure(values: Measured) -> MeasuredFigure:
    return draw_curves(
        "length",
        Bilingual("Merges make texts shorter", "合并越多，文本越短"),
        Curves(
            x_label=Bilingual("merges", "合并次数"),
            y_label=Bilingual("pieces per word", "每词词片数"),
            lines=[
                ("BPE", list(zip(values["sizes"], values["length_bpe"], strict=True))),
                ("WordPiece", list(zip(values["sizes"], values["length_wordpiece"], strict=True))),
            ],
        ),
    )


EXPERIMENT = Experiment(
    name="merged-pieces",
    number="18",
    question=Bilingual(
        "What are WordPiece and byte-pair encoding?",
        "简单描述一下 wordpiece model 和 byte pair encoding？（笔记缺第 18 题）",
    ),
    claim=Bilingual(
        "(the question is missing in the notes) BPE merges the most frequent pair; WordPiece the one that makes the "
        "text "
        "likelier, and it splits by the longest match",
        "（笔记缺这一题）BPE 反复合并出现最多的一对；WordPiece 合并最能提高文本似然的一对，切分时取最长匹配",
    ),
    expected=Bilingual(
        "the library's merges and splits, all of them; fewer than 0.7 pieces per letter",
        "合并与切分和库完全一致；词片数不到字母数的 0.7",
    ),
    answer=Bilingual(
        "Both begin with letters and join pairs, so frequent words become one piece and rare ones stay spelled: "
        "nothing is "
        "out of vocabulary. BPE joins the pair that occurs most often, and splits a new word by replaying the "
        "merges in "
        "order. WordPiece joins the pair with the highest count(ab) ÷ (count(a)·count(b)), and splits by the "
        "longest piece "
        "that fits, with ## inside words. The `tokenizers` library trains its WordPiece with BPE's counts; only the "
        "splitting is BERT's.",
        "两者都从字母出发合并相邻的一对：常见词成为一个词片，生僻词仍拆开拼写，所以没有未登录词。BPE 每次合并出现最"
        "多的一对，切分新词时按学到的"
        "次序重放合并。WordPiece 合并 count(ab) ÷ (count(a)·count(b)) 最大的一对，切分时每次取能匹配的最长词片，词内"
        "的片段带 ## 前缀。"
        "`tokenizers` 库训练 WordPiece 时其实用的是 BPE 的计数，只有切分是 BERT 的做法。",
    ),
    code=(
        "src/clearformer/lab/readable_bpe.py",
        "src/clearformer/lab/readable_wordpiece.py",
        "src/clearformer/text/train_tokenizer.py",
    ),
    measure=measure,
    conclude=conclude,
    seeds=ONCE,
    minutes=1,
)
