"""How far the times of words are off: digits of FSDD joined at known moments, written down with `--words`.

    python benchmarks/word_times.py --model whisper-tiny-en --rows 10
    python benchmarks/word_times.py --model runs/fsdd/model --rows 50

Test recordings are joined, six in a row, with silence between; a word's time is compared with the beginning and the
end of its recording where the text has as many words as the row has digits, each of them right.
"""

import argparse
import re

import numpy as np
import torch

from clearformer.data.catalogue.fetch import get
from clearformer.data.readers.transcribed import choose_rows, read_transcribed
from clearformer.data.resampling import resample
from clearformer.folder.description import find_model
from clearformer.inference.engines import open_bundle
from clearformer.inference.transcriber import Transcriber
from clearformer.text.spoken_text import english_words

PAUSE = 0.35  # seconds between two digits
IN_ROW = 6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="whisper-tiny-en")
    parser.add_argument("--rows", type=int, default=20)
    parser.add_argument("--engine", choices=["torch", "ctranslate2"], default="torch")
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    torch.set_num_threads(1)
    model = Transcriber(open_bundle(find_model(asked.model), asked.engine))
    starts, ends, right, total = [], [], 0, 0
    for sound, digits, times in rows(asked.rows, asked.seed, model.facts.sample_rate):
        [found] = model.transcribe(sound, words=True)
        words = [word for segment in found.segments for word in segment.words]
        said = [english_words(word.text) for word in words]
        said = [word for word in said if word]
        total += len(digits)
        right += sum(one == other for one, other in zip(said, digits, strict=False)) if len(said) == len(digits) else 0
        if said == digits:
            heard = [word for word in words if re.search(r"\w", word.text)]
            starts += [abs(word.start - start) for word, (start, _) in zip(heard, times, strict=True)]
            ends += [abs(word.end - end) for word, (_, end) in zip(heard, times, strict=True)]
    print(f"{asked.rows} rows of {IN_ROW} digits, {right} of {total} digits right in rows of equal length")
    for name, errors in (("start", starts), ("end", ends)):
        if errors:
            print(f"{name}: off by {np.median(errors):.3f} s (median), {np.mean(errors):.3f} (mean), "
                  f"{np.quantile(errors, 0.9):.3f} (nine tenths), {len(errors)} words")  # fmt: skip


def rows(count: int, seed: int, rate: int) -> list[tuple[np.ndarray, list[str], list[tuple[float, float]]]]:
    """Sound, digits, and the beginning and end of each digit."""
    folder = get("fsdd")
    every = list(
        read_transcribed(folder / "index.tsv", recordings=folder / "recordings.tar.gz", file="file", text="digit")
    )
    test = [one for one, kept in zip(every, choose_rows("split=test", every), strict=True) if kept]
    draw = np.random.default_rng(seed)
    made = []
    for _ in range(count):
        parts, digits, times = [np.zeros(round(0.5 * rate), dtype=np.float32)], [], []
        place = len(parts[0])
        for number in draw.integers(len(test), size=IN_ROW):
            recorded = test[number].read()
            sound = resample(recorded.samples, recorded.rate, rate)
            parts += [sound, np.zeros(round(PAUSE * rate), dtype=np.float32)]
            times.append((place / rate, (place + len(sound)) / rate))
            digits.append(test[number].text)
            place += len(sound) + len(parts[-1])
        made.append((np.concatenate(parts), digits, times))
    return made


if __name__ == "__main__":
    main()
