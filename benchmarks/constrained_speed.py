"""What keeping to a form costs: `python benchmarks/constrained_speed.py --model smollm2`.

Free and constrained writing take turns in one process, token by token the same number of steps, so that what else the
machine does falls on both. The first constrained text finds its masks, later ones have them; both are shown. Wants an
idle machine.
"""

import argparse
import statistics
import time

from clearformer.folder import bundle
from clearformer.folder.description import find_model
from clearformer.inference.text_generator import TextGenerator

FORMS = {
    "choices": {"choices": ["positive", "negative", "neither of them"]},
    "pattern": {"pattern": r"[A-Z][a-z ]{40,80}\."},
    "schema": {
        "schema": {
            "type": "object",
            "properties": {
                "item": {"type": "string", "maxLength": 60},
                "price": {"type": "integer", "minimum": 0, "maximum": 100000},
                "tags": {"type": "array", "items": {"type": "string", "maxLength": 20}, "maxItems": 5},
            },
            "required": ["item", "price", "tags"],
        }
    },
}
PROMPT = "For sale: a red mountain bike, hardly used, 450 euros.\nAs JSON:\n"


def timed(generator: TextGenerator, **settings) -> tuple[float, int]:
    """Seconds per token of one text, and its tokens."""
    ids = generator.encode(PROMPT)
    started = time.perf_counter()
    count = sum(1 for _ in generator.choices(ids, **settings))
    return (time.perf_counter() - started) / count, count


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="smollm2")
    parser.add_argument("--max-new", type=int, default=80)
    parser.add_argument("--rounds", type=int, default=5)
    asked = parser.parse_args()
    generator = TextGenerator(bundle.load(find_model(asked.model)))
    timed(generator, max_new=4)  # threads, caches
    timed(generator, max_new=4, pattern="a+")  # the vocabulary as a tree, once per model
    print("| form | tokens | ms per token, free | first text: more | later texts: more |\n|---|---:|---:|---:|---:|")
    for name, form in FORMS.items():
        first, count = timed(generator, max_new=asked.max_new, **form)
        free, later = [], []
        for _ in range(asked.rounds):
            free.append(timed(generator, max_new=count)[0])
            later.append(timed(generator, max_new=asked.max_new, **form)[0])
        usual = statistics.median(free)
        more = [f"{100 * (value / usual - 1):+.1f} %" for value in (first, statistics.median(later))]
        print(f"| {name} | {count} | {1000 * usual:.1f} | {more[0]} | {more[1]} |")


if __name__ == "__main__":
    main()
