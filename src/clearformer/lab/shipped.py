"""The translator that ships, opened for experiments on a real model."""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from clearformer.folder.bundle import load
from clearformer.folder.description import shipped_models

NAME = "en-de"


@dataclass(frozen=True, kw_only=True)
class ReadSentence:
    """The network, ready for use, and a sentence as it reads it. tokens: 1 T."""

    network: Any
    tokens: Tensor
    pieces: list[str]
    tokenizer: Any


def read_shipped(sentence: str) -> ReadSentence:
    """Open the translator that ships, and turn a sentence into its tokens."""
    bundle = load(shipped_models() / NAME)
    tokenizer = bundle.tokenizer
    if tokenizer is None:
        raise ValueError(f"the model {NAME} has no vocabulary; install the package anew")
    [ids] = tokenizer.ids([sentence], add_special=False)
    pieces = [tokenizer.decode([one]).strip() or "·" for one in ids]
    return ReadSentence(
        network=bundle.model.eval(),
        tokens=torch.tensor([[*ids, tokenizer.eos_id]]),
        pieces=[*pieces, "</s>"],
        tokenizer=tokenizer,
    )
