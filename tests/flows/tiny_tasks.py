"""For every task that trains, data and a recipe that take seconds: what tests of all tasks share."""

import json
import random
import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from flows import numbers
from support.discs import write_pairs

TRAINING = """
[training]
steps = 12
save_every = 4
validate_every = 6
log_every = 1
schedule = { kind = "cosine", peak = 0.003, warmup = 0.25 }
"""

# Three digits on eight by eight pixels; a tiny model tells them apart after some steps.
SHAPES = {
    0: ("..####..", ".#....#.", ".#....#.", ".#....#.", ".#....#.", ".#....#.", ".#....#.", "..####.."),
    1: ("...##...", "..###...", ".#.##...", "...##...", "...##...", "...##...", "...##...", ".######."),
    7: (".######.", "......#.", ".....#..", "....#...", "...#....", "...#....", "...#....", "...#...."),
}


def draw(digit: int, generator: np.random.Generator) -> NDArray[np.uint8]:
    """A digit with noise: 8 8."""
    ink = np.array([[letter == "#" for letter in row] for row in SHAPES[digit]])
    return np.where(ink, generator.integers(150, 256, ink.shape), generator.integers(0, 90, ink.shape)).astype(np.uint8)


def drawn(count: int, seed: int = 1) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Pictures and their digits."""
    generator = np.random.default_rng(seed)
    digits = np.array(list(SHAPES), dtype=np.uint8)[generator.integers(len(SHAPES), size=count)]
    return np.stack([draw(int(digit), generator) for digit in digits]), digits


def write_idx(path: Path, values: NDArray[np.uint8]) -> None:
    """An idx file of bytes, as MNIST has them."""
    header = bytes([0, 0, 8, values.ndim]) + struct.pack(f">{values.ndim}I", *values.shape)
    path.write_bytes(header + values.tobytes())


def write_digits(folder: Path) -> Path:
    """90 pictures as idx files, and a Vision Transformer for them."""
    folder.mkdir(parents=True, exist_ok=True)
    pictures, digits = drawn(90)
    write_idx(folder / "pictures.idx", pictures)
    write_idx(folder / "digits.idx", digits)
    return _write(
        folder,
        """task = "picture-classification"
name = "digits"
[data]
train = "pictures.idx"
train_labels = "digits.idx"
hold_out = 12
shift = 1
flip = true
zoom = 0.1
rotate = 5.0
colour = 0.1
erase = 0.1
mixup = 0.2
cutmix = 0.5
[model]
family = "vit"
dim = 16
hidden_dim = 32
layers = 1
attention = { heads = 2 }
front = { patch = 4 }
dropout = { residual = 0.1 }
"""
        + TRAINING
        + "batch_tokens = 16\n",
    )


def write_discs(folder: Path) -> Path:
    """A dozen pictures of discs beside masks, and a network that outlines each disc."""
    write_pairs(folder / "discs", 12)
    return _write(
        folder,
        """task = "segmentation"
name = "discs"
data = { train = "discs", hold_out = 3, size = 16, turn = true, light = 0.2, invert = 0.2, unit = 4.0, smallest = 3 }
[model]
family = "vit"
dim = 16
hidden_dim = 32
layers = 1
attention = { heads = 2 }
front = { patch = 4, stem = "convolution" }
head = { decoder = "convolution", narrowest = 8 }
dropout = { residual = 0.1 }
"""
        + TRAINING
        + "batch_tokens = 4\n",
    )


def write_shapes(folder: Path) -> Path:
    """Discs and squares with a box around each, and an encoder whose patches name them."""
    from support.toy_boxes import draw_many, write_coco

    write_coco(folder, draw_many(40))
    return _write(
        folder,
        """task = "detection"
name = "shapes"
data = { train = "boxes.json", hold_out = 8, size = 32, views = { symmetry = "all", paste = 2 } }
[model]
family = "vit"
dim = 16
hidden_dim = 32
layers = 1
attention = { heads = 2 }
front = { patch = 8, stem = "convolution", class_token = false }
head = { helper = true }
dropout = { residual = 0.1 }
"""
        + TRAINING
        + "batch_tokens = 8\n",
    )


def write_codes(folder: Path) -> Path:
    """The same pictures without their digits, and an autoencoder for them."""
    folder.mkdir(parents=True, exist_ok=True)
    write_idx(folder / "pictures.idx", drawn(90)[0])
    return _write(
        folder,
        """task = "autoencoding"
name = "codes"
data = { train = "pictures.idx", hold_out = 12, shift = 1, flip = true }
objective = { noise = 0.2 }
[model]
family = "autoencoder"
hidden_dim = 24
layers = 2
bottleneck = 4
"""
        + TRAINING
        + "batch_tokens = 16\n",
    )


def write_paintings(folder: Path, way: str = "flow") -> Path:
    """The pictures with their digits, and a painter of them."""
    folder.mkdir(parents=True, exist_ok=True)
    pictures, digits = drawn(90)
    write_idx(folder / "pictures.idx", pictures)
    write_idx(folder / "digits.idx", digits)
    front = "front = { patch = 4 }" if way == "flow" else ""
    return _write(
        folder,
        f"""task = "painting"
name = "paintings"
[data]
train = "pictures.idx"
train_labels = "digits.idx"
hold_out = 12
shift = 1
way = "{way}"
codes = 24
patch = 2
[scoring]
samples = 24
judge_steps = 4
[use]
count = 2
steps = 3
[model]
family = "dit"
dim = 16
hidden_dim = 32
layers = 1
attention = {{ heads = 2 }}
dropout = {{ residual = 0.1 }}
{front}
"""
        + TRAINING
        + "batch_tokens = 16\noptimiser = { ema = 0.9 }\n",
    )


def write_prose(folder: Path) -> Path:
    """Some hundred short sentences, and a language model for their characters."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "prose.txt").write_text(prose(150), encoding="utf-8")
    return _write(
        folder,
        """task = "language-model"
name = "prose"
data = { train = "prose.txt", context = 16, vocabulary = { kind = "character", vocab_size = 400, min_frequency = 1 } }
use = { temperature = 0.8, max_new = 8 }
[model]
family = "llama"
dim = 16
hidden_dim = 32
layers = 1
max_len = 16
attention = { heads = 2 }
dropout = { embedding = 0.1, residual = 0.1 }
"""
        + TRAINING
        + "batch_tokens = 128\n",
    )


def write_remembering(folder: Path) -> Path:
    """The same sentences, and a Transformer-XL that carries a memory from step to step."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "prose.txt").write_text(prose(150), encoding="utf-8")
    vocabulary = '{ kind = "character", vocab_size = 400, min_frequency = 1 }'
    return _write(
        folder,
        f"""task = "language-model"
name = "remembering"
data = {{ train = "prose.txt", context = 16, memory = 24, vocabulary = {vocabulary} }}
use = {{ temperature = 0.8, max_new = 8 }}
[model]
family = "transformer-xl"
dim = 16
hidden_dim = 32
layers = 1
attention = {{ heads = 2 }}
dropout = {{ embedding = 0.1, residual = 0.1 }}
"""
        + TRAINING
        + "batch_tokens = 128\n",
    )


def write_gaps(folder: Path) -> Path:
    """The same sentences, and an encoder that finds hidden words, also from left to right."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "prose.txt").write_text(prose(150), encoding="utf-8")
    return _write(
        folder,
        """task = "masked-language-model"
name = "gaps"
data = { train = "prose.txt", max_length = 16, vocabulary = { kind = "wordpiece", vocab_size = 200 } }
objective = { whole_words = true, causal = 0.25 }
scoring = { examples = 4 }
[model]
family = "bert"
dim = 16
hidden_dim = 32
layers = 1
max_len = 24
attention = { heads = 2 }
dropout = { residual = 0.1 }
head = { bias = true }
"""
        + TRAINING
        + "batch_tokens = 128\n",
    )


def prose(sentences: int, seed: int = 1) -> str:
    """So many lines of a language of few words."""
    generator = random.Random(seed)
    words = ("the", "red", "old", "dog", "cat", "bird", "sees", "likes", "a", "snow")
    return "".join(f"{' '.join(generator.choices(words, k=generator.randint(3, 8)))}.\n" for _ in range(sentences))


def write_reviews(folder: Path) -> Path:
    """Sentences that one word makes good or bad, as a table, and an encoder that reads them."""
    folder.mkdir(parents=True, exist_ok=True)
    generator = random.Random(1)
    words = ("film", "story", "plot", "the", "a", "it", "was", "is", "and", "very")
    rows = {}
    while len(rows) < 90:
        label = generator.choice(("good", "bad"))
        text = generator.choices(words, k=generator.randint(3, 8))
        text.insert(generator.randrange(len(text)), {"good": "lovely", "bad": "awful"}[label])
        rows[" ".join(text)] = label
    lines = "".join(f"{text}\t{label}\n" for text, label in rows.items())
    (folder / "reviews.tsv").write_text(f"text\tlabel\n{lines}", encoding="utf-8")
    return _write(
        folder,
        """task = "text-classification"
name = "reviews"
[data]
train = "reviews.tsv"
word_dropout = 0.1
max_length = 24
vocabulary = { kind = "wordpiece", vocab_size = 400 }
[model]
family = "bert"
dim = 16
hidden_dim = 32
layers = 1
max_len = 24
attention = { heads = 2 }
"""
        + TRAINING
        + "batch_tokens = 128\n",
    )


def write_questions(folder: Path) -> Path:
    """Texts with one number each, a question about every text, and an encoder that finds it."""
    folder.mkdir(parents=True, exist_ok=True)
    generator = random.Random(1)
    paragraphs = []
    for number in range(90):
        words = generator.choices(("the", "a", "old", "dog", "is", "on"), k=6)
        before = "".join(f"{word} " for word in words[: generator.randrange(6)])
        value = str(generator.randrange(10, 40))
        entry = {"id": str(number), "question": "how many ?", "answers": [{"text": value, "answer_start": len(before)}]}
        paragraphs.append({"context": f"{before}{value} {words[-1]}", "qas": [entry]})
    (folder / "questions.json").write_text(json.dumps({"data": [{"paragraphs": paragraphs}]}), encoding="utf-8")
    return _write(
        folder,
        """task = "question-answering"
name = "questions"
[data]
train = "questions.json"
max_length = 20
vocabulary = { kind = "wordpiece", vocab_size = 400 }
[model]
family = "bert"
dim = 16
hidden_dim = 32
layers = 1
max_len = 20
attention = { heads = 2 }
dropout = { residual = 0.1 }
"""
        + TRAINING
        + "batch_tokens = 128\n",
    )


def write_names(folder: Path) -> Path:
    """Sentences with names of people and towns, a tag for each word, and an encoder that finds them."""
    folder.mkdir(parents=True, exist_ok=True)
    generator = random.Random(1)
    known = {"PER": ("Ada Lovelace", "Alan", "Grace Hopper"), "LOC": ("Paris", "New York", "Rome")}
    words = ("saw", "in", "the", "met", "and", "to", "near", "with")
    lines = []
    for _ in range(90):
        for kind in generator.choices(list(known), k=2):
            lines += [f"{word}\tO" for word in generator.choices(words, k=generator.randint(1, 4))]
            first, *rest = generator.choice(known[kind]).split()
            lines += [f"{first}\tB-{kind}", *(f"{word}\tI-{kind}" for word in rest)]
        lines.append("")
    (folder / "names.conll").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return _write(
        folder,
        """task = "tagging"
name = "names"
[data]
train = "names.conll"
word_dropout = 0.1
max_length = 24
vocabulary = { kind = "wordpiece", vocab_size = 400 }
[model]
family = "bert"
dim = 16
hidden_dim = 32
layers = 1
max_len = 24
attention = { heads = 2 }
"""
        + TRAINING
        + "batch_tokens = 128\n",
    )


def write_turns(folder: Path) -> Path:
    """Short conversations about numbers, and a model to begin with that converses without having learned anything."""
    from clearformer.folder.bundle import save
    from support.toy_chat import chat_bundle

    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / "start").exists():
        save(chat_bundle(), folder / "start")
    generator = random.Random(1)
    lines = []
    for _ in range(90):
        said = [str(generator.randrange(100)) for _ in range(generator.randint(1, 2))]
        turns = [{"role": role, "content": text} for one in said for role, text in (("user", one), ("assistant", one))]
        lines.append(json.dumps({"messages": turns}))
    (folder / "turns.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return _write(
        folder,
        f"""task = "conversation"
name = "turns"
data = {{ train = "turns.jsonl", max_length = 128 }}
use = {{ max_new = 8 }}
model = {{ from = "{folder / "start"}" }}
"""
        + TRAINING
        + "batch_tokens = 256\n",
    )


def write_mails(folder: Path) -> Path:
    """Sentences about one of four matters, which is their subject line, and an encoder–decoder that copies."""
    folder.mkdir(parents=True, exist_ok=True)
    generator = random.Random(1)
    words = ("the", "room", "has", "moved", "please", "note", "that", "we", "all", "will", "today")
    rows = []
    for _ in range(90):
        matter = generator.choice(("budget plan", "gas prices", "new seats", "golf trip"))
        before, after = (" ".join(generator.choices(words, k=generator.randint(4, 9))) for _ in range(2))
        rows.append({"mail": f"{before} {matter} {after}.", "subject": matter})
    (folder / "mails.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return _write(
        folder,
        """task = "summarization"
name = "mails"
[data]
train = "mails.jsonl"
text = "mail"
summary = "subject"
max_length = 24
max_summary = 12
split_pieces = 0.1
vocabulary = { kind = "bpe", vocab_size = 360, min_frequency = 1 }
[model]
preset = "tiny"
dim = 16
hidden_dim = 32
layers = 1
attention = { heads = 2 }
dropout = { residual = 0.1 }
head = { copy = true }
[use]
beam = 2
max_tokens = 8
"""
        + TRAINING
        + "batch_tokens = 128\n",
    )


def write_damage(folder: Path) -> Path:
    """The prose, and an encoder–decoder that repairs it."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "prose.txt").write_text(prose(150), encoding="utf-8")
    return _write(
        folder,
        """task = "denoising"
name = "damage"
[data]
train = "prose.txt"
max_length = 24
vocabulary = { kind = "bpe", vocab_size = 320 }
corruption = { rate = 0.3, delete = 0.1, permute = true }
[scoring]
examples = 4
[model]
preset = "tiny"
dim = 16
hidden_dim = 32
layers = 1
attention = { heads = 2 }
dropout = { residual = 0.1 }
"""
        + TRAINING
        + "batch_tokens = 128\n",
    )


def write_speech(folder: Path, shape: str = "encoder") -> Path:
    """Forty recordings of chords that stand for words, and an encoder that labels their frames, or writes tokens."""
    from support.spoken import write_table

    folder.mkdir(parents=True, exist_ok=True)
    write_table(folder)
    return _write(
        folder,
        f"""task = "transcription"
name = "chords"
[data]
train = "spoken.tsv"
mels = 12
max_seconds = 3
vocabulary = {{ kind = "word", vocab_size = 20, min_frequency = 1 }}
[data.changes]
speed = 0.1
loudness = 3
noise = 0.05
shift = 0.05
pitch = 0.05
time_masks = 1
pitch_masks = 1
pitch_width = 3
join = 2
[model]
preset = "tiny"
shape = "{shape}"
dim = 16
hidden_dim = 32
layers = 1
attention = {{ heads = 2 }}
norm = {{ place = "pre" }}
dropout = {{ residual = 0.1 }}
"""
        + TRAINING
        + "batch_tokens = 600\n",
    )


def _write(folder: Path, recipe: str) -> Path:
    path = folder / "recipe.toml"
    path.write_text(recipe, encoding="utf-8")
    return path


TINY: dict[str, Callable[[Path], Path]] = {
    "translation": numbers.write_recipe,
    "language-model": write_prose,
    "masked-language-model": write_gaps,
    "conversation": write_turns,
    "text-classification": write_reviews,
    "picture-classification": write_digits,
    "segmentation": write_discs,
    "detection": write_shapes,
    "tagging": write_names,
    "question-answering": write_questions,
    "summarization": write_mails,
    "denoising": write_damage,
    "transcription": write_speech,
    "painting": write_paintings,
    "autoencoding": write_codes,
}
# The same tasks in their other ways: another network, another loss, other things to keep from step to step.
OTHER_WAYS: dict[str, Callable[[Path], Path]] = {
    "transcription, token by token": lambda folder: write_speech(folder, "encoder-decoder"),
    "painting, hidden-places": lambda folder: write_paintings(folder, "hidden-places"),
    "painting, left-to-right": lambda folder: write_paintings(folder, "left-to-right"),
}
