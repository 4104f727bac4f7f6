"""What `make demo` shows: attention by hand, a model that learns where to look while you watch, what models cost."""

import time

import torch
from attention_by_hand import KEYS, by_package
from backwards import learn, small_model, write

import clearformer as cf
from clearformer.model.account import account

SHADES = "·░▒▓█"


def marks() -> None:
    print("1. Attention is a weighted average\n")
    print(
        "   D's chemistry mark is unknown. A, B and C have 0.5, 0.1 and 0.5. D's other marks are most like A's, least"
    )
    print("   like B's. How much should each of them count?\n")
    print("   " + " " * 44 + "".join(f"{name:>7}" for name in KEYS) + "   guess")
    for label, scale in (
        ("softmax(q·k), as study notes compute it", 1.0),
        ("softmax(q·k / √d), as the paper has it", 0.5),
    ):
        weights, mark = by_package(scale)
        print(f"   {label:44}" + "".join(f"{weight:7.2f}" for weight in weights) + f"{mark:8.2f}")


def backwards(word: str) -> None:
    print("\n2. A Transformer learns where to look\n")
    print(
        "   One layer, four heads; it is shown random letters and has to write them backwards. Training ...", flush=True
    )
    model, started = small_model(), time.perf_counter()
    right, seconds = learn(model), time.perf_counter() - started
    written, weights = write(model, word)
    print(
        f"   {seconds:.0f} seconds later it gets {right:.0%} of words right that it has never seen: {word} -> {written}"
    )
    print("   A row for each letter it wrote, a column for each it read; dark is where it looked:\n")
    print("       " + " ".join(f"{letter:2}" for letter in word))
    for letter, row in zip(written, weights.mean(dim=0).tolist(), strict=True):
        print(f"     {letter} " + " ".join(2 * SHADES[min(4, int(5 * weight))] for weight in row))


def costs(*presets: str) -> None:
    print("\n3. The models of the papers, counted without being built\n")
    for name in presets:
        found = account(cf.preset(name))
        print(f"   {name:10}{found.total:>16,} parameters{found.bytes / 1e9:9.1f} GB")


if __name__ == "__main__":
    torch.manual_seed(2017)
    torch.set_num_threads(1)  # tensors this small lose time to more threads
    marks()
    backwards("desserts")
    costs("base", "bert-base", "gpt2", "gpt3")
    print("\nNext: .venv/bin/clearformer inspect base; then docs/README.md, which says where to read on.")
