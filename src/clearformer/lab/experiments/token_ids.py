"""Claim: BERT's tokenizer turns "I love NLP" into 101, 1045, 2293, 8723, 2361, 102.

Expected: 101, 1045, 2293, 17953, 2361, 102. The pieces are right, and the number of "nl" is not.
"""

import os
from collections.abc import Sequence
from pathlib import Path

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
from clearformer.lab.readable_wordpiece import split_word
from clearformer.lab.verdicts import Check

TEXT = "i love nlp"
WRITTEN = (101, 1045, 2293, 8723, 2361, 102)
VOCABULARY = Path("tokenizers") / "bert-base-uncased" / "vocab.txt"


def measure(trial: Trial) -> Measured:
    """Look the pieces up in the published vocabulary."""
    pieces = _published()
    number = {piece: place for place, piece in enumerate(pieces)}
    found = ["[CLS]", *(piece for word in TEXT.split() for piece in split_word(word, number)), "[SEP]"]
    return {"pieces": found, "ids": [number[piece] for piece in found], "of_8723": pieces[WRITTEN[3]]}


def _published() -> list[str]:
    """The vocabulary of bert-base-uncased, one piece per line."""
    folder = os.environ.get("CLEARFORMER_DATA")
    file = Path(folder or ".") / VOCABULARY
    if folder is None or not file.is_file():
        raise DataNeededError(
            f"this needs the vocabulary of bert-base-uncased (vocab.txt, 232 kB, from the model's page on the Hugging "
            f"Face hub); put it to {VOCABULARY} below a folder, and let CLEARFORMER_DATA name that folder"
        )
    return file.read_text(encoding="utf-8").splitlines()


def conclude(found: Sequence[Measurement]) -> Findings:
    """Six numbers, one by one."""
    [one] = found
    ids, pieces = one.values["ids"], one.values["pieces"]
    table = MeasuredTable(
        title=Bilingual(
            "“I love NLP” in the vocabulary of bert-base-uncased", "bert-base-uncased 词表中的 “I love NLP”"
        ),
        columns=(
            Bilingual("piece", "词片"),
            Bilingual("number in the note", "笔记里的编号"),
            Bilingual("in the vocabulary", "词表里的编号"),
        ),
        rows=[(piece, str(told), str(right)) for piece, told, right in zip(pieces, WRITTEN, ids, strict=True)],
    )
    remark = MeasuredTable(
        title=Bilingual("What 8723 is", "8723 是什么"),
        columns=(Bilingual("number", "编号"), Bilingual("piece", "词片")),
        rows=[("8723", one.values["of_8723"])],
    )
    figure = draw_bars(
        "ids",
        Bilingual("Numbers of the pieces in the vocabulary", "各词片在词表中的编号"),
        [(piece, float(right)) for piece, right in zip(pieces, ids, strict=True)],
    )
    wrong = sum(told != right for told, right in zip(WRITTEN, ids, strict=True))
    return Findings(
        claims=[Check(says=Bilingual("numbers that differ", "不一致的编号个数"), values=[float(wrong)], high=0.0)],
        tables=[table, remark],
        figures=[figure],
    )


EXPERIMENT = Experiment(
    name="token-ids",
    number="–",
    question=Bilingual("Which ids does “I love NLP” have?", "“I love NLP” 的 token id 是什么？"),
    claim=Bilingual(
        "[CLS] I love NL ##P [SEP] has the ids 101, 1045, 2293, 8723, 2361, 102",
        "转成 Token IDs： [101, 1045, 2293, 8723, 2361, 102]",
    ),
    expected=Bilingual("101 1045 2293 17953 2361 102", "101 1045 2293 17953 2361 102"),
    answer=Bilingual(
        "An id is a line number of the vocabulary's file, so it can be looked up: “nl” stands on line 17953, and "
        "8723 is "
        "another piece. The lower-cased vocabulary has “nl” and “##p”, which is right in the note up to the capitals. "
        "An id means nothing without its vocabulary: the same number is another piece in every other model.",
        "词元编号就是词表文件里的行号，一查便知：“nl” 在第 17953 行，8723 是另一个词片。这个词表只有小写，切成 “nl” "
        "和 “##p”，笔记除了大小写以外"
        "切得没错。编号离开词表就没有意义：同一个数字，在别的模型里是别的词片。",
    ),
    code=("src/clearformer/lab/readable_wordpiece.py", "src/clearformer/text/tokenizer.py"),
    measure=measure,
    conclude=conclude,
    seeds=ONCE,
)
