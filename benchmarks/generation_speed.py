"""Tokens per second of a language model beside transformers: `python benchmarks/generation_speed.py --model smollm2`.

Five programs take turns in one process, each writing as many tokens greedily after the same prompt: transformers with
its own cache, Clearformer in float32, bfloat16, eight bits and four. The prompt is read before the clock starts. Then
what guessing brings where an answer copies its prompt. Wants an idle machine, `transformers`, and a model: `clearformer
models get smollm2`, whose weights are exported for transformers.
"""

import argparse
import statistics
import tempfile
import time
from pathlib import Path

import torch

from clearformer.folder import bundle
from clearformer.folder.description import find_model
from clearformer.folder.rounded_weights import Kept
from clearformer.inference.text_generator import TextGenerator
from clearformer.interop.to_hugging_face import export

PROMPT = "The Transformer is a model that reads a text all at once. It was introduced in 2017, and"
COPY = (
    "Repeat this list word for word.\n"
    "apples, 3 kilograms; pears, 2 kilograms; plums, half a kilogram; flour, 500 grams; butter, 250 grams; sugar\n"
    "apples, 3 kilograms; pears, 2 kilograms; plums,"
)


def ours(generator: TextGenerator, ids: list[int], count: int, **settings) -> tuple[float, list[int]]:
    """Seconds per token after the first, and the tokens."""
    started, tokens = 0.0, []
    for choice in generator.choices(ids, max_new=count, **settings):
        started = started or time.perf_counter()
        tokens.append(choice.token)
    return (time.perf_counter() - started) / max(1, len(tokens) - 1), tokens


@torch.inference_mode()
def theirs(model, ids: list[int], count: int) -> tuple[float, list[int]]:
    """The same by transformers, one forward pass a token with its cache: faster than its `generate`."""
    said = model(torch.tensor([ids]), use_cache=True)
    tokens = [int(said.logits[0, -1].argmax())]
    started = time.perf_counter()
    for _ in range(count - 1):
        said = model(torch.tensor([tokens[-1:]]), past_key_values=said.past_key_values, use_cache=True)
        tokens.append(int(said.logits[0, -1].argmax()))
    return (time.perf_counter() - started) / (count - 1), tokens


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="smollm2")
    parser.add_argument("--new", type=int, default=32)
    parser.add_argument("--rounds", type=int, default=5)
    asked = parser.parse_args()
    from transformers import AutoModelForCausalLM

    whole = bundle.load(find_model(asked.model))
    generators = {"clearformer float32": TextGenerator(whole)}
    kinds: tuple[Kept, ...] = ("bfloat16", "int8", "int4")
    with tempfile.TemporaryDirectory() as folder:
        for kept in kinds:
            bundle.save(whole, Path(folder) / kept, dtype=kept)
            generators[f"clearformer {kept}"] = TextGenerator(bundle.load(Path(folder) / kept, as_kept=True))
    with tempfile.TemporaryDirectory() as folder:
        export(find_model(asked.model), Path(folder) / "model")
        peer = AutoModelForCausalLM.from_pretrained(Path(folder) / "model", dtype=torch.float32).eval()
    ids = generators["clearformer float32"].encode(PROMPT)
    writers = {"transformers float32": lambda: theirs(peer, ids, asked.new)}
    for name, generator in generators.items():
        writers[name] = lambda generator=generator: ours(generator, ids, asked.new, lookup=0)
    texts = {name: write()[1] for name, write in writers.items()}  # also warms up
    times: dict[str, list[float]] = {name: [] for name in writers}
    for _ in range(asked.rounds):
        for name, write in writers.items():
            times[name].append(write()[0])
    slow = statistics.median(times["transformers float32"])
    print(f"{torch.get_num_threads()} threads, {asked.new} tokens, median of {asked.rounds}\n")
    print("| program | ms per token | tokens/s | beside transformers | same tokens |\n|---|---:|---:|---:|---:|")
    for name, found in times.items():
        usual = statistics.median(found)
        same = sum(a == b for a, b in zip(texts[name], texts["transformers float32"], strict=True))
        print(f"| {name} | {1000 * usual:.1f} | {1 / usual:.1f} | {slow / usual:.2f} x | {same} of {asked.new} |")
    print("\n| an answer that copies its prompt | ms per token | with guessing | faster |\n|---|---:|---:|---:|")
    for name, generator in generators.items():
        given = generator.encode(COPY)
        plain, guessed = (
            statistics.median(ours(generator, given, asked.new, lookup=most)[0] for _ in range(3)) for most in (0, 8)
        )
        print(f"| {name} | {1000 * plain:.1f} | {1000 * guessed:.1f} | {plain / guessed:.2f} x |")


if __name__ == "__main__":
    main()
