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


def wav2vec2(chance: random.Random) -> Drawn:
    given = samples(chance) | {"mask_feature_prob": chance.choice([0.0, 0.1])}
    return chance.choice(["Wav2Vec2ForCTC", "Wav2Vec2ForCTC", "Wav2Vec2Model"]), hf.Wav2Vec2Config(**given)


def hubert(chance: random.Random) -> Drawn:
    given = samples(chance) | {"feat_proj_layer_norm": chance.random() < 0.7}
    return chance.choice(["HubertForCTC", "HubertForCTC", "HubertModel"]), hf.HubertConfig(**given)


def samples(chance: random.Random) -> dict[str, Any]:
    """Convolutions of any widths, some of which skip samples; both norms of them, and both places of the layers'."""
    heads, groups, count = chance.choice([1, 2, 3]), chance.choice([1, 2, 4]), chance.choice([1, 2, 3, 5])
    return {
        "vocab_size": VOCAB, "hidden_size": heads * groups * chance.choice([4, 6]), "num_attention_heads": heads,
        "num_hidden_layers": chance.choice([1, 2, 3]), "intermediate_size": chance.choice([7, 12, 20]),
        "hidden_act": chance.choice(ACTIVATIONS), "feat_extract_activation": chance.choice(ACTIVATIONS),
        "conv_dim": [chance.choice([3, 6, 9]) for _ in range(count)],
        "conv_kernel": [chance.choice([1, 2, 3, 6]) for _ in range(count)],
        "conv_stride": [chance.choice([1, 2, 3]) for _ in range(count)],
        "conv_bias": chance.random() < 0.5, "feat_extract_norm": chance.choice(["group", "layer"]),
        "do_stable_layer_norm": chance.random() < 0.5, "layer_norm_eps": chance.choice([1e-5, 1e-3, 0.1]),
        "num_conv_pos_embeddings": chance.choice([1, 2, 5, 8]), "num_conv_pos_embedding_groups": groups,
        "mask_time_prob": chance.choice([0.0, 0.05]),
    }  # fmt: skip


SPECTRA, SAMPLES = (whisper,), (wav2vec2, hubert)
FAMILIES: dict[str, Callable[[random.Random], Drawn]] = {one.__name__: one for one in (*SPECTRA, *SAMPLES)}


def drawn(family: str, number: int) -> Any:
    """A model of theirs by its number: the same one every time, with no weight at its default but fixed waves."""
    return made(FAMILIES[family], f"{family} {number}", number)
