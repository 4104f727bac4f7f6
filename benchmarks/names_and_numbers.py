"""Does a translator keep names and numbers? 500 made sentences; what is not in the translation is lost.

    python benchmarks/names_and_numbers.py en-de zh-en en-zh [--sentences 500] [--show 10]

No sentence is one of tools/made_sentences.tsv, which models may have learned from, and the names are real, from many
languages. A name is kept if it stands in the translation letter by letter (in German it may end in s). A number is
kept if its digits do: 12,480 and 12.480 are the same, and so are 3.5 and 3,5.
"""

import argparse
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass

import clearformer as cf

NAMES = """
Okonkwo Bergström Nakamura Kowalczyk Fernández Haddad Lindqvist Moreau Petrov Rossi Achterberg Mbeki O'Brien Yilmaz
Kaplan Novák Jankowska Al-Sayed Eriksson Tanaka Garibaldi Whitmore Zhukov Delacroix Ramanujan Ibrahimović Schuster
Abernathy Vasquez Thorvaldsen Adeyemi Castellano Dvořák Ferreira Gunnarsdóttir Hartmann Ivanova Jefferson Kimura Laurent
"""
PLACES = """
Timbuktu Ljubljana Heidelberg Valparaíso Samarkand Winnipeg Nairobi Uppsala Utrecht Bratislava Cardiff Dakar Tromsø
Halifax Izmir Jaipur Kigali Leipzig Mombasa Nashville Olomouc Porto Quito Rotterdam Salvador Tampere
"""  # which German and English spell alike
SENTENCES = {
    "en": """
        {name} arrived late.
        I saw {name} at the station.
        {name} and {name2} got married last year.
        Have you ever been to {place}?
        {name} has worked in {place} since {year}.
        The bridge in {place} is {big} metres long.
        {name} is looking for a flat in {place}.
        Can you tell {name} that I am ill?
        We need {small} chairs and {small2} tables.
        The library has {big} books.
        Our train leaves {place} at {time}.
        My flight is at {time}.
        He paid {decimal} dollars for it.
        The river is {big} kilometres long.
        {name2} sold the house to {name}.
        In {year}, {name} opened a shop in {place}.
        The temperature fell to {small} degrees.
        Turn to page {big} of the book.
        {name} scored {small} points.
        Bake it for {small} minutes at {big} degrees.
    """,
    "zh": """
        {name}迟到了。
        我在车站看见了{name}。
        {name}和{name2}去年结婚了。
        你去过{place}吗？
        {name}从{year}年起在{place}工作。
        {place}的那座桥长{big}米。
        {name}在{place}找房子。
        你能告诉{name}我病了吗？
        我们需要{small}把椅子和{small2}张桌子。
        图书馆有{big}本书。
        我们的火车{time}离开{place}。
        我的飞机{time}起飞。
        他为此付了{decimal}美元。
        这条河长{big}公里。
        {name2}把房子卖给了{name}。
        {year}年，{name}在{place}开了一家店。
        气温降到了{small}度。
        请翻到书的第{big}页。
        {name}得了{small}分。
        烤{small}分钟，温度{big}度。
    """,
}
WORDS = "name", "place"  # gaps that hold no number
GAP = re.compile(r"\{(\w+)\}")
LATIN = "[A-Za-zÀ-ž]"
NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")


@dataclass(frozen=True)
class Case:
    """A sentence, and what of it has to be in the translation."""

    text: str
    names: tuple[str, ...]
    numbers: tuple[str, ...]


def cases(language: str, count: int, seed: int = 1) -> Iterator[Case]:
    rows = [row.strip() for row in SENTENCES[language].strip().splitlines()]
    chance = random.Random(seed)
    for number in range(count):
        row = rows[number % len(rows)]
        gaps = fillings(chance)
        asked = GAP.findall(row)
        names = tuple(gaps[one] for one in asked if one.startswith(("name", "place")))
        yield Case(
            row.format(**gaps), names, tuple(gaps[one] for one in asked if not one.startswith(("name", "place")))
        )


def fillings(chance: random.Random) -> dict[str, str]:
    name, name2 = chance.sample(NAMES.split(), 2)
    return {
        "name": name,
        "name2": name2,
        "place": chance.choice(PLACES.split()),
        "year": str(chance.randint(1850, 2029)),
        "small": str(chance.randint(13, 99)),
        "small2": str(chance.randint(13, 99)),
        "big": f"{chance.randint(101, 9999)}" if chance.random() < 0.5 else f"{chance.randint(1001, 99999):,}",
        "time": f"{chance.randint(1, 23)}:{chance.randint(10, 59)}",
        "decimal": f"{chance.randint(1, 99)}.{chance.randint(1, 9)}",
    }


def kept_names(case: Case, translation: str) -> int:
    patterns = [rf"(?<!{LATIN}){re.escape(name)}(?:['’]?s)?(?!{LATIN})" for name in case.names]
    return sum(re.search(pattern, translation) is not None for pattern in patterns)


def kept_numbers(case: Case, translation: str) -> int:
    """Each number of the translation stands for one."""
    written = [digits(one) for one in NUMBER.findall(translation)]
    kept = 0
    for number in map(digits, case.numbers):
        if number in written:
            written.remove(number)
            kept += 1
    return kept


def digits(number: str) -> str:
    return re.sub(r"\D", "", number)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", help="model folders, or names of models that ship")
    parser.add_argument("--sentences", type=int, default=500)
    parser.add_argument("--show", type=int, default=5, help="how many translations that lost something to print")
    asked = parser.parse_args()
    print(f"{'model':20} {'names kept':>22} {'numbers kept':>22}")
    for model in asked.models:
        translator = cf.load(model)
        given = list(cases(translator.provenance["source_language"], asked.sentences))
        found = [one.text for one in translator.translate([case.text for case in given], any_language=True)]
        pairs = list(zip(given, found, strict=True))
        names = sum(kept_names(*pair) for pair in pairs), sum(len(case.names) for case in given)
        numbers = sum(kept_numbers(*pair) for pair in pairs), sum(len(case.numbers) for case in given)
        cells = " ".join(f"{f'{kept} of {count}':>14} {kept / count:7.1%}" for kept, count in (names, numbers))
        print(f"{model:20} {cells}")
        lost = [
            (case.text, text)
            for case, text in pairs
            if kept_names(case, text) + kept_numbers(case, text) < len(case.names) + len(case.numbers)
        ]
        for text, translation in lost[:: max(1, len(lost) // max(1, asked.show))][: asked.show]:
            print(f"   {text}  →  {translation}")


if __name__ == "__main__":
    main()
