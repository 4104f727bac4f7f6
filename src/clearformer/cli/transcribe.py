"""clearformer transcribe: the text of each recording, with the times of its segments."""

import argparse
import json
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING

from clearformer.cli.left_out import add_leave_out, readable
from clearformer.cli.options import add_options, read_options
from clearformer.cli.search_options import add_engine
from clearformer.cli.shipped import files_help, note_of_knowledge
from clearformer.cli.usage import UsageError
from clearformer.cli.use import (
    add_answers,
    add_model,
    given_files,
    open_model,
    open_output,
    refuse_missing_files,
    utf8_word,
)
from clearformer.foundation.progress import OnProgress, unwatched
from clearformer.tasks.verbs import VERBS

if TYPE_CHECKING:
    from clearformer.inference.transcript import Transcript

WHISPER = "for all that people say: clearformer models get whisper-tiny-en, then --model whisper-tiny-en"
FORMATS = ("txt", "srt", "vtt", "json")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What the verb takes."""
    parser.add_argument(
        "text",
        nargs="*",
        type=utf8_word,
        metavar="FILE",
        help=files_help("recordings"),
    )
    parser.add_argument("--input", type=Path, metavar="FILE", help="a file with the names of recordings, one per line")
    add_model(
        parser,
        "a model of speech, such as whisper-tiny-en, which `clearformer models get whisper-tiny-en` fetches",
        default=VERBS["transcribe"].default,
    )
    add_engine(parser, auto="ctranslate2 for a folder that was converted for it, and otherwise torch")
    add_options(parser, VERBS["transcribe"].options)
    parser.add_argument(
        "--format",
        choices=FORMATS,
        help="txt: one line per recording, with a tab and its name where there are several; srt, vtt: subtitles of one "
        "recording; json: as --json (txt)",
    )
    add_leave_out(parser, "recordings")
    add_answers(parser, "print one JSON object per recording, with its text and its segments with their times")
    parser.epilog = (
        "Reads WAV; FLAC, Ogg and MP3 with the soundfile package (pip install 'clearformer[sound]'). Any sample rate "
        "and number of channels. A long recording is read window by window, usually of 30 seconds."
    )


def run(arguments: argparse.Namespace) -> None:
    """Transcribe recording by recording."""
    form = _form(arguments)
    config = read_options(arguments, VERBS["transcribe"].options)
    refuse_missing_files(arguments)
    note = note_of_knowledge(arguments, VERBS["transcribe"], remedy=WHISPER)

    from clearformer.data.readers.sounds import ENDINGS, read_sound, sound_files
    from clearformer.inference.transcriber import Transcriber

    transcriber = Transcriber(open_model(arguments))
    rate = transcriber.facts.sample_rate
    files: Iterable[Path] = given_files(
        arguments, "recordings", sound_files, ENDINGS, examples=VERBS["transcribe"].examples
    )
    files = readable(files, lambda file: read_sound(file, rate=rate), leave_out=arguments.leave_out)
    if form in ("srt", "vtt"):
        files = list(files)
        if len(files) != 1:
            raise UsageError(
                f"--format {form} is for one recording, and {len(files)} were given; use json, or one each"
            )
    named, files = _several(files)
    with open_output(arguments.output) as output:
        for file in files:
            sound = read_sound(file, rate=rate)
            with _progress(file, len(sound) / rate) as show:
                [found] = transcriber.transcribe([sound], config, on_progress=show)
            note()
            if not found.text:
                print(f"{file}: nothing is said in it, as far as the model hears", file=sys.stderr)
            for line in _lines(form, file, len(sound) / rate, found):
                print(f"{line}\t{file}" if named and form == "txt" else line, file=output, flush=True)


def _several(files: Iterable[Path]) -> tuple[bool, Iterator[Path]]:
    """Whether there is more than one, and all of them; the rest is still found one by one."""
    rest = iter(files)
    first = list(islice(rest, 2))
    return len(first) > 1, chain(first, rest)


def _form(arguments: argparse.Namespace) -> str:
    if arguments.json and arguments.format not in (None, "json"):
        raise UsageError(f"--json and --format {arguments.format} are two forms; leave one out")
    return "json" if arguments.json else arguments.format or "txt"


@contextmanager
def _progress(file: Path, seconds: float) -> Iterator[OnProgress]:
    """A bar in seconds, for what takes longer than a moment and is watched."""
    if seconds <= 60 or not sys.stderr.isatty():
        yield unwatched
        return
    from clearformer.cli.progress import progress_bar

    with progress_bar(f"{file.name}, seconds") as show:
        yield lambda done, total: show(round(seconds * done / total), round(seconds))


def _lines(form: str, file: Path, seconds: float, found: "Transcript") -> Iterator[str]:
    """A transcript in the form that was asked for."""
    from clearformer.inference.subtitles import subtitle_lines

    if form == "json":
        yield json.dumps({"file": str(file), "seconds": round(seconds, 3), **asdict(found)}, ensure_ascii=False)
    elif form == "srt":
        yield from subtitle_lines(found.segments, "srt")
    elif form == "vtt":
        yield from subtitle_lines(found.segments, "vtt")
    else:
        yield " ".join(VERBS["transcribe"].line(found).split())  # a line per recording, whatever is said
