"""Published sizes by name, and small ones for an ordinary computer."""

from collections.abc import Callable
from dataclasses import replace

from clearformer.model import families
from clearformer.model.config import DropoutConfig, ModelConfig, NormConfig, PositionConfig

PRESETS: dict[str, Callable[[], ModelConfig]] = {
    # for an ordinary computer; the vocabulary size comes from the corpus, later
    "tiny": lambda: families.transformer(
        vocab_size=10_000,
        dim=128,
        hidden_dim=256,
        layers=4,
        heads=4,
        dropout=DropoutConfig(embedding=0.3, residual=0.3),
    ),
    # a deep encoder, which reads once, and a shallow decoder, which runs for every word (Kasai et al., 2021)
    "tiny-fast": lambda: replace(preset("tiny"), layers=6, decoder_layers=1),
    "small": lambda: families.transformer(vocab_size=16_000, dim=256, hidden_dim=1024, layers=4, heads=4),
    # the 2017 paper, table 3
    "base": lambda: families.transformer(vocab_size=37_000, dim=512, hidden_dim=2048, layers=6, heads=8),
    "base-fast": lambda: replace(preset("base"), layers=12, decoder_layers=1),
    "big": lambda: families.transformer(
        vocab_size=37_000,
        dim=1024,
        hidden_dim=4096,
        layers=6,
        heads=16,
        dropout=DropoutConfig(embedding=0.3, residual=0.3),
    ),
    # what its text describes, which is `base`, and what its authors' code had come to compute by 2018: the norm first,
    # all sines before all cosines, dropout of weights and inside the feed-forward part as well
    "paper-text": lambda: preset("base"),
    "t2t-code": lambda: replace(
        preset("base"),
        norm=NormConfig(place="pre"),
        position=PositionConfig(kind="tensor2tensor"),
        dropout=DropoutConfig(embedding=0.1, residual=0.1, attention=0.1, activation=0.1),
    ),
    # what followed
    "bert-base": lambda: families.bert(vocab_size=30_522),
    "gpt2": lambda: families.gpt2(vocab_size=50_257, dim=768, hidden_dim=3072, layers=12, heads=12),
    "bart-base": lambda: families.bart(vocab_size=50_265, dim=768, hidden_dim=3072, layers=6, heads=12),
    "t5-small": lambda: families.t5(vocab_size=32_128, dim=512, hidden_dim=2048, layers=6, heads=8),
    "vit-b16": lambda: families.vit(dim=768, hidden_dim=3072, layers=12, heads=12),
    "gpt3": lambda: families.gpt2(
        vocab_size=50_257, dim=12_288, hidden_dim=4 * 12_288, layers=96, heads=96, max_len=2048
    ),
}


def preset(name: str, *, vocab_size: int | None = None) -> ModelConfig:
    """The configuration of this name, with another vocabulary size if given."""
    if name not in PRESETS:
        raise ValueError(f"there is no preset {name!r}; choose one of {', '.join(PRESETS)}")
    config = PRESETS[name]()
    return config if vocab_size is None else replace(config, vocab_size=vocab_size)
