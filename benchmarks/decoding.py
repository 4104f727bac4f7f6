"""The torch engine and transformers' `generate` on the same weights, in one run: `python benchmarks/decoding.py`.

Both get the same random sentences and a model with the same random weights, search with the same beam, and write
exactly as many tokens; their translations are compared before anything is timed. They take turns, so that other load on
the machine affects both; medians, ratios and whether the machine was idle are printed. Processor time is the sum over
all threads: with `--threads 1` its ratio holds even on a busy machine, unlike the clock's.
"""

import argparse
import json
import random
import re
import statistics
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass

import torch
import transformers
from torch import nn

from clearformer.bench.idleness import look
from clearformer.decoding.beam import beam_search
from clearformer.decoding.dialects import hugging_face
from clearformer.decoding.protocol import Stepper
from clearformer.decoding.rules import Rules
from clearformer.decoding.workers import side_by_side
from clearformer.inference.steppers import Seq2SeqStepper, pad_sources, stepper_for
from clearformer.inference.translator import SMALL
from clearformer.model.build import build
from clearformer.model.config import ModelConfig
from clearformer.model.families import marian

PAD, BOS, EOS = 0, 1, 2
VOCABULARY, LENGTH, BATCH = 10_000, 20, 64
SIZES = {
    "tiny": {"dim": 128, "hidden_dim": 256, "layers": 4, "heads": 4},
    "base": {"dim": 512, "hidden_dim": 2048, "layers": 6, "heads": 8},
}
THEIRS = "transformers generate"
# Our names to theirs, in this order; a layer's own names follow its stack and number.
NAMES = (
    (r"^(encoder|decoder)\.front\.embed\.", r"model.\1.embed_tokens."),
    (r"^(encoder|decoder)\.layers\.", r"model.\1.layers."),
    (r"\.(self_attn|cross_attn)_residual\.after\.", r".\1_layer_norm."),
    (r"\.ffn_residual\.after\.", ".final_layer_norm."),
    (r"\.ffn\.up_proj\.", ".fc1."),
    (r"\.ffn\.down_proj\.", ".fc2."),
    (r"\.cross_attn(\.|_)", r".encoder_attn\1"),
    (r"^head\.table$", "lm_head.weight"),
    (r"^head\.bias$", "final_logits_bias"),
)

Sentences = list[list[int]]
Way = Callable[[list[Sentences]], list[tuple[int, ...]]]  # batches in, the tokens of every translation out


@dataclass(frozen=True, kw_only=True)
class Result:
    """Medians of one contestant in one case."""

    case: str
    contestant: str
    seconds: float
    processor_seconds: float
    faster: float  # than `generate`, by the clock
    less_work: float  # than `generate`, in processor time


def twins(size: str) -> tuple[nn.Module, nn.Module]:
    """Our model and theirs, with one set of weights."""
    config = marian(vocab_size=VOCABULARY, max_len=256, activation="relu", init_std=0.05, **SIZES[size])
    ours, theirs = build(config).eval(), transformers.MarianMTModel(configuration(config)).eval()
    weights = {}
    for name, weight in ours.state_dict().items():
        for pattern, replacement in NAMES:
            name = re.sub(pattern, replacement, name)
        weights[name] = weight.view(1, -1) if name == "final_logits_bias" else weight
    weights["model.shared.weight"] = weights["lm_head.weight"]
    left = theirs.load_state_dict(weights, strict=False)
    forgotten = [name for name in left.missing_keys if "embed_positions" not in name]  # those are computed
    if forgotten or left.unexpected_keys:
        raise ValueError(f"transformers has other weight names now: {forgotten}, {left.unexpected_keys}")
    return ours, theirs


def configuration(c: ModelConfig) -> transformers.MarianConfig:
    """Their configuration, from ours."""
    return transformers.MarianConfig(
        vocab_size=c.vocab_size, d_model=c.dim, encoder_layers=c.layers, decoder_layers=c.layers,
        encoder_ffn_dim=c.hidden_dim, decoder_ffn_dim=c.hidden_dim, activation_function=c.activation,
        encoder_attention_heads=c.attention.heads, decoder_attention_heads=c.attention.heads, scale_embedding=True,
        max_position_embeddings=c.max_len, pad_token_id=PAD, bos_token_id=BOS, eos_token_id=EOS,
        decoder_start_token_id=BOS, forced_eos_token_id=None,
    )  # fmt: skip


def generate(model: nn.Module, beam: int) -> Way:
    """Their way, batch by batch, on as many threads as torch has."""

    @torch.inference_mode()
    def translate(sources: Sentences) -> list[tuple[int, ...]]:
        source = pad_sources(sources, PAD)
        longest = int(source.keep.sum(dim=1).max())  # they pad to the longest, not to whole blocks
        found = model.generate(  # type: ignore[operator]
            input_ids=source.tokens[:, :longest], attention_mask=source.keep[:, :longest].long(), num_beams=beam,
            do_sample=False, min_new_tokens=LENGTH, max_new_tokens=LENGTH,
        )  # fmt: skip
        return [tuple(row) for row in found[:, 1:].tolist()]

    return lambda batches: [tokens for batch in batches for tokens in translate(batch)]


def search(model: nn.Module, stepper: Stepper, beam: int, threads: int) -> Way:
    """Our way, as the translator does it: small models one thread per batch, large ones all threads in each."""
    small = sum(weight.numel() for weight in model.parameters()) < SMALL

    def translate(sources: Sentences) -> list[tuple[int, ...]]:
        found = beam_search(
            stepper,
            pad_sources(sources, PAD),
            rules=Rules(eos=EOS, min_len=LENGTH),
            config=hugging_face(beam=beam),
            max_len=LENGTH,
        )
        return [best.tokens for best, *_ in found]

    def through(batches: list[Sentences]) -> list[tuple[int, ...]]:
        answers = side_by_side(translate, batches, threads) if small else map(translate, batches)
        return [tokens for answer in answers for tokens in answer]

    return through


def made_up(count: int) -> Sentences:
    """Random sentences with the lengths of picture captions, longest first."""
    generator = random.Random(2017)
    lengths = sorted((min(40, max(3, round(generator.gauss(14, 4)))) for _ in range(count)), reverse=True)
    return [[*(generator.randrange(4, VOCABULARY) for _ in range(length)), EOS] for length in lengths]


def race(case: str, ways: dict[str, Way], batches: list[Sentences], rounds: int) -> list[Result]:
    """Compare their translations, then let them take turns."""
    said = {name: way(batches) for name, way in ways.items()}
    for name, found in said.items():
        same = sum(one == other for one, other in zip(found, said[THEIRS], strict=True))
        if same < 0.98 * len(found):  # the last bit may decide near ties either way
            raise ValueError(f"{name} and {THEIRS} agree on {same} of {len(found)} translations only")
    clocks: dict[str, list[tuple[float, float]]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name, way in ways.items():
            started, worked = time.perf_counter(), time.process_time()
            way(batches)
            clocks[name].append((time.perf_counter() - started, time.process_time() - worked))
    medians = {name: [statistics.median(kind) for kind in zip(*taken, strict=True)] for name, taken in clocks.items()}
    return [
        Result(
            case=case,
            contestant=name,
            seconds=seconds,
            processor_seconds=worked,
            faster=medians[THEIRS][0] / seconds,
            less_work=medians[THEIRS][1] / worked,
        )
        for name, (seconds, worked) in medians.items()
    ]


def run(size: str, arguments: argparse.Namespace) -> list[Result]:
    ours, theirs = twins(size)
    sources = made_up(arguments.sentences)
    batches = [sources[start : start + BATCH] for start in range(0, len(sources), BATCH)]
    alone = [[source] for source in sources[len(sources) // 2 :][: arguments.alone]]
    results = []
    for beam in (1, 4):
        ways = {
            THEIRS: generate(theirs, beam),
            "clearformer": search(ours, stepper_for(ours, bos=BOS), beam, arguments.threads),
            "clearformer, readable path": search(ours, Seq2SeqStepper(ours, bos=BOS), beam, arguments.threads),
        }
        name = "greedy" if beam == 1 else f"beam {beam}"
        results += race(f"{size}, {name}, batch {BATCH}", ways, batches, arguments.rounds)
        for one in alone:
            results += race(f"{size}, {name}, one sentence of {len(one[0])}", ways, [one], arguments.rounds)
    return results


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--size", choices=SIZES, action="append", help="tiny and base, unless one is named")
    parser.add_argument("--rounds", type=int, default=5, help="turns of each one (5)")
    parser.add_argument("--sentences", type=int, default=256, help=f"to translate in batches of {BATCH} (256)")
    parser.add_argument("--alone", type=int, default=1, help="sentences to translate one at a time (1)")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads(), help="torch threads, or workers")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    arguments = parser.parse_args()
    transformers.logging.set_verbosity_error()
    torch.manual_seed(2017)
    disturbance = look().disturbance()
    torch.set_num_threads(arguments.threads)
    results = [result for size in arguments.size or SIZES for result in run(size, arguments)]
    if arguments.json:
        described = {"torch": torch.__version__, "transformers": transformers.__version__, "threads": arguments.threads}
        print(json.dumps(described | {"disturbance": disturbance, "results": [asdict(result) for result in results]}))
        return
    print(f"torch {torch.__version__}, transformers {transformers.__version__}, {arguments.threads} threads")
    print(f"not to be quoted: {disturbance}" if disturbance else "the machine was idle")
    for result in results:
        print(
            f"{result.case:36}{result.contestant:28}{1000 * result.seconds:9.1f} ms {result.faster:6.2f} ×   "
            f"processor {1000 * result.processor_seconds:9.1f} ms {result.less_work:6.2f} ×"
        )


if __name__ == "__main__":
    main()
