"""Questions of the lab with a knob: what a setting does, computed by the parts that models use, while one turns it."""

import math
from typing import Any

import torch
from torch import Tensor

from clearformer.lab.experiments.root_of_width import passed_gradient
from clearformer.model.attention import attend
from clearformer.model.build import build
from clearformer.model.config import PositionConfig, PositionKind
from clearformer.model.families import gpt2
from clearformer.model.trace import trace
from clearformer.studio.packing import pack
from clearformer.training.schedule import ScheduleConfig, make_schedule

KEYS = 12  # that are shown
DRAWS = 500  # rows of scores, for the variance
PLACES = (32, 64, 127)  # of the queries whose scores are shown
SHOWN_STEPS = 20_000
POINTS = 200


@torch.inference_mode()
def turn_softmax(width: int, temperature: float, *, scaled: bool) -> dict[str, Any]:
    """Random queries and keys of mean 0 and variance 1: one query's weights, and how large scores are."""
    generator = torch.Generator().manual_seed(0)
    q = torch.randn(DRAWS, 1, 1, width, generator=generator)
    k = torch.randn(DRAWS, 1, KEYS, width, generator=generator)
    seen: dict[str, Tensor] = {}
    scale = (width**-0.5 if scaled else 1.0) / temperature
    attend(q, k, k, scale=scale, notes=seen.__setitem__)
    scores, weights = seen["scaled"].flatten(1), seen["weights"].flatten(1)
    return {
        "weights": weights[0].tolist(),
        "variance": scores.var().item(),
        "largest": weights.max(-1).values.mean().item(),
        "gradient": passed_gradient(scores),
    }


@torch.inference_mode()
def turn_distance(kind: PositionKind) -> dict[str, Any]:
    """The same token at all places of a fresh layer: its scores by distance, for queries at several places."""
    sizes = {"vocab_size": 2, "dim": 64, "hidden_dim": 64, "layers": 1, "heads": 4, "max_len": max(PLACES) + 1}
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        model: Any = build(gpt2(**sizes, position=PositionConfig(kind=kind))).eval()
        for name, table in model.named_parameters():
            if table.dim() == 2 and "norm" not in name:
                table.normal_(std=table.size(-1) ** -0.5 if "proj" in name else 1.0)
    tokens = torch.zeros(1, max(PLACES) + 1, dtype=torch.long)
    with trace(model, only=["decoder.layers.0.self_attn.masked"]) as seen:
        model.decoder(tokens)
    [scores] = (seen[name][0, 0] for name in seen)  # of the first head: T S
    series: list[dict[str, Any]] = [
        {"place": place, "scores": scores[place, : place + 1].flip(0).tolist()} for place in PLACES
    ]
    apart = max(
        abs(one - other) for here in series for one, other in zip(here["scores"], series[-1]["scores"], strict=False)
    )
    return {"series": series, "apart": apart}


def turn_schedule(config: ScheduleConfig, dim: int) -> dict[str, Any]:
    """The learning rate over the first steps of a run."""
    rate = make_schedule(config, dim=dim, steps=SHOWN_STEPS)
    warmup = config.warmup_steps(SHOWN_STEPS)
    steps = sorted({1, warmup, *(round(SHOWN_STEPS * part / POINTS) for part in range(1, POINTS + 1))})
    return {"points": [[step, rate(step)] for step in steps], "peak": max(map(rate, steps)), "warmup": warmup}


@torch.inference_mode()
def turn_temperature(weights: Tensor, temperature: float) -> dict[str, Any]:
    """A trained head's weights, had its scores been divided by a temperature. weights: T S"""
    turned = weights.double().log().div(temperature).softmax(-1)
    turned = torch.where(weights.sum(-1, keepdim=True) > 0, turned, 0.0)  # a row that looks nowhere stays empty
    bits = -(turned * turned.clamp_min(1e-300).log2()).sum(-1)
    return {
        "weights": pack(turned),
        "bits": bits.mean().item(),
        "most_bits": math.log2(weights.size(-1)),
        "largest": turned.max(-1).values.mean().item(),
    }
