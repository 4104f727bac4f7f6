"""A Whisper-style model in use: long recordings are read window by window (Radford et al., 2022, section 4.5).

Where a recording is silent it is passed over before the network sees it. A window whose text is improbable or repeats
itself is written again at a higher temperature. What was written before is not shown to the model unless that is asked
for, because a mistake would be carried on and on.
"""

from collections.abc import Callable, Sequence
from typing import Protocol

from torch import Tensor

from clearformer.folder.bundle import Bundle
from clearformer.folder.preprocessing import SoundFacts
from clearformer.foundation.progress import OnProgress, unwatched
from clearformer.inference.quiet import Stretch, silent_stretches
from clearformer.inference.sound_frames import Sound, frames_of
from clearformer.inference.spoken_times import WordTimer
from clearformer.inference.time_marks import STEP, TimedTokens, TimeMarks
from clearformer.inference.transcript import HeardPiece, OnPiece, Segment, SpokenWord, Transcript, moment, unheard
from clearformer.inference.transcription_settings import TranscriptionConfig
from clearformer.inference.window_writer import Asked, SpeechWindow, TokenLimits, WrittenWindow
from clearformer.inference.written_piece import words_of
from clearformer.text.tokenizer import Tokenizer

START, PLAIN, END, BEFORE = "<|startoftranscript|>", "<|notimestamps|>", "<|endoftext|>", "<|startofprev|>"
TRANSCRIBE, TRANSLATE = "<|transcribe|>", "<|translate|>"
SILENCE = ("<|nospeech|>", "<|nocaptions|>")  # one mark, by its newer and its older name
# A window is taken for silence where the mark is so probable and the text so improbable, as published.
SURE_SILENCE, UNSURE_TEXT = 0.6, -1.0
SHORTEST = 0.1  # of a window is read at least before the next begins, or a model that stammers would never be done


class WindowWriter(Protocol):
    """Writes the text of some windows at once, on whichever engine."""

    def write(self, windows: Sequence[SpeechWindow], asked: Asked) -> list[WrittenWindow]: ...

    def likeliest(self, frames: Sequence[Tensor], among: Sequence[int]) -> list[int]: ...


class _HeardSoFar:
    """How far a recording is read, and what was written of it. `end`: where this reading ends, in samples."""

    def __init__(self, number: int, sound: Sound, begin: int, end: int) -> None:
        self.number, self.sound = number, sound
        self.task: tuple[int, ...] = ()  # marks of the language and of what to do, of models that want them
        self.begin, self.end = begin, end
        self.segments: list[Segment] = []
        self.pieces: list[HeardPiece] = []
        self.tokens: list[int] = []
        self.log_prob = 0.0


class WhisperReader:
    """An encoder–decoder over mel frames whose vocabulary has marks of time."""

    def __init__(self, bundle: Bundle, facts: SoundFacts, writer: WindowWriter, timer: Callable[[], WordTimer]) -> None:
        self.bundle, self.facts = bundle, facts
        self.writer, self._open_timer = writer, timer
        self._timer: WordTimer | None = None
        self.tokenizer = bundle.preprocessing.sides[1]

    def read(
        self,
        sounds: Sequence[Sound],
        config: TranscriptionConfig,
        on_progress: OnProgress = unwatched,
        on_piece: OnPiece = unheard,
    ) -> list[Transcript]:
        """The text of each recording; the next windows of several are written together."""
        rate = self.facts.sample_rate
        silent = [silent_stretches(sound, rate) if config.skip_silence else [] for sound in sounds]
        marks = self.marks() if config.times else None
        readings = [one for number, sound in enumerate(sounds) for one in self._begun(number, sound, marks, config)]
        total = sum(map(len, sounds))
        waiting = list(readings)
        while waiting:
            for one in waiting:
                one.begin = _behind_silence(one.begin, silent[one.number])
            waiting = [one for one in waiting if one.begin < one.end]
            self._tell(waiting, readings, config)
            for start in range(0, len(waiting), 1 if config.previous else config.batch):
                self._go_on(waiting[start : start + (1 if config.previous else config.batch)], marks, config)
                left = sum(max(0, one.end - one.begin) for one in readings)
                on_progress(total - left, total)
        for piece in (piece for one in readings for piece in one.pieces):
            on_piece(piece)
        return [
            self._transcript([one for one in readings if one.number == number], config) for number in range(len(sounds))
        ]

    def _begun(
        self, number: int, sound: Sound, marks: TimeMarks | None, config: TranscriptionConfig
    ) -> list[_HeardSoFar]:
        """With marks of time, or with the text before, a window depends on the last one; else all are independent."""
        room = round(self.facts.seconds * self.facts.sample_rate)
        if marks is not None or config.previous:
            return [_HeardSoFar(number, sound, 0, len(sound))]
        return [
            _HeardSoFar(number, sound, begin, min(begin + room, len(sound))) for begin in range(0, len(sound), room)
        ]

    def _tell(
        self, waiting: Sequence[_HeardSoFar], readings: Sequence[_HeardSoFar], config: TranscriptionConfig
    ) -> None:
        """Which language each recording is in: as asked for, or as its first window that is not silent sounds."""
        untold: dict[int, _HeardSoFar] = {}
        for one in waiting if self.facts.tongues else ():
            if not one.task:
                untold.setdefault(one.number, one)
        if not untold:
            return
        marks = [self.tokenizer.id(f"<|{code}|>") for code in self.facts.tongues]
        if config.language is not None:
            found = dict.fromkeys(untold, self.tokenizer.id(f"<|{config.language}|>"))
        else:
            room = round(self.facts.seconds * self.facts.sample_rate)
            frames = [frames_of(one.sound[one.begin : one.begin + room], self.facts) for one in untold.values()]
            found = dict(zip(untold, self.writer.likeliest(frames, marks), strict=True))
        doing = self.tokenizer.id(TRANSLATE if config.translate else TRANSCRIBE)
        for one in readings:
            if one.number in found:
                one.task = (found[one.number], doing)

    def _go_on(self, readings: Sequence[_HeardSoFar], marks: TimeMarks | None, config: TranscriptionConfig) -> None:
        """Read a window of each."""
        room = round(self.facts.seconds * self.facts.sample_rate)
        pieces = [one.sound[one.begin : min(one.begin + room, one.end)] for one in readings]
        windows = [
            SpeechWindow(frames=frames_of(piece, self.facts), prompt=self._prompt(one, marks, config), begin=one.begin)
            for one, piece in zip(readings, pieces, strict=True)
        ]
        written = self._written(windows, marks, config)
        for one, piece, window, found in zip(readings, pieces, windows, written, strict=True):
            self._take(one, piece, window, found, marks, config)

    def _written(
        self, windows: list[SpeechWindow], marks: TimeMarks | None, config: TranscriptionConfig
    ) -> list[WrittenWindow]:
        """At first the likeliest tokens; what is not good is drawn again, at higher and higher temperatures."""
        best = self.writer.write(windows, self._asked(0.0, marks, config))
        poor = [place for place, one in enumerate(best) if config.fallback and self._is_poor(one, config)]
        for step in range(1, 6):
            if not poor:
                break
            drawn = self.writer.write([windows[place] for place in poor], self._asked(0.2 * step, marks, config))
            for place, one in zip(poor, drawn, strict=True):
                best[place] = min(best[place], one, key=lambda text: self._poorness(text, config))
            poor = [place for place in poor if self._is_poor(best[place], config)]
        return best

    def _asked(self, temperature: float, marks: TimeMarks | None, config: TranscriptionConfig) -> Asked:
        end = self.tokenizer.id(END)
        limits = TokenLimits(end=end, never=self.facts.never, never_first=self.facts.never_first, marks=marks)
        return Asked(limits=limits, temperature=temperature, max_new=config.max_new, seed=config.seed)

    def _is_poor(self, written: WrittenWindow, config: TranscriptionConfig) -> bool:
        if self._is_silent(written):
            return False
        return written.mean < config.least_log_prob or written.compression > config.most_compression

    def _poorness(self, written: WrittenWindow, config: TranscriptionConfig) -> tuple[bool, float]:
        """Of two texts the better has the smaller one: first no loop, then the likelier."""
        return written.compression > config.most_compression, -written.mean

    def _is_silent(self, written: WrittenWindow) -> bool:
        return written.silence > SURE_SILENCE and written.mean < UNSURE_TEXT

    def _take(
        self,
        reading: _HeardSoFar,
        piece: Sound,
        window: SpeechWindow,
        written: WrittenWindow,
        marks: TimeMarks | None,
        config: TranscriptionConfig,
    ) -> None:
        """Keep what was written for a window, and say where the next one begins."""
        begin, rate = reading.begin, self.facts.sample_rate
        length = len(piece) / rate
        last = begin + len(piece) >= reading.end
        parts, finished = self._parts(written, marks, length, last=last)
        reading.pieces.append(_heard(reading, begin + len(piece), window, written, used=bool(parts)))
        reading.begin = (
            reading.end
            if finished is None and last
            else begin + (len(piece) if finished is None else min(len(piece), max(1, round(finished * rate))))
        )
        reading.log_prob += written.log_prob if parts else 0.0
        words = self._words(window, reading.task, parts, length) if config.words else [()] * len(parts)
        for part, spoken in zip(parts, words, strict=True):
            end = length if part.end is None else min(part.end, length)
            reading.tokens += part.tokens
            if text := self.tokenizer.decode(part.tokens).strip():
                reading.segments.append(_segment(text, min(part.start, end), end, spoken, begin / rate))

    def _parts(
        self, written: WrittenWindow, marks: TimeMarks | None, length: float, *, last: bool
    ) -> tuple[list[TimedTokens], float | None]:
        """The segments of a window, and where to continue reading, if a mark says so, in seconds."""
        if self._is_silent(written):
            return [], None
        if marks is None:
            return [TimedTokens(start=0.0, end=None, tokens=written.tokens)], None
        segments, resumed = marks.segments(written.tokens), marks.resume(written.tokens)
        unfinished = bool(segments) and segments[-1].end is None  # its end may be in the next window
        if resumed is None or resumed < SHORTEST * self.facts.seconds or (last and not unfinished):
            return segments, None
        return (segments[:-1] if unfinished else segments), resumed

    def _words(
        self, window: SpeechWindow, task: Sequence[int], parts: Sequence[TimedTokens], length: float
    ) -> list[tuple[SpokenWord, ...]]:
        """The words of each segment of a window, with seconds from the window's beginning."""
        if self._timer is None:
            self._timer = self._open_timer()
        tokens = [token for part in parts for token in part.tokens]
        if not tokens:
            return [()] * len(parts)
        prompt = (self.tokenizer.id(START), *task, self.tokenizer.id(PLAIN))
        times = self._timer.times(window.frames, prompt, tokens, length)
        found, place = [], 0
        for part in parts:
            mine = times[place : place + len(part.tokens) + 1]
            found.append(words_of(self.tokenizer, part.tokens, mine[:-1], mine[1:]))
            place += len(part.tokens)
        return found

    def _prompt(self, reading: _HeardSoFar, marks: TimeMarks | None, config: TranscriptionConfig) -> tuple[int, ...]:
        """What the model is shown: perhaps the end of what was written before, and what to do."""
        known = self.tokenizer.marks()
        before: list[int] = []
        if config.previous and reading.tokens and BEFORE in known:
            before = [known[BEFORE], *reading.tokens[-(self.bundle.config.max_len // 2 - 1) :]]
        return (
            *before,
            self.tokenizer.id(START),
            *reading.task,
            *([self.tokenizer.id(PLAIN)] if marks is None else []),
        )

    def _code(self, mark: int) -> str:
        return next(code for code in self.facts.tongues if self.tokenizer.id(f"<|{code}|>") == mark)

    def marks(self) -> TimeMarks | None:
        """The marks of time, if the network has one each step of its window; a vocabulary may not list them."""
        first = self.tokenizer.id(PLAIN) + 1
        if self.bundle.config.vocab_size - first != round(self.facts.seconds / STEP) + 1:
            return None
        return TimeMarks(first=first, end=self.tokenizer.id(END))

    def _transcript(self, readings: Sequence[_HeardSoFar], config: TranscriptionConfig) -> Transcript:
        tokens = [token for one in readings for token in one.tokens]
        return Transcript(
            text=self.tokenizer.decode(tokens).strip(),
            log_prob=sum(one.log_prob for one in readings),
            language=next((self._code(one.task[0]) for one in readings if one.task), None),
            segments=tuple(segment for one in readings for segment in one.segments),
        )


def _heard(reading: _HeardSoFar, end: int, window: SpeechWindow, written: WrittenWindow, *, used: bool) -> HeardPiece:
    return HeardPiece(
        recording=reading.number,
        start=window.begin,
        end=end,
        tokens=written.tokens,
        prompt=window.prompt,
        used=used,
    )


def has_whispers_marks(tokenizer: Tokenizer) -> bool:
    """Whether a vocabulary has the marks that such a model is asked with."""
    try:
        tokenizer.id(START), tokenizer.id(PLAIN)
    except KeyError:
        return False
    return True


def silence_mark(tokenizer: Tokenizer) -> int | None:
    """The mark that says that nobody speaks, where there is one."""
    known = tokenizer.marks()
    return next((known[mark] for mark in SILENCE if mark in known), None)


def _segment(text: str, start: float, end: float, words: tuple[SpokenWord, ...], by: float) -> Segment:
    moved = tuple(SpokenWord(start=moment(by + one.start), end=moment(by + one.end), text=one.text) for one in words)
    return Segment(start=moment(by + start), end=moment(by + end), text=text, words=moved)


def _behind_silence(begin: int, silent: Sequence[Stretch]) -> int:
    """Where to begin reading: behind a silence that lasts here."""
    return next((one.end for one in silent if one.start <= begin < one.end), begin)
