"""Random configurations of the families that read recordings; see `drawn`."""

import random
from collections.abc import Callable
from typing import Any

import transformers as hf

from interop.references import PAD, VOCAB
from parity.drawn import ACTIVATIONS, Drawn, made


def whisper(chance: random.Random) -> Drawn:
    """Sizes, bands (128 as in large-v3), activations; both stacks of one width, but not of one depth."""
    heads = chance.choice([1, 2, 3])
    return "WhisperForConditionalGeneration", hf.WhisperConfig(
        vocab_size=VOCAB, d_model=heads * chance.choice([4, 6, 8]), encoder_layers=chance.choice([1, 2, 3]),
        decoder_layers=chance.choice([1, 2, 3]), encoder_attention_heads=heads, decoder_attention_heads=heads,
        encoder_ffn_dim=(hidden := chance.choice([7, 12, 20])), decoder_ffn_dim=hidden,
        num_mel_bins=chance.choice([6, 80, 128]), max_source_positions=chance.choice([5, 8]),
        max_target_positions=chance.choice([16, 24]), activation_function=chance.choice(ACTIVATIONS),
        pad_token_id=PAD, bos_token_id=0, eos_token_id=2, decoder_start_token_id=2,
    )  # fmt: skip


FAMILIES: dict[str, Callable[[random.Random], Drawn]] = {one.__name__: one for one in (whisper,)}


def drawn(family: str, number: int) -> Any:
    """A model of theirs by its number: the same one every time, with no weight at its default but fixed waves."""
    return made(FAMILIES[family], f"{family} {number}", number)
