"""A small folder of every kind of model, and what can be asked of it once it is open."""

from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import tokenizers
import torch
from tokenizers import decoders, models, pre_tokenizers

from clearformer.folder import bundle
from clearformer.folder.bundle import Bundle
from clearformer.folder.preprocessing import Preprocessing, SoundFacts
from clearformer.foundation import storage
from clearformer.inference.whisper_reader import END, PLAIN, START
from clearformer.model.build import build
from clearformer.model.config import EmbeddingConfig, FrontConfig, HeadConfig
from clearformer.model.families import FAMILIES
from clearformer.text.special import BERT, SpecialTokens
from clearformer.text.tokenizer import Tokenizer
from clearformer.text.train_tokenizer import train
from interop.folders import wordpiece
from model.specimens import MELS, READERS, SPEAKERS, configured

TEXTS = ["two dogs play in the snow", "the cat sleeps and a bird sings"]
SIZES: dict[str, Any] = {"dim": 16, "hidden_dim": 24, "layers": 1, "heads": 2, "max_len": 64}


PECULIAR: dict[str, dict[str, Any]] = {"albert": {"embedding": EmbeddingConfig(types=2, norm=True)}}


class Kind(NamedTuple):
    """A family with a head: which task it is for, and with which method and input that is tried."""

    task: str
    method: str
    family: str
    head: HeadConfig | None = None


_READ: dict[str, tuple[str, str, HeadConfig]] = {
    "class": ("text-classification", "classify", HeadConfig(kind="class", labels=3)),
    "tags": ("tagging", "tag", HeadConfig(kind="tags", labels=3)),
    "span": ("question-answering", "answer", HeadConfig(kind="span")),
    "states": ("embedding", "embed", HeadConfig(kind="states")),
    "language-model": ("masked-language-model", "fill", HeadConfig(kind="language-model")),
}
KINDS: dict[str, Kind] = {
    **{family: Kind("language-model", "generate", family) for family in SPEAKERS},
    **{
        f"{family} {name}": Kind(task, method, family, head)
        for family in READERS
        for name, (task, method, head) in _READ.items()
    },
    **{
        family: Kind("translation", "translate", family)
        for family in ("transformer", "marian", "bart", "t5", "lstm", "convolution")
    },
    "vit class": Kind("picture-classification", "classify", "vit", HeadConfig(kind="class", labels=3)),
    "vit masks": Kind("segmentation", "segment", "vit", HeadConfig(kind="masks", labels=3)),
    "vit pixels": Kind("network", "run", "vit", HeadConfig(kind="pixels")),
    "dit": Kind("painting", "paint", "dit"),
    "detr": Kind("network", "run", "detr"),
    "autoencoder": Kind("network", "run", "autoencoder"),
    "whisper": Kind("transcription", "transcribe", "whisper"),
}


def make(name: str, folder: Path) -> Path:
    """Write a model of this kind with random weights; its folder names no task, as those of format 1 do not."""
    kind = KINDS[name]
    made = (
        _pictured(kind) if kind.family in ("vit", "detr", "dit") else _sounding() if name == "whisper" else _read(kind)
    )
    bundle.save(made, folder)
    return folder


def ask(model: Any, name: str) -> Any:
    """What such a model answers to something small."""
    kind = KINDS[name]
    given: Any = TEXTS[0]
    if kind.task == "question-answering":
        return model.answer("who plays", TEXTS[0])
    if kind.task == "masked-language-model":
        given = f"two {model.gap} play"
    if kind.task in ("picture-classification", "segmentation"):
        given = np.zeros((8, 8, 3), dtype=np.uint8)
    if kind.task == "painting":
        return model.paint("1", count=1, steps=1)
    if kind.task == "transcription":
        return model.transcribe(np.zeros(1600, dtype=np.float32), max_new=3)
    if kind.task == "network":
        config = model.bundle.config
        sizes = (1, config.front.channels, config.front.picture, config.front.picture)
        return model.run(torch.zeros(sizes) if kind.family != "autoencoder" else torch.zeros(1, 5, dtype=torch.long))
    more = {"max_new": 3} if kind.method == "generate" else {}
    return getattr(model, kind.method)(given, **more)


def in_format_one(folder: Path, out: Path) -> Path:
    """The same folder as the first version wrote it: tokenizers, markers and labels one by one, and no task."""
    told = storage.read_json(folder / "config.json")
    first = {"format": 1, "model": told["model"], "provenance": told["provenance"], **told["preprocessing"]}
    with storage.new_folder(out) as aside:
        for file in folder.iterdir():
            if file.name not in ("config.json", storage.MANIFEST):
                (aside / file.name).write_bytes(file.read_bytes())
        storage.write_json(aside / "config.json", first)
    return out


def _read(kind: Kind) -> Bundle:
    bert = kind.family in READERS
    tokenizer = (
        Tokenizer.from_engine(wordpiece(), kind="wordpiece", special=BERT, special_in_text=True)
        if bert
        else train("bpe", TEXTS * 5, 300)
    )
    head = {} if kind.head is None else {"head": kind.head}
    family = FAMILIES[kind.family]
    config = family(**{**SIZES, "vocab_size": tokenizer.vocab_size, **head, **PECULIAR.get(kind.family, {})})
    return Bundle(config=config, model=build(config), preprocessing=Preprocessing(tokenizer=tokenizer))


def _pictured(kind: Kind) -> Bundle:
    front = FrontConfig(kind="patches", picture=8, patch=4)
    config = configured(kind.family, front=front, **({} if kind.head is None else {"head": kind.head}))
    return Bundle(config=config, model=build(config))


def _sounding() -> Bundle:
    """Whisper over twenty frames, with a vocabulary of letters and its own markers."""
    words = [*sorted(pre_tokenizers.ByteLevel.alphabet()), END, START, PLAIN]
    engine = tokenizers.Tokenizer(models.BPE(vocab={word: n for n, word in enumerate(words)}, merges=[]))
    engine.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    engine.decoder = decoders.ByteLevel()
    engine.add_special_tokens([END, START, PLAIN])
    tokenizer = Tokenizer.from_engine(engine, kind="bpe", special=SpecialTokens(eos=END, bos=START))
    config = configured("whisper", vocab_size=len(words))
    config = replace(config, front=replace(config.front, mels=MELS))
    facts = SoundFacts(mels=MELS, seconds=0.2)
    return Bundle(config=config, model=build(config), preprocessing=Preprocessing(tokenizer=tokenizer, sound=facts))
