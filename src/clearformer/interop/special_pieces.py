"""Which pieces of a published vocabulary are special: start, end, padding, mask."""

from collections.abc import Mapping
from typing import Any

import tokenizers

from clearformer.text.special import ROLES, SpecialTokens

# How each role is spelt in families whose old folders do not say it.
SPELT: dict[str, dict[str, str]] = {
    "bert": {"pad": "[PAD]", "unk": "[UNK]", "cls": "[CLS]", "sep": "[SEP]", "mask": "[MASK]"},
    "gpt2": {"bos": "<|endoftext|>", "eos": "<|endoftext|>", "unk": "<|endoftext|>"},
    "roberta": {
        "bos": "<s>",
        "eos": "</s>",
        "pad": "<pad>",
        "unk": "<unk>",
        "cls": "<s>",
        "sep": "</s>",
        "mask": "<mask>",
    },
    "t5": {"pad": "<pad>", "bos": "<pad>", "eos": "</s>", "unk": "<unk>"},  # its decoder begins with padding
    "albert": {
        "bos": "[CLS]",
        "eos": "[SEP]",
        "pad": "<pad>",
        "unk": "<unk>",
        "cls": "[CLS]",
        "sep": "[SEP]",
        "mask": "[MASK]",
    },
    "llama": {"bos": "<s>", "eos": "</s>", "unk": "<unk>"},
    "marian": {"pad": "<pad>", "bos": "<pad>", "eos": "</s>", "unk": "<unk>"},  # and so does Marian's
}
SPELT |= {"opt": {"pad": "<pad>", "bos": "</s>", "eos": "</s>", "unk": "</s>"}, "electra": SPELT["bert"]}
SPELT["clip"] = dict.fromkeys(("eos", "pad", "unk"), "<|endoftext|>") | {"bos": "<|startoftext|>"}
SPELT["siglip"] = {"eos": "</s>", "pad": "</s>", "unk": "<unk>"}
SPELT |= {"deberta": SPELT["bert"] | {"bos": "[CLS]", "eos": "[SEP]"}}
SPELT |= {"distilbert": SPELT["bert"], "bart": SPELT["roberta"], "whisper": SPELT["gpt2"]}


def special_pieces(engine: tokenizers.Tokenizer, family: str, facts: Mapping[str, Any]) -> SpecialTokens:
    """The piece for each role: as the folder says, or as usual in the family. Roles without a piece are left out."""
    spelt: dict[str, str] = {}
    for role in ROLES:
        value = facts.get(f"{role}_token", SPELT.get(family, {}).get(role))
        text = value.get("content") if isinstance(value, Mapping) else value
        if isinstance(text, str) and engine.token_to_id(text) is not None:
            spelt[role] = text
    return SpecialTokens(**spelt)
