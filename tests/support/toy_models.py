"""Small models with random weights that behave like trained ones: they decide, and they end."""

import random
from typing import Any

import torch

from clearformer.folder.bundle import Bundle
from clearformer.folder.preprocessing import Preprocessing
from clearformer.model.build import build
from clearformer.model.config import HeadConfig, ModelConfig
from clearformer.model.families import transformer
from clearformer.text.tokenizer import Tokenizer
from clearformer.text.train_tokenizer import TokenizerConfig, train_from

WORDS = ["dog", "snow", "plays", "two", "the", "in", "cat", "runs", "Straße", "雪", "<eos>"]


def texts(count: int, seed: int = 3) -> list[str]:
    generator = random.Random(seed)
    return [" ".join(generator.choices(WORDS, k=generator.randint(1, 12))) for _ in range(count)]


def vocabulary(size: int = 320) -> Tokenizer:
    return train_from(TokenizerConfig(kind="bpe", vocab_size=size, min_frequency=1), texts(200))


def decided(
    config: ModelConfig, tokenizer: Tokenizer, *, ending: float = 4.0, target: Tokenizer | None = None
) -> Bundle:
    """A model whose outputs differ and end after some words. ending: how much it likes to end."""
    torch.manual_seed(11)
    model = build(config)
    spoken = target or tokenizer
    for name, weight in model.named_parameters():
        if name.endswith("bias"):
            weight.data.normal_(0, 0.3)
    bias = model.head.bias
    bias.data[spoken.eos_id] = ending
    bias.data[[spoken.pad_id, spoken.bos_id, spoken.unk_id]] = -30.0  # a trained model hardly ever thinks of these
    return Bundle(
        config=config, model=model.eval(), preprocessing=Preprocessing(tokenizer=tokenizer, target_tokenizer=target)
    )


def small(**changes: Any) -> Bundle:
    """The 2017 model at width 64."""
    tokenizer = vocabulary()
    sizes = {"vocab_size": tokenizer.vocab_size, "dim": 64, "hidden_dim": 64, "layers": 2, "heads": 2, "init_std": 0.3}
    return decided(transformer(**{**sizes, "head": HeadConfig(bias=True), **changes}), tokenizer)
