"""Write the recipes of the Chinese–English models that ship beside the text that `chinese_english.py` gathered.

    python tools/chinese_english.py OUT --packages DEBS
    python tools/teacher_lines.py translate-zh_en-1_9 OUT/tatoeba.zh OUT/tatoeba.teacher.en
    python tools/teacher_lines.py translate-zh_en-1_9 OUT/modern.zh OUT/modern.teacher.en
    python tools/mixed_recipes.py OUT
    clearformer train OUT/both.toml --out runs/both
    clearformer train OUT/zh-en.toml --start runs/both --out runs/zh-en-wide
    clearformer train OUT/en-zh.toml --start runs/both --out runs/en-zh-wide

One model first learns both directions at once: the language of a sentence says into which it goes, so no mark is
needed, and the table of pieces, which both directions share, is learned from twice the text (Ding et al., 2021). Then
each direction goes on alone, with a rate that ends at zero.

What is neither everyday language nor documentation is read in the first stage alone: it gives words, and the second
stage gives the manner. A source is read as often as its share says. A teacher may be stopped at any sentence: what it
wrote so far is used, but not where it wrote nothing, or far too much or little.
"""

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path

DIRECTIONS = (("zh", "en"), ("en", "zh"))


@dataclass(frozen=True)
class Source:
    """Text of one origin. together, alone: how often a pass reads it, in the first stage and in the second."""

    name: str
    together: int
    alone: int
    whose: str


SOURCES = (
    Source("tatoeba", 8, 12, "sentence pairs of tatoeba.org as collected by www.manythings.org/anki (CC BY 2.0 FR)"),
    Source("kubernetes", 0, 0, "documentation of Kubernetes by its authors (CC BY 4.0)"),
    Source("python", 0, 0, "documentation of Python, Python Software Foundation (PSF; translation CC0)"),
    Source("gnome", 2, 2, "GNOME's user documentation by the GNOME project (CC BY 3.0)"),
    Source("office", 1, 1, "LibreOffice's help by The Document Foundation (MPL-2.0)"),
    Source("dictionary", 0, 0, "CC-CEDICT (CC BY-SA 4.0)"),
    Source("terms", 6, 6, "terms of computing by this project (Apache-2.0)"),
    Source("made", 1, 2, "sentences with made names and numbers by this project (Apache-2.0)"),
    Source("bible", 0, 0, "World English Bible and Chinese Union Version (public domain)"),
)
TEACHER = (
    "translations by OPUS-MT Chinese to English of Jörg Tiedemann and Santhosh Thottingal (CC BY 4.0) of sentences of "
    "tatoeba.org, CMRC 2018 (CC BY-SA 4.0), DRCD (CC BY-SA 3.0) and NiuTrans Classical-Modern (MIT)"
)
LESSONS = {  # by the text that the teacher read
    "tatoeba": Source("tatoeba-taught", 1, 6, TEACHER),
    "encyclopaedia": Source("encyclopaedia-taught", 1, 2, TEACHER),
    "more-encyclopaedia": Source("more-encyclopaedia-taught", 1, 2, TEACHER),
    "modern": Source("modern-taught", 1, 0, TEACHER),
}
LICENCE = "CC BY-SA 4.0"
PLAUSIBLE = 0.15, 1.2  # words that a teacher writes for a character

RECIPE = """# Made by tools/mixed_recipes.py.
task = "translation"
name = "{name}"

[data]
source_language = "{source}"
target_language = "{target}"
train_source = {sources}
train_target = {targets}
dev_source = "{dev}.{source}"
dev_target = "{dev}.{target}"
licence = "{licence}"
attribution = "{attribution}"
joint = true
max_length = 72

[data.vocabulary]
kind = "bpe"
vocab_size = 12000
prefix_space = false # Chinese has no spaces to attach
min_frequency = 10 # characters that a dictionary alone has are spelled by their bytes

[model]
preset = "small"
layers = 4
decoder_layers = 2
dim = 192
hidden_dim = 768

[model.norm]
place = "pre"

[model.dropout]
embedding = 0.1
attention = 0.0
activation = 0.0
residual = 0.1

[objective]
smoothing = 0.1

[training]
steps = {steps}
save_every = 250
validate_every = {validate_every}
batch_tokens = 2048
precision = "bfloat16"
seed = 1

[training.schedule]
kind = "cosine"
peak = {peak}
warmup = {warmup}

[training.optimiser]
kind = "muon"
beta2 = 0.98
clip = 1.0

[use]
beam = 4

[scoring]
examples = 150
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="what chinese_english.py wrote, with what the teacher wrote so far")
    parser.add_argument("--both", type=int, default=1120, metavar="STEPS", help="of both directions in one model")
    parser.add_argument("--each", type=int, default=1100, metavar="STEPS", help="of each direction alone")
    asked = parser.parse_args()
    lessons = [one for given, one in LESSONS.items() if take_lessons(asked.folder, given, one.name)]
    sources = [one for one in (*SOURCES, *lessons) if (asked.folder / f"{one.name}.zh").exists()]
    mix_development(asked.folder)
    write(asked.folder, "both", [one.name for one in sources for _ in range(one.together)], DIRECTIONS, asked.both)
    for direction in DIRECTIONS:
        names = [one.name for one in sources for _ in range(one.alone)]
        write(asked.folder, "-".join(direction), names, (direction,), asked.each)


def take_lessons(folder: Path, given: str, mine: str) -> bool:
    """Pair what the teacher wrote with what it read, as far as it came; says whether there is any."""
    if not (folder / f"{given}.teacher.en").exists():
        return False
    written = read(folder / f"{given}.teacher.en")
    pairs = list(zip(read(folder / f"{given}.zh"), written, strict=False))
    kept = [
        (left, right)
        for left, right in pairs
        if right and PLAUSIBLE[0] < (len(right.split()) + 1) / (len(left) + 1) < PLAUSIBLE[1]
    ]
    for side, language in enumerate(("zh", "en")):
        put(folder / f"{mine}.{language}", [pair[side] for pair in kept])
    print(f"{mine}: {len(kept):,} of {len(written):,} translations of the teacher kept", file=sys.stderr)
    return bool(kept)


def mix_development(folder: Path) -> None:
    """For both directions at once: every second pair is turned round."""
    pairs = zip(read(folder / "dev.zh"), read(folder / "dev.en"), strict=True)
    turned = [pair if number % 2 == 0 else pair[::-1] for number, pair in enumerate(pairs)]
    for side, language in enumerate(("zh", "en")):
        put(folder / f"dev-mixed.{language}", [pair[side] for pair in turned])


def write(folder: Path, name: str, names: list[str], directions: tuple[tuple[str, str], ...], steps: int) -> None:
    both = len(directions) > 1
    source, target = directions[0]
    files = [(f"{one}.{left}", f"{one}.{right}") for one in names for left, right in directions]
    text = RECIPE.format(
        name=name,
        source=source,
        target=target,
        sources=listed([left for left, _ in files]),
        targets=listed([right for _, right in files]),
        dev="dev-mixed" if both else "dev",
        licence=LICENCE,
        attribution=f"trained on {'; '.join([*(one.whose for one in SOURCES), TEACHER])}; the model: {LICENCE}",
        steps=steps,
        validate_every=max(1, steps // 3),
        peak=0.006 if both else 0.002,
        warmup=0.05,
    )
    (folder / f"{name}.toml").write_text(text + ('tokenise = "zh"\n' if both else ""), encoding="utf-8")


def listed(names: list[str]) -> str:
    return "[\n" + "".join(f'  "{name}",\n' for name in names) + "]"


def read(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").split("\n")[:-1]


def put(path: Path, lines: list[str]) -> None:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


if __name__ == "__main__":
    main()
