"""Tokenising once: the same shards from one process or several, reused while true, made anew when not."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from clearformer.data import tokenise
from clearformer.data.batching import BatchingConfig, DataPlan
from clearformer.data.catalogue.fetch import locate
from clearformer.data.readers.parallel import CorpusError, JoinedFiles, ParallelFiles, TabSeparated
from clearformer.data.shards import FACTS, ShardError, shards_for
from clearformer.data.token_pairs import SPECIALS_PER_SIDE
from clearformer.data.tokenise import SIDES, PairEncoder, prepare
from clearformer.text.train_tokenizer import train

BYTES = train("byte", [])  # an id a byte, nothing to learn: byte b has id b + 4


@pytest.fixture
def corpus(tmp_path):
    """Forty pairs of which numbers 11 and 31 have an empty side."""
    rows = [(f"Sentence number {n}.", f"Das ist Satz {n}." if n % 20 != 11 else "") for n in range(1, 41)]
    (tmp_path / "a.en").write_text("".join(f"{source}\n" for source, _ in rows))
    (tmp_path / "a.de").write_text("".join(f"{target}\n" for _, target in rows))
    return ParallelFiles(source=tmp_path / "a.en", target=tmp_path / "a.de")


@pytest.fixture
def encoder():
    return PairEncoder(source=BYTES, target=BYTES)


@pytest.fixture
def small_chunks(monkeypatch):
    monkeypatch.setattr(tokenise, "PAIRS_PER_CHUNK", 4)


def read_back(shards):
    return [tuple(BYTES.decode(side.tolist()) for side in shards[index]) for index in range(len(shards))]


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_sentences_come_back_in_order_and_the_rest_is_counted(corpus, encoder, tmp_path, small_chunks):
    steps = []
    shards = prepare(corpus, tmp_path / "s", encoder=encoder, workers=1, on_progress=lambda *step: steps.append(step))
    expected = [(pair.source, pair.target) for pair in corpus.pairs() if pair.target]
    assert read_back(shards) == expected
    tally = shards.facts.tally
    assert tally["kept"] == len(shards) == 38
    assert sum(tally["left_out"].values()) == 2
    assert min(tally["first_line"].values()) == 11
    assert steps == [(done, 40) for done in range(4, 41, 4)]


@pytest.mark.timeout(120)
def test_several_processes_write_the_very_same_bytes(corpus, encoder, tmp_path, small_chunks, monkeypatch):
    monkeypatch.setattr(tokenise, "shards_for", partial(shards_for, rows_per_shard=10))
    for workers in (1, 2):
        prepare(corpus, tmp_path / f"{workers}", encoder=encoder, workers=workers)
    assert contents(tmp_path / "1") == contents(tmp_path / "2")
    assert len(list((tmp_path / "1").glob("*.source.values"))) == 4


def test_shards_are_reused_without_reading_the_corpus(corpus, encoder, tmp_path, monkeypatch):
    made = prepare(corpus, tmp_path / "s", encoder=encoder, workers=1)
    monkeypatch.setattr(tokenise, "encode_all", lambda *_: pytest.fail("tokenised again"))
    monkeypatch.setattr(tokenise, "scan", lambda _: pytest.fail("read again"))
    assert read_back(prepare(corpus, tmp_path / "s", encoder=encoder, workers=1)) == read_back(made)


def test_the_same_text_at_another_time_and_place_is_the_same_text(corpus, encoder, tmp_path, monkeypatch):
    prepare(corpus, tmp_path / "s", encoder=encoder, workers=1)
    (tmp_path / "moved").mkdir()
    moved = {}
    for side, path in (("source", corpus.source), ("target", corpus.target)):
        moved[side] = tmp_path / "moved" / f"{side}.txt"
        moved[side].write_bytes(path.read_bytes())
        os.utime(moved[side], (1, 1))
    monkeypatch.setattr(tokenise, "encode_all", lambda *_: pytest.fail("tokenised again"))
    assert len(prepare(ParallelFiles(**moved), tmp_path / "s", encoder=encoder, workers=1)) == 38


def test_another_text_tokenizer_or_limit_makes_new_shards(corpus, encoder, tmp_path):
    folder = tmp_path / "s"
    lengths = [len(prepare(corpus, folder, encoder=encoder, workers=1))]
    stricter = PairEncoder(source=BYTES, target=BYTES, max_len=19)  # "Sentence number 9." has 18 bytes, and eos
    lengths.append(len(prepare(corpus, folder, encoder=stricter, workers=1)))
    corpus.source.write_text(corpus.source.read_text().replace("number", "no."))
    lengths.append(len(prepare(corpus, folder, encoder=stricter, workers=1)))
    assert lengths == [38, 9, 38]
    characters = train("character", ["Sentence number Das ist Satz 0123456789."], 500)
    other = prepare(corpus, folder, encoder=PairEncoder(source=characters, target=BYTES), workers=1)
    assert characters.decode(other[0][0].tolist()) == "Sentence no. 1."


def test_pairs_with_too_many_tokens_are_counted(corpus, tmp_path):
    shards = prepare(corpus, tmp_path / "s", encoder=PairEncoder(source=BYTES, target=BYTES, max_len=19), workers=1)
    assert shards.facts.tally["left_out"]["too many tokens"] == 29
    assert shards.facts.tally["first_line"]["too many tokens"] == 10
    source_lengths, target_lengths = (shards.lengths(side) + SPECIALS_PER_SIDE for side in SIDES)
    assert max(source_lengths.max(), target_lengths.max()) == 19
    DataPlan(source_lengths, target_lengths, config=BatchingConfig(max_tokens=19), seed=0)  # fits, so it is planned


def test_options_of_a_form_count_too(encoder, tmp_path):
    path = tmp_path / "a.tsv"
    path.write_text("Yes, I do.\tJa, das tue ich.\n")
    forwards = prepare(TabSeparated(path=path), tmp_path / "s", encoder=encoder)
    assert read_back(forwards) == [("Yes, I do.", "Ja, das tue ich.")]
    backwards = TabSeparated(path=path, source_column=1, target_column=0)
    assert read_back(prepare(backwards, tmp_path / "s", encoder=encoder)) == [("Ja, das tue ich.", "Yes, I do.")]


def test_damaged_shards_are_refused_not_replaced(corpus, encoder, tmp_path):
    prepare(corpus, tmp_path / "s", encoder=encoder, workers=1)
    tokens = tmp_path / "s" / "00000.target.values"
    tokens.write_bytes(tokens.read_bytes()[:-2])
    with pytest.raises(ShardError, match=r"00000\.target\.values is damaged: it has .* bytes and .*: delete"):
        prepare(corpus, tmp_path / "s", encoder=encoder, workers=1)
    (tmp_path / "s" / FACTS).write_text("{")
    with pytest.raises(ShardError, match=r"shards\.json cannot be read"):
        prepare(corpus, tmp_path / "s", encoder=encoder, workers=1)


def test_a_folder_of_something_else_is_left_alone(corpus, encoder, tmp_path):
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter1.tex").write_text("years of work")
    with pytest.raises(ShardError, match="thesis exists but holds no shards"):
        prepare(corpus, tmp_path / "thesis", encoder=encoder, workers=1)
    assert (tmp_path / "thesis" / "chapter1.tex").read_text() == "years of work"


def test_unequal_files_stop_before_the_work(corpus, encoder, tmp_path, monkeypatch):
    with corpus.source.open("a") as file:
        file.write("One too many.\n")
    monkeypatch.setattr(tokenise, "encode_all", lambda *_: pytest.fail("began to tokenise"))
    with pytest.raises(CorpusError, match=r"a\.en has 41 lines but .*a\.de has 40"):
        prepare(corpus, tmp_path / "s", encoder=encoder, workers=1)
    assert not (tmp_path / "s").exists()


def test_a_file_that_grows_while_it_is_read_is_noticed(corpus, encoder, tmp_path, small_chunks):
    def meddle(done, total):
        if done == 40:
            os.utime(corpus.target, (1, 1))

    with pytest.raises(CorpusError, match=r"a\.de changed while it was being read"):
        prepare(corpus, tmp_path / "s", encoder=encoder, workers=1, on_progress=meddle)
    assert not (tmp_path / "s").exists()


def test_joined_files_are_tokenised_in_order_and_found_again(corpus, encoder, tmp_path):
    joined = JoinedFiles(parts=(corpus, corpus))
    progress = []
    prepare(
        joined,
        tmp_path / "s",
        encoder=encoder,
        workers=1,
        on_progress=lambda done, total: progress.append((done, total)),
    )
    shards = prepare(
        joined, tmp_path / "s", encoder=encoder, workers=1, on_progress=lambda *_: pytest.fail("made again")
    )
    assert len(shards) == 76
    assert progress[-1] == (80, 80)
    assert all(np.array_equal(shards[row][0], shards[row + 38][0]) for row in range(38))
    (tmp_path / "a.de").write_text("one line\n")
    with pytest.raises(CorpusError, match=r"a\.en has 40 lines but .*a\.de has 1"):
        prepare(joined, tmp_path / "t", encoder=encoder, workers=1)


def test_a_corpus_of_which_nothing_is_left_says_why(encoder, tmp_path):
    (tmp_path / "a").write_text("Yes.\nNo.\n")
    (tmp_path / "b").write_text("\n\n")
    corpus = ParallelFiles(source=tmp_path / "a", target=tmp_path / "b")
    with pytest.raises(CorpusError, match=r"Nothing in .*a and .*b can be trained on \(0 of 2 pairs kept; left out: 2"):
        prepare(corpus, tmp_path / "s", encoder=encoder)
    with pytest.raises(CorpusError, match="does not exist"):
        prepare(ParallelFiles(source=tmp_path / "nowhere", target=tmp_path / "b"), tmp_path / "s", encoder=encoder)


@pytest.mark.timeout(120)
def test_a_process_that_is_killed_is_an_error_not_a_hang(corpus, encoder, tmp_path, small_chunks):
    def kill(done, total):
        for process in multiprocessing.active_children():
            process.kill()

    with pytest.raises(ShardError, match="ended without a word"):
        prepare(corpus, tmp_path / "s", encoder=encoder, workers=2, on_progress=kill)
    assert not (tmp_path / "s").exists()


def test_a_process_that_tokenises_does_not_carry_torch():
    """Every process imports this module; torch would cost each of them hundreds of megabytes."""
    modules = ", ".join(f"clearformer.data.{name}" for name in ("tokenise", "batching", "catalogue.fetch", "toy"))
    code = f"import sys, {modules}; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


@pytest.mark.corpora
def test_multi30k_through_a_trained_tokenizer(tmp_path):
    raw = locate("multi30k") / "raw"
    corpus = ParallelFiles(source=raw / "val.en.gz", target=raw / "val.de.gz")
    pairs = list(corpus.pairs())
    pieces = train("bpe", [text for pair in pairs for text in (pair.source, pair.target)], 1000)
    shards = prepare(corpus, tmp_path / "s", encoder=PairEncoder(source=pieces, target=pieces), workers=1)
    kept = [tuple(pieces.decode(side.tolist()) for side in shards[index]) for index in range(len(shards))]
    assert len(kept) > 1000
    assert set(kept) <= {(pair.source, pair.target) for pair in pairs}


@pytest.mark.soak
def test_five_million_pairs_need_less_than_one_and_a_half_gigabytes(tmp_path):
    """Made, tokenised, planned and read; parent and processes together, each at its own peak."""
    script = Path(__file__).with_name("measure_memory.py")
    done = subprocess.run(
        [sys.executable, str(script), str(tmp_path), "5000000"], capture_output=True, text=True, check=True
    )
    print(done.stdout)
    peak = float(done.stdout.split("together")[1].split()[0])
    assert peak < 1.5
