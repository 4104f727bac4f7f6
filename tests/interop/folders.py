"""Small folders as Hugging Face's library writes them, made without it."""

import json
from pathlib import Path
from typing import Any

import tokenizers
import torch
from safetensors.torch import save_file
from tokenizers import decoders, models, normalizers, pre_tokenizers, processors

from clearformer.interop.hf import bert, gpt2, llama, marian, whisper
from clearformer.interop.renaming import give, link
from clearformer.model.build import build
from clearformer.model.config import HeadConfig, ModelConfig
from clearformer.model.families import FAMILIES
from clearformer.model.weights import weights_of

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "two", "dogs", "play", "in", "the", "snow", ".", "##s", "dog"]
SIZES: dict[str, Any] = {"dim": 16, "hidden_dim": 24, "layers": 2, "heads": 2, "max_len": 24}
FILES = {"bert": bert, "gpt2": gpt2, "llama": llama, "marian": marian, "whisper": whisper}


def model_of(config: ModelConfig) -> torch.nn.Module:
    """A model whose every number differs from its default."""
    model = build(config).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.2 * torch.randn_like(parameter))
    return model


def write(folder: Path, family: str, architecture: str, config: ModelConfig, **more: Any) -> torch.nn.Module:
    """config.json and model.safetensors; returns our model with the same weights."""
    folder.mkdir(parents=True, exist_ok=True)
    model, file = model_of(config), FILES[family]
    weights = weights_of(model)
    save_file(give(link(file.names(config).rules, weights), weights), folder / "model.safetensors")
    plain = {"architectures": [architecture], **file.write_config(config), **more}
    (folder / "config.json").write_text(json.dumps(plain))
    return model


def bert_folder(folder: Path, head: HeadConfig | None = None, architecture: str = "BertModel", **more: Any) -> Any:
    """BERT with a vocabulary of a few words."""
    config = FAMILIES["bert"](vocab_size=len(WORDS), head=head or HeadConfig(kind="states", pooler=True), **SIZES)
    model = write(folder, "bert", architecture, config, **more)
    (folder / "vocab.txt").write_text("\n".join(WORDS) + "\n")
    wordpiece().save(str(folder / "tokenizer.json"))
    return model


def gpt2_folder(folder: Path) -> Any:
    """GPT-2 over single bytes."""
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {letter: number for number, letter in enumerate([*letters, "<|endoftext|>"])}
    config = FAMILIES["gpt2"](vocab_size=len(vocabulary), **SIZES)
    model = write(folder, "gpt2", "GPT2LMHeadModel", config)
    (folder / "vocab.json").write_text(json.dumps(vocabulary))
    (folder / "merges.txt").write_text("#version: 0.2\n")
    return model


def wordpiece() -> tokenizers.Tokenizer:
    """BERT's kind of vocabulary."""
    engine = tokenizers.Tokenizer(
        models.WordPiece(vocab={word: number for number, word in enumerate(WORDS)}, unk_token="[UNK]")
    )
    engine.normalizer = normalizers.BertNormalizer()
    engine.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    engine.decoder = decoders.WordPiece()
    engine.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    engine.add_special_tokens(WORDS[:5])
    return engine


def edit_json(path: Path, change: Any) -> None:
    """Read, change in place, write."""
    value = json.loads(path.read_text())
    change(value)
    path.write_text(json.dumps(value))
