"""The logit lens: what each layer's state would say if it were the last one (nostalgebraist, 2020).

    writer = cf.load("gpt2")
    logits = logit_lens(writer.model, writer.encode("The capital of France is"))  # a row for each layer
    ranks(logits, writer.encode(" Paris")[-1])                                    # the word's place, layer by layer

T tokens, D model width, V vocabulary, L layers. A state goes through the model's own final norm and head, which were
trained for the last state alone: an early layer that seems to say nothing may say it in a way they do not read.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from clearformer.model.heads import LanguageModel
from clearformer.model.trace import trace
from clearformer.model.transformer import DecoderOnly

LOGITS = "logits"
FRONT = "decoder.front.output"
CLOSE = 0.01  # of the largest number: what is farther apart is another computation, not rounding


def check_decoder(model: nn.Module) -> None:
    """Refuse a model that is no decoder-only language model."""
    if not isinstance(model, DecoderOnly) or not isinstance(model.head, LanguageModel):
        raise ValueError("this needs a decoder-only language model, such as GPT-2 or Llama, and this model is none")


def lens_names(model: nn.Module) -> list[str]:
    """The values of a pass that the lens needs: the state before the first layer and after each, and the logits."""
    check_decoder(model)
    decoder: Any = model.decoder
    return [FRONT, *(f"decoder.layers.{index}.output" for index in range(len(decoder.layers))), LOGITS]


def logit_lens(model: nn.Module, ids: Sequence[int], *, position: int = -1) -> Tensor:
    """Run a text and read its states after one token. Returns (L + 1) V: embedding first, the model's logits last."""
    return lens_of(model, run_traced(model, ids, lens_names(model)), position=position)


@torch.no_grad()
def lens_of(model: Any, values: Mapping[str, Tensor], *, position: int = -1) -> Tensor:
    """The same from recorded values, which have no batch dimension: T D, and T V for the logits."""
    *names, _ = lens_names(model)
    own = values[LOGITS][position]
    states = torch.stack([values[name][position] for name in names])
    logits: Tensor = model.head(model.decoder.norm(states)[None])[0]
    check_close(logits[-1], own, "the last state's logits")
    logits[-1] = own  # bit for bit: a product over fewer rows may round otherwise
    return logits


def ranks(logits: Tensor, token: int) -> list[int]:
    """A token's place in each row: 1 is the likeliest."""
    found: list[int] = (1 + (logits > logits[:, token, None]).sum(dim=-1)).tolist()
    return found


@torch.no_grad()
def run_traced(model: nn.Module, ids: Sequence[int], names: Sequence[str]) -> dict[str, Tensor]:
    """One ordinary pass over a text; the named values without their batch dimension."""
    if not ids:
        raise ValueError("there are no tokens to look at; give one at least")
    device = next(model.parameters()).device
    with trace(model, only=names) as seen:
        model(torch.tensor([list(ids)], device=device))
    return {name: seen[name][0] for name in seen}


def check_close(found: Tensor, own: Tensor, what: str, scale: float = 0.0) -> None:
    """Refuse to show numbers that do not add up to the model's own. scale: the size of what was added."""
    apart, size = float((found - own).abs().max()), max(1.0, float(own.abs().max()), scale)
    if not apart <= CLOSE * size:
        raise ValueError(f"{what} are {apart:.2g} away from the model's own, so this model computes them otherwise")
