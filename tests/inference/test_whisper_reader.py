"""Long recordings by a Whisper-style model: windows, silence, second tries, and what the model is shown."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from clearformer.folder.preprocessing import SoundFacts
from clearformer.inference.time_marks import TimeMarks
from clearformer.inference.transcription_settings import TranscriptionConfig
from clearformer.inference.whisper_reader import BEFORE, END, PLAIN, START, WhisperReader, has_whispers_marks
from clearformer.inference.window_writer import WrittenWindow, compression
from clearformer.text.train_tokenizer import train
from support.every_kind import make

FACTS = SoundFacts(sample_rate=1000, mels=8, window=40, hop=10, seconds=2.0)  # 100 marks of time in a window
LETTERS = "abcdefghij"
WORD, FIRST_MARK = 3, 20
MARKS = TimeMarks(first=FIRST_MARK, end=15)


class Told:
    """Says what it was told to, and remembers what it was asked."""

    def __init__(self, *answers):
        self.answers, self.asked = list(answers), []

    def write(self, windows, asked):
        self.asked.append((asked.temperature, [(one.begin, one.prompt) for one in windows]))
        return [self.answers.pop(0) for _ in windows]


class Spelling:
    """A vocabulary of letters, with the marks that a Whisper has."""

    def id(self, piece):
        return {END: 15, START: 16, PLAIN: 19}[piece]

    def marks(self):
        return {BEFORE: 17}

    def decode(self, tokens):
        return "".join(LETTERS[token] for token in tokens)


def reader(*answers, marked=True):
    class Config:
        vocab_size = FIRST_MARK + 101 if marked else FIRST_MARK
        max_len = 64

    class Bundle:
        config = Config

        class preprocessing:  # noqa: N801
            sides = (Spelling(), Spelling())

    return WhisperReader(Bundle, FACTS, Told(*answers), lambda: pytest.fail("nobody asked for words"))


def said(*tokens, log_prob=-0.1, silence=0.0, packed=1.0):
    return WrittenWindow(
        tokens=tokens, log_prob=log_prob * len(tokens), counted=len(tokens), silence=silence, compression=packed
    )


def mark(seconds):
    return FIRST_MARK + round(seconds / 0.02)


def noise(seconds, loud=0.3, seed=1):
    return (loud * np.random.default_rng(seed).standard_normal(round(seconds * 1000))).astype(np.float32)


def test_the_next_window_begins_where_a_mark_says():
    made = reader(said(mark(0), 1, 2, mark(1.5), mark(1.5), 3), said(mark(0.1), 3, 4, mark(1.2)))
    [found] = made.read([noise(3.0)], TranscriptionConfig())
    assert [(one.start, one.end, one.text) for one in found.segments] == [(0, 1.5, "bc"), (1.6, 2.7, "de")]
    assert found.text == "bcde"
    assert [begin for _, [(begin, _)] in made.writer.asked] == [0, 1500]


def test_without_marks_windows_follow_one_another_and_are_written_together():
    made = reader(said(1), said(2), said(3), marked=False)
    [found] = made.read([noise(5.0)], TranscriptionConfig())
    assert found.text == "bcd"
    assert [(one.start, one.end) for one in found.segments] == [(0, 2), (2, 4), (4, 5)]
    [(_, windows)] = made.writer.asked
    assert [begin for begin, _ in windows] == [0, 2000, 4000]
    assert all(prompt == (16, 19) for _, prompt in windows)


def test_silence_is_passed_over_or_read_as_asked():
    sound = np.concatenate([np.zeros(5000, dtype=np.float32), noise(1.5)])
    made = reader(said(mark(0), 1, mark(1)))
    [found] = made.read([sound], TranscriptionConfig())
    assert found.segments[0].start > 4.5
    assert len(made.writer.asked) == 1
    hard = reader(*[said(mark(0), 1, mark(1))] * 9)
    hard.read([sound], TranscriptionConfig(skip_silence=False))
    assert len(hard.writer.asked) == 4
    nothing = reader()
    [found] = nothing.read([np.zeros(9000, dtype=np.float32)], TranscriptionConfig())
    assert (found.text, found.segments, nothing.writer.asked) == ("", (), [])


def test_a_poor_text_is_written_again_at_higher_temperatures():
    poor, loop, good = said(1, log_prob=-2.0), said(2, 2, 2, packed=9.0), said(3)
    made = reader(poor, loop, good, marked=False)
    [found] = made.read([noise(1.0)], TranscriptionConfig())
    assert found.text == "d"
    assert [temperature for temperature, _ in made.writer.asked] == [0.0, 0.2, 0.4]
    made = reader(poor, marked=False)
    assert made.read([noise(1.0)], TranscriptionConfig(fallback=False))[0].text == "b"


def test_if_none_is_good_the_best_is_taken_and_a_loop_is_never_better():
    answers = [said(1, log_prob=-3.0), said(2, packed=9.0), said(4, log_prob=-1.5), *[said(5, log_prob=-4.0)] * 3]
    made = reader(*answers, marked=False)
    assert made.read([noise(1.0)], TranscriptionConfig())[0].text == "e"
    assert len(made.writer.asked) == 6


def test_a_window_of_silence_says_nothing_and_is_not_tried_again():
    made = reader(said(1, log_prob=-2.0, silence=0.9), marked=False)
    [found] = made.read([noise(1.0)], TranscriptionConfig())
    assert (found.text, found.log_prob) == ("", 0)
    assert len(made.writer.asked) == 1
    sure = reader(said(1, log_prob=-0.2, silence=0.9), marked=False)
    assert sure.read([noise(1.0)], TranscriptionConfig())[0].text == "b"


def test_earlier_text_is_shown_only_when_asked_for():
    for previous, shown in ((False, (16,)), (True, (17, 1, 2, 16))):
        made = reader(said(mark(0), 1, 2, mark(1.5), mark(1.5), 3), said(mark(0), 3, mark(1)))
        made.read([noise(3.0)], TranscriptionConfig(previous=previous))
        assert made.writer.asked[1][1][0][1] == shown


def test_a_model_that_stammers_comes_to_an_end():
    made = reader(*[said(mark(0), 1, mark(0.02), mark(0.02), 2)] * 50)
    made.read([noise(5.0)], TranscriptionConfig())
    assert len(made.writer.asked) <= 3


def test_several_recordings_share_their_batches_and_keep_apart():
    made = reader(said(1), said(2), said(3), marked=False)
    found = made.read([noise(1.0), noise(3.0)], TranscriptionConfig(batch=2))
    assert [one.text for one in found] == ["b", "cd"]
    assert [len(windows) for _, windows in made.writer.asked] == [2, 1]


def test_progress_ends_with_all_of_it():
    heard = []
    reader(said(1), said(2), marked=False).read(
        [noise(3.0)], TranscriptionConfig(batch=1), lambda done, total: heard.append((done, total))
    )
    assert heard == [(2000, 3000), (3000, 3000)]


def test_words_have_their_time_within_their_segment(tmp_path):
    import clearformer as cf

    model = cf.load(make("whisper", tmp_path / "m"))
    sound = np.sin(np.arange(16_000) / 8).astype(np.float32)
    [found] = model.transcribe(sound, max_new=8, words=True, fallback=False)
    [plain] = model.transcribe(sound, max_new=8, fallback=False)
    assert replace(found, segments=()) == replace(plain, segments=())
    for segment in found.segments:
        assert all(0 <= word.start <= word.end <= 1 for word in segment.words)
        assert "".join(word.text for word in segment.words).replace(" ", "") == segment.text.replace(" ", "")


def test_marks_are_what_tells_such_a_model():
    assert has_whispers_marks(Spelling())
    assert not has_whispers_marks(train("byte", ["a"], 300))
    assert compression("ab" * 100) > 2.4 > compression("the quick brown fox jumps over the lazy dog")
    assert MARKS.restrict(torch.zeros(150), []).isfinite().sum() == 51


def test_every_window_is_told_with_what_was_shown_and_written():
    heard, first = [], said(mark(0), WORD, mark(1.5), mark(1.5), WORD)
    made = reader(first, said(mark(0), WORD, mark(1.0)), said(silence=0.9, log_prob=-3))
    made.read([noise(5.0)], TranscriptionConfig(), on_piece=heard.append)
    assert [(one.start, one.end) for one in heard][:2] == [(0, 2000), (1500, 3500)]
    assert heard[0].tokens == first.tokens
    assert all(one.prompt == (16,) for one in heard)
    assert [one.used for one in heard][:2] == [True, True]


# ---- several languages ----------------------------------------------------------------------------------------------

EN, ZH, TRANSLATED, WRITTEN = 11, 12, 13, 14


class Polyglot(Spelling):
    """The same letters, with the marks of two languages and of what to do."""

    def id(self, piece):
        marks = {"<|en|>": EN, "<|zh|>": ZH, "<|translate|>": TRANSLATED, "<|transcribe|>": WRITTEN}
        return marks[piece] if piece in marks else super().id(piece)


def polyglot(*answers, hears=ZH):
    made = reader(*answers)
    made.tokenizer, made.facts = Polyglot(), replace(FACTS, tongues=("en", "zh"))
    made.writer.likeliest = lambda frames, among: [hears for _ in frames]
    return made


@pytest.mark.parametrize(
    ("given", "task", "code"),
    [
        ({}, (ZH, WRITTEN), "zh"),
        ({"language": "en"}, (EN, WRITTEN), "en"),
        ({"translate": True}, (ZH, TRANSLATED), "zh"),
        ({"language": "en", "translate": True, "times": False}, (EN, TRANSLATED), "en"),
    ],
)
def test_the_model_is_told_the_language_and_what_to_do(given, task, code):
    answer = said(1) if given.get("times") is False else said(mark(0), 1, mark(1))
    made = polyglot(answer)
    [found] = made.read([noise(1.5)], TranscriptionConfig(**given))
    [(_, [(_, prompt)])] = made.writer.asked
    assert prompt == (16, *task, *([19] if given.get("times") is False else []))
    assert found.language == code


def test_each_recording_has_its_own_language():
    made = polyglot(*[said(mark(0), 1, mark(1))] * 2)
    made.writer.likeliest = lambda frames, among: [ZH, EN]
    found = made.read([noise(1.5), noise(1.5, seed=2)], TranscriptionConfig())
    assert [one.language for one in found] == ["zh", "en"]
    [(_, windows)] = made.writer.asked
    assert [prompt for _, prompt in windows] == [(16, ZH, WRITTEN), (16, EN, WRITTEN)]


def test_a_model_of_one_language_is_told_nothing():
    made = reader(said(mark(0), 1, mark(1)))
    [found] = made.read([noise(1.5)], TranscriptionConfig())
    assert found.language is None
