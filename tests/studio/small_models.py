"""A small model of every family."""

from collections.abc import Callable

import torch

from clearformer.folder.bundle import Bundle
from clearformer.folder.preprocessing import Preprocessing
from clearformer.model import families
from clearformer.model.build import build
from clearformer.model.config import HeadConfig, ModelConfig, NormConfig, PositionConfig
from clearformer.text.tokenizer import Tokenizer

LINES = ["two dogs play in the snow", "a man reads a book", "the cat sleeps", "a child plays with a dog", "naïve 你好"]
SIZES = {"dim": 24, "hidden_dim": 40, "layers": 2, "heads": 4}

# family × positions × norms: the six configurations whose arithmetic is checked cell by cell
CONFIGURATIONS: dict[str, Callable[[int], ModelConfig]] = {
    "transformer": lambda size: families.transformer(vocab_size=size, head=HeadConfig(bias=True), **SIZES),
    "t5": lambda size: families.t5(vocab_size=size, **SIZES),
    "bert": lambda size: families.bert(
        vocab_size=size, max_len=64, head=HeadConfig(kind="language-model", transform=True, bias=True), **SIZES
    ),
    "llama": lambda size: families.llama(vocab_size=size, kv_heads=2, head_dim=6, **SIZES),
    "alibi": lambda size: families.gpt2(vocab_size=size, max_len=64, position=PositionConfig(kind="alibi"), **SIZES),
    "shaw": lambda size: families.transformer(
        vocab_size=size, position=PositionConfig(kind="shaw", max_distance=4), norm=NormConfig(kind="batch"), **SIZES
    ),
}


def make(name: str, tokenizer: Tokenizer | None, size: int = 330) -> Bundle:
    """An untrained model whose numbers are large enough to differ from one another."""
    config = CONFIGURATIONS[name](size if tokenizer is None else tokenizer.vocab_size)
    torch.manual_seed(len(name))
    model = build(config)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))
        if name == "transformer" and tokenizer is not None:
            model.head.bias[tokenizer.eos_id] += 2.0  # translations that end soon keep the tests short
        if config.norm.kind == "batch":  # let it see some data: without statistics its values would grow without bound
            model.train()
            for _ in range(60):
                model(torch.randint(config.vocab_size, (8, 12)), torch.randint(config.vocab_size, (8, 12)))
    return Bundle(
        config=config,
        model=model.eval(),
        preprocessing=Preprocessing(tokenizer=tokenizer),
        provenance={"source_language": "en"},
    )
