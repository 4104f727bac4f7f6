"""A tiny model that converses: single bytes, the marks of ChatML, random weights."""

import tokenizers
import torch
from tokenizers import AddedToken, decoders, models, pre_tokenizers

from clearformer.folder.bundle import Bundle
from clearformer.folder.preprocessing import Preprocessing
from clearformer.model.build import build
from clearformer.model.config import AttentionConfig
from clearformer.model.families import llama
from clearformer.text.special import SpecialTokens
from clearformer.text.tokenizer import Tokenizer

TEMPLATE = (
    "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>\n' }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
MARKS = ("<|end|>", "<|im_start|>", "<|im_end|>")


def chat_tokenizer() -> Tokenizer:
    """Bytes, and three special pieces; the vocabulary's own end is not what ends a turn."""
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    engine = tokenizers.Tokenizer(models.BPE(vocab={piece: n for n, piece in enumerate([*MARKS, *letters])}, merges=[]))
    engine.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    engine.decoder = decoders.ByteLevel()
    engine.add_tokens([AddedToken(mark, special=True, normalized=False) for mark in MARKS])
    special = SpecialTokens(bos="<|im_start|>", eos="<|end|>", pad="<|end|>")
    return Tokenizer.from_engine(engine, kind="bpe", special=special, special_in_text=True)


def chat_bundle(template: str | None = TEMPLATE, *, max_len: int = 256, seed: int = 0) -> Bundle:
    """A decoder of two layers; with other seeds it says other things."""
    tokenizer = chat_tokenizer()
    config = llama(
        vocab_size=tokenizer.vocab_size,
        dim=32,
        hidden_dim=48,
        layers=2,
        max_len=max_len,
        attention=AttentionConfig(heads=2, kv_heads=1),
    )
    torch.manual_seed(seed)
    model = build(config).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.3 * torch.randn_like(parameter))
    return Bundle(config=config, model=model, preprocessing=Preprocessing(tokenizer=tokenizer, chat_template=template))
