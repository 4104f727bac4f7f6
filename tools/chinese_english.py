"""Gather the open Chinese–English text that the models `zh-en` and `en-zh` learn from into one folder.

    python tools/chinese_english.py OUT --packages DEBS

Read are the folders of CLEARFORMER_DATA, and the two packages of LibreOffice's help, if they lie in DEBS:

    apt-get download libreoffice-help-en-us libreoffice-help-zh-cn

Written are OUT/NAME.zh and OUT/NAME.en, line by line, for each source of pairs; and OUT/NAME.zh alone for Chinese that
a teacher translates (tools/teacher_lines.py writes OUT/NAME.teacher.en). What is not kept is counted.

| name | text | licence |
|---|---|---|
| tatoeba | everyday sentences, the training part of `zh-en` | CC BY 2.0 FR |
| kubernetes | documentation | CC BY 4.0 |
| python | documentation | PSF; translation CC0 |
| gnome | GNOME's user documentation | CC BY 3.0 |
| office | LibreOffice's help | MPL-2.0 |
| bible | every eighth verse | public domain |
| terms | terms of computing and science in made sentences, from tools/terms.tsv | Apache-2.0 |
| made | made names and numbers in sentences of tools/made_sentences.tsv | Apache-2.0 |
| dictionary | CC-CEDICT, words and their first meaning | CC BY-SA 4.0 |
| encyclopaedia (Chinese only) | paragraphs of Wikipedia, and questions: CMRC 2018 | CC BY-SA 4.0 |
| more-encyclopaedia (Chinese only) | the same of DRCD, in simplified characters | CC BY-SA 3.0 |
| modern (Chinese only) | modern side of classical texts | MIT |

Also written are dev.zh and dev.en, the development part of `zh-en`, and encyclopaedia-dev and encyclopaedia-test:
sentences of XQuAD (CC BY-SA 4.0), paragraphs of Wikipedia that people translated, never learned from.

No sentence of the development and test parts of `zh-en` is among it, on either side: letters, digits and characters
are compared, not case, punctuation and spaces.
"""

import argparse
import json
import os
import re
import sys
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path

from made_sentences import made as made_sentences
from open_text import MARKUP, Pair, by_chance, every, key, lines, office, table

# A pair is Chinese, English.
WORDS, CHARACTERS = 36, 64  # more are left out: a small model learns most, per minute, from short sentences
BIBLE_SHARE = 8
MADE_TIMES = 400
TERMS = Path(__file__).with_name("terms.tsv")
MADE = (
    ("{}", "{}"),
    ("什么是{}？", "What is {}?"),
    ("我不懂{}。", "I do not understand {}."),
    ("这本书讲的是{}。", "This book is about {}."),
    ("你能解释一下{}吗？", "Can you explain {}?"),
    ("{}是什么意思？", 'What does "{}" mean?'),
)
CJK = "\u3400-\u9fff"
SPACE_IN_CHINESE = re.compile(rf"(?<=[{CJK}，。；：！？、（）“”「」]) (?=[{CJK}，。；：！？、（）“”「」])")
ENTRY = re.compile(r"(\S+) (\S+) \[[^\]]*\] /(.*)/")
CHINESE_SENTENCE = re.compile(r"[^。！？]+[。！？]+[”」』）]*|[^。！？]+$")
ENGLISH_END = re.compile(r"(?<=[.!?])\s+(?=[\"“(A-Z0-9])")
ASIDE = re.compile(r"\([^)]*\)")
NO_MEANING = re.compile(
    r"variant of|surname |see |abbr\. |used in|CL:|particle|classifier|\[|old name|pr\. |also |idiom|lit\. |fig\. |"
    r"[a-z]+ county|county in|district of|city in|town in|prefecture|dynasty|Taiwan pr"
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--packages", type=Path, help="folder with the two packages of LibreOffice's help")
    asked = parser.parse_args()
    data = Path(os.environ["CLEARFORMER_DATA"])
    asked.out.mkdir(parents=True, exist_ok=True)
    held = {
        key(line)
        for part in ("val", "test")
        for side in ("zh", "en")
        for line in lines(data / f"zh-en/{part}.{side}.gz")
    }
    sources: dict[str, Callable[[], Iterator[Pair]]] = {
        "tatoeba": lambda: zip(lines(data / "zh-en/train.zh.gz"), lines(data / "zh-en/train.en.gz"), strict=True),
        "kubernetes": lambda: table(data / "software/kubernetes-docs.en-zh.tsv.gz", 1, 0),
        "python": lambda: table(data / "software/python-docs.en-zh.tsv.gz", 1, 0),
        "gnome": lambda: table(data / "software/gnome-docs-and-games.en-zh.tsv.gz", 2, 1, only="gnome-user-docs"),
        "bible": lambda: every(table(data / "bible/web-luther1912-cuv.en-de-zh.tsv.gz", 3, 1), BIBLE_SHARE),
        "terms": lambda: made(TERMS),
        "made": lambda: made_sentences("zh", "en", times=MADE_TIMES),
        "dictionary": lambda: dictionary(data / "dictionaries/cc-cedict.u8.gz"),
    }
    if asked.packages:
        sources["office"] = lambda: chain(*office(asked.packages, "zh-cn", "en-us").values())
    for name, pairs in sources.items():
        write(asked.out, name, pairs(), held, sentences=name not in ("dictionary", "terms", "made"))
    for side in ("zh", "en"):
        copy = "".join(f"{line}\n" for line in lines(data / f"zh-en/val.{side}.gz"))
        (asked.out / f"dev.{side}").write_text(copy, encoding="utf-8")
    wikipedia = list(parallel_sentences(data / "squad/xquad"))
    for part, chosen in (("dev", wikipedia[1::6]), ("test", wikipedia[::2][:300])):
        for side, language in enumerate(("zh", "en")):
            text = "".join(f"{tidy(pair[side])}\n" for pair in chosen)
            (asked.out / f"encyclopaedia-{part}.{language}").write_text(text, encoding="utf-8")
    simplify = Simplifier(data / "dictionaries/cc-cedict.u8.gz")
    for name, texts in (
        ("encyclopaedia", encyclopaedia(data / "chinese/cmrc2018/trial.json.gz")),
        ("more-encyclopaedia", map(simplify, encyclopaedia(data / "chinese/drcd/dev.json.gz"))),
        ("modern", prose(data / "classical-modern-zh/train.tsv.gz")),
    ):
        chosen = sorted(set(texts), key=by_chance)
        (asked.out / f"{name}.zh").write_text("".join(f"{line}\n" for line in chosen), encoding="utf-8")
        print(f"{name}: {len(chosen):,} sentences for a teacher", file=sys.stderr)


def write(out: Path, name: str, pairs: Iterator[Pair], held: set[str], *, sentences: bool) -> None:
    """One source, cleaned; every pair once."""
    left_out: Counter[str] = Counter()
    kept: dict[Pair, None] = {}
    tidied = ((tidy(chinese), tidy(english)) for chinese, english in pairs)
    for pair in (part for whole in tidied for part in shortened(whole)):
        reason = problem(pair, held) if sentences else held_back(pair, held)
        if reason or pair in kept:
            left_out[reason or "there before"] += 1
        else:
            kept[pair] = None
    for side, suffix in enumerate(("zh", "en")):
        text = "".join(f"{pair[side]}\n" for pair in kept)
        (out / f"{name}.{suffix}").write_text(text, encoding="utf-8")
    why = ", ".join(f"{count:,} {reason}" for reason, count in left_out.most_common())
    print(f"{name}: {len(kept):,} pairs; left out: {why or 'none'}", file=sys.stderr)


def tidy(text: str) -> str:
    """One kind of space, none inside Chinese, and no colons that open a block of code."""
    text = " ".join(unicodedata.normalize("NFC", text).replace("::", ":").split())
    return SPACE_IN_CHINESE.sub("", text)


def problem(pair: Pair, held: set[str]) -> str | None:
    """Why a pair of sentences is not for learning; None if it is."""
    chinese, english = pair
    characters, words = len(re.findall(f"[{CJK}]", chinese)), len(english.split())
    if not characters or not re.search("[A-Za-z]", english):
        return "without Chinese or English"
    if is_long(pair):
        return "long"
    if MARKUP.search(chinese) or MARKUP.search(english):
        return "with markup or code"
    if re.search(f"[{CJK}]", english) or characters < len(re.findall("[A-Za-z]", chinese)):
        return "half translated"
    if not 1 / 4 < (characters + 3) / (1.6 * words + 3) < 3:
        return "of unlike length"
    return held_back(pair, held)


def shortened(pair: Pair) -> list[Pair]:
    """A paragraph that is too long sentence by sentence, where both sides have equally many."""
    return sentence_pairs(pair) or [pair] if is_long(pair) else [pair]


def is_long(pair: Pair) -> bool:
    return len(pair[1].split()) > WORDS or len(pair[0]) > CHARACTERS


def sentence_pairs(pair: Pair) -> list[Pair]:
    """None where the numbers of sentences differ."""
    chinese = [one.strip() for one in CHINESE_SENTENCE.findall(pair[0])]
    english = [one.strip() for one in ENGLISH_END.split(pair[1])]
    return list(zip(chinese, english, strict=True)) if len(chinese) == len(english) else []


def held_back(pair: Pair, held: set[str]) -> str | None:
    return "in the development or test part" if key(pair[0]) in held or key(pair[1]) in held else None


def dictionary(path: Path) -> Iterator[Pair]:
    """Words of two characters or more with their first plain meaning, and the first two as a second pair."""
    for line in lines(path):
        match = ENTRY.fullmatch(line)
        if line.startswith("#") or match is None or len(match[2]) < 2 or not re.fullmatch(f"[{CJK}]+", match[2]):
            continue
        meanings = [" ".join(ASIDE.sub("", one).split()) for one in match[3].split("/") if not NO_MEANING.search(one)]
        meanings = [one.split(";")[0].split(", ")[0] for one in meanings if one and len(one.split()) <= 5]
        if meanings:
            yield match[2], meanings[0]


def made(path: Path) -> Iterator[Pair]:
    """Every term in every sentence; alone and quoted without its article."""
    for row in path.read_text(encoding="utf-8").splitlines():
        chinese, english = row.split("\t")
        for left, right in MADE:
            bare = re.sub("^(an?|the) ", "", english)
            yield left.format(chinese), right.format(bare if right in ("{}", 'What does "{}" mean?') else english)


def parallel_sentences(folder: Path) -> Iterator[Pair]:
    """Sentences of XQuAD's paragraphs of Wikipedia, where both languages have equally many."""
    sides = [json.loads("".join(lines(folder / f"xquad.{language}.json.gz"))) for language in ("zh", "en")]
    contexts = [[one["context"] for article in side["data"] for one in article["paragraphs"]] for side in sides]
    for pair in zip(*contexts, strict=True):
        yield from sentence_pairs(pair)


def encyclopaedia(path: Path) -> Iterator[str]:
    """Sentences of the paragraphs of CMRC 2018 or DRCD, and the questions."""
    for article in json.loads("".join(lines(path)))["data"]:
        for one in article["paragraphs"]:
            texts = [*CHINESE_SENTENCE.findall(one["context"]), *(question["question"] for question in one["qas"])]
            yield from (text.strip() for text in texts if 8 <= len(text.strip()) <= 50 and "formula" not in text)


class Simplifier:
    """Traditional characters as simplified ones: by the words of the dictionary, else by each one's usual partner."""

    def __init__(self, path: Path) -> None:
        partners: dict[str, Counter[str]] = {}
        words = {}
        for line in lines(path):
            match = ENTRY.fullmatch(line)
            if match is None or line.startswith("#") or len(match[1]) != len(match[2]):
                continue
            words[match[1]] = match[2]
            for traditional, simplified in zip(match[1], match[2], strict=True):
                partners.setdefault(traditional, Counter())[simplified] += 1
        usual = {ord(one): found.most_common(1)[0][0] for one, found in partners.items()}
        self._usual = usual
        self._words = {
            one: other for one, other in words.items() if 2 <= len(one) <= 4 and one.translate(usual) != other
        }
        longest_first = sorted(map(re.escape, self._words), key=len, reverse=True)
        self._parts = re.compile("|".join([*longest_first, "."]), re.DOTALL)

    def __call__(self, text: str) -> str:
        return "".join(self._words.get(part) or part.translate(self._usual) for part in self._parts.findall(text))


def prose(path: Path) -> Iterator[str]:
    """Modern sentences of ordinary length that are one whole sentence."""
    for line in lines(path):
        text = line.split("\t")[2].strip()
        if 6 <= len(text) <= 24 and re.fullmatch(f"[{CJK}].*[。！？]", text) and not re.search("[a-zA-Z□○●<>]", text):
            yield text


if __name__ == "__main__":
    main()
