"""How fast speech is written down, and whether the text is that of a reference runner of the same weights.

    python benchmarks/transcription_speed.py --data recordings.tsv
    python benchmarks/transcription_speed.py --data FOLDER --reference FETCHED      (ctranslate2's own files)

Recording by recording, greedily, on as many threads: this package with PyTorch, this package with ctranslate2, and
ctranslate2's own Whisper, called with nothing of ours but the spectra. They take turns in one process; what is printed
is seconds of sound per second of processor time, each divided by the reference's, how many texts are equal, and the
word error rate where transcripts are known. Recordings longer than the model's window are left out. Needs
`clearformer models get whisper-tiny-en`.
"""

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ctranslate2
import numpy as np
import torch

from clearformer.data.readers.sounds import read_sound
from clearformer.data.readers.transcribed import read_transcribed, recordings_below
from clearformer.evaluation.word_errors import score_transcripts
from clearformer.folder import bundle
from clearformer.folder.description import find_model
from clearformer.inference.engines import converted, open_bundle
from clearformer.inference.transcriber import Transcriber
from clearformer.inference.whisper_reader import END, PLAIN, START

REFERENCE = "ctranslate2's own"
Write = Callable[[np.ndarray], str]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="a table of recordings, or a folder of them")
    parser.add_argument("--model", default="whisper-tiny-en", help="a Whisper-style model (whisper-tiny-en)")
    parser.add_argument("--reference", type=Path, help="a folder of ctranslate2's (made from the model)")
    parser.add_argument("--most", type=int, default=0, help="recordings, the first so many (all)")
    parser.add_argument("--threads", type=int, default=1, help="of every runner (1)")
    parser.add_argument("--plain", action="store_true", help="without marks of time")
    parser.add_argument("--out", type=Path, help="a file for all texts, one JSON object per recording")
    asked = parser.parse_args()
    torch.set_num_threads(asked.threads)
    ways, rate, longest = open_all(asked)
    sounds = [(name, sound, text) for name, sound, text in read(asked.data, rate) if len(sound) <= longest * rate]
    sounds = sounds[: asked.most] if asked.most else sounds
    for write in ways.values():  # what is made at the first call is not counted
        write(sounds[0][1])
    texts, seconds = race(ways, sounds)
    report(texts, seconds, sounds, rate)
    if asked.out is not None:
        rows = [{"name": name, "wanted": text} for name, _, text in sounds]
        told = [row | {way: found[place] for way, found in texts.items()} for place, row in enumerate(rows)]
        asked.out.write_text("".join(f"{json.dumps(one, ensure_ascii=False)}\n" for one in told), encoding="utf-8")


def open_all(asked: argparse.Namespace) -> tuple[dict[str, Write], int, float]:
    folder = find_model(asked.model)
    ours = Transcriber(bundle.load(folder))
    fast = Transcriber(open_bundle(folder, "ctranslate2"))
    theirs = ctranslate2.models.Whisper(
        str(asked.reference or converted(folder).path), intra_threads=asked.threads, compute_type="float32"
    )
    times, most = not asked.plain, min(225, ours.bundle.config.max_len - 2)

    def by_reference(sound: np.ndarray) -> str:
        tokenizer = ours.tokenizer
        prompt = [tokenizer.id(START), *([] if times else [tokenizer.id(PLAIN)])]
        frames = np.ascontiguousarray(ours.frames(sound).mT.numpy())
        [found] = theirs.generate(ctranslate2.StorageView.from_array(frames), [prompt], beam_size=1, max_length=most)
        return tokenizer.decode([one for one in found.sequences_ids[0] if one < tokenizer.id(END)]).strip()

    def by(transcriber: Transcriber) -> Write:
        settings: dict[str, Any] = {"times": times, "fallback": False, "skip_silence": False, "max_new": most - 1}
        return lambda sound: transcriber.transcribe(sound, **settings)[0].text

    ways = {"torch": by(ours), "ctranslate2": by(fast), REFERENCE: by_reference}
    return ways, ours.facts.sample_rate, ours.facts.seconds


def read(data: Path, rate: int) -> list[tuple[str, np.ndarray, str]]:
    """Recordings with their transcripts, or without any."""
    if data.is_dir() and not any(path.with_suffix(".txt").is_file() for path in recordings_below(data)):
        return [(path.name, read_sound(path, rate=rate), "") for path in recordings_below(data)]
    return [(one.path.name, read_sound(one.path, rate=rate), one.text) for one in read_transcribed(data)]


def race(
    ways: dict[str, Write], sounds: list[tuple[str, np.ndarray, str]]
) -> tuple[dict[str, list[str]], dict[str, float]]:
    """Every recording by each in turn: texts, and seconds of processor time."""
    texts: dict[str, list[str]] = {name: [] for name in ways}
    seconds = dict.fromkeys(ways, 0.0)
    for _, sound, _ in sounds:
        for name, write in ways.items():
            started = time.process_time()
            texts[name].append(write(sound))
            seconds[name] += time.process_time() - started
    return texts, seconds


def report(
    texts: dict[str, list[str]], seconds: dict[str, float], sounds: list[tuple[str, np.ndarray, str]], rate: int
) -> None:
    heard = sum(len(sound) for _, sound, _ in sounds) / rate
    wanted = [text for _, _, text in sounds]
    print(f"{len(sounds)} recordings, {heard:.1f} s of sound")
    for name, found in texts.items():
        equal = sum(one == other for one, other in zip(found, texts[REFERENCE], strict=True))
        line = f"{name:20} {heard / seconds[name]:6.2f} x real time   ratio {seconds[REFERENCE] / seconds[name]:5.2f}"
        line += f"   equal {equal} of {len(found)}"
        if all(wanted):
            scores = score_transcripts(found, wanted)
            line += f"   wer {scores['wer']:.4f} ({scores['wer_low']:.4f} to {scores['wer_high']:.4f})"
        print(line)
    for place, (name, _, _) in enumerate(sounds):
        for way, found in texts.items():
            if found[place] != texts[REFERENCE][place]:
                print(f"{name}: {way} {found[place]!r}, {REFERENCE} {texts[REFERENCE][place]!r}")


if __name__ == "__main__":
    main()
