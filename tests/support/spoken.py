"""Made-up speech: every word is a chord of its own, so that a tiny model can learn to write it down."""

import wave
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from clearformer.folder.bundle import Bundle
from clearformer.folder.preprocessing import Preprocessing, SoundFacts
from clearformer.model.build import build
from clearformer.model.config import (
    AttentionConfig,
    DropoutConfig,
    FrontConfig,
    ModelConfig,
    NormConfig,
    PositionConfig,
)
from clearformer.text.train_tokenizer import train

RATE = 8000
PITCHES = {"do": (400, 900), "re": (700, 1500), "mi": (1200, 2600)}
FACTS = SoundFacts(sample_rate=RATE, mels=12, window=200, hop=80, seconds=2.0, fill=False, margin=0.05)


def say(text: str, seed: int = 1, seconds: float = 0.15) -> NDArray[np.float32]:
    """A recording of these words, with a little noise."""
    draw = np.random.default_rng(seed)
    time = np.arange(round(seconds * RATE)) / RATE
    parts = []
    for word in text.split():
        chord = sum(np.sin(2 * np.pi * pitch * draw.uniform(0.97, 1.03) * time) for pitch in PITCHES[word])
        parts += [chord * np.hanning(len(time)) * draw.uniform(0.2, 0.4), np.zeros(round(0.05 * RATE))]
    whole = np.concatenate(parts)
    return (whole + 0.003 * draw.standard_normal(len(whole))).astype(np.float32)


def write_wave(path: Path, sound: NDArray[np.float32], rate: int = RATE) -> Path:
    """A WAV file of sixteen bits."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(np.round(np.clip(sound, -1, 1) * 32767).astype("<i2").tobytes())
    return path


def texts(count: int, seed: int = 1) -> list[str]:
    """So many texts of one to three words."""
    draw = np.random.default_rng(seed)
    return [" ".join(draw.choice(list(PITCHES), size=draw.integers(1, 4))) for _ in range(count)]


def write_table(folder: Path, count: int = 40, name: str = "spoken.tsv") -> Path:
    """A table and its recordings below `wav`."""
    rows = ["file\ttext\tspeaker\n"]
    for number, text in enumerate(texts(count)):
        write_wave(folder / "wav" / f"{number}.wav", say(text, seed=number))
        rows.append(f"wav/{number}.wav\t{text}\t{'ab'[number % 2]}\n")
    (folder / name).write_text("".join(rows), encoding="utf-8")
    return folder / name


def write_beside(folder: Path, count: int = 40) -> Path:
    """A folder of recordings with their transcripts beside them."""
    for number, text in enumerate(texts(count)):
        write_wave(folder / f"{number}.wav", say(text, seed=number))
        (folder / f"{number}.txt").write_text(f"{text}\n", encoding="utf-8")
    return folder


def hearing(shape: str = "encoder", seed: int = 1) -> Bundle:
    """A random model of either kind, 64 wide with heads of 32, so that a row's numbers do not depend on its company."""
    tokenizer = train("word", ["do re mi"] * 3, 20, min_frequency=1)
    torch.manual_seed(seed)
    config = ModelConfig(
        shape=shape,  # type: ignore[arg-type]
        vocab_size=tokenizer.vocab_size,
        dim=64,
        hidden_dim=64,
        layers=1,
        max_len=16,
        attention=AttentionConfig(heads=2),
        position=PositionConfig(kind="sinusoidal"),
        norm=NormConfig(place="pre"),
        dropout=DropoutConfig.everywhere(0.0),
        front=FrontConfig(kind="sound", mels=FACTS.mels),
    )
    made = build(config)
    with torch.no_grad():  # so that it says different things
        for weight in made.parameters():
            weight.mul_(1.5)
    return Bundle(
        config=config,
        model=made,
        task="transcription",
        preprocessing=Preprocessing(tokenizer=tokenizer, sound=FACTS),
    )
