"""The published pairs: what each half chose, its size, and its parameters' names, which are a file format."""

import torch

from clearformer.model.build import build
from clearformer.model.pair_families import clip, clip_pictures, clip_texts, siglip, siglip_pictures, siglip_texts


def count(config):
    with torch.device("meta"):
        return sum(one.numel() for one in build(config).parameters())


def test_published_sizes():
    """Their papers' smallest models: CLIP with ViT-B/32 has 151 million parameters, SigLIP with ViT-B/16 203."""
    texts = clip_texts(vocab_size=49_408)
    assert count(clip(texts=texts, pictures=clip_pictures())) == 151_277_313
    assert count(siglip(texts=siglip_texts(vocab_size=32_000), pictures=siglip_pictures())) == 203_155_970


def test_choices_of_the_papers():
    texts, pictures = clip_texts(vocab_size=9), clip_pictures()
    assert (texts.shape, texts.head.pool, texts.activation, texts.norm.place) == ("decoder", "end", "quick-gelu", "pre")
    assert (pictures.front.norm, pictures.front.class_token, pictures.front.patch_bias) == (True, True, False)
    texts, pictures = siglip_texts(vocab_size=9), siglip_pictures()
    assert (texts.shape, texts.head.pool, texts.head.bias, texts.activation) == ("encoder", "slot", True, "gelu-tanh")
    assert (pictures.front.class_token, pictures.head.pool, pictures.norm.eps) == (False, "attention", 1e-6)
