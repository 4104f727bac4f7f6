"""The corpus that ships: complete, attributed, without leaks, and enough to train on with nothing else."""

import gzip
import sys
from pathlib import Path

import pytest

from clearformer.data.catalogue.corpora import find_corpus
from clearformer.data.catalogue.fetch import FetchError, get, locate
from clearformer.run.recipe import find_recipe, read_recipe
from clearformer.run.train import train
from clearformer.text.doctor.overlap import examine_overlap
from clearformer.text.doctor.parallel import examine

PARTS = {"train": 19_000, "dev": 500, "test": 500}


@pytest.fixture(autouse=True)
def nothing_else(monkeypatch, tmp_path):
    """No data sets, an empty cache, and no way to a server."""
    monkeypatch.delenv("CLEARFORMER_DATA", raising=False)
    monkeypatch.setenv("CLEARFORMER_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(
        "clearformer.data.catalogue.origin.download", lambda *_, **__: pytest.fail("nothing has to be downloaded")
    )


@pytest.fixture
def folder():
    return get("sample")


def lines(folder, name):
    return gzip.decompress((folder / name).read_bytes()).decode("utf-8").splitlines()


def words(sentence):
    return " ".join("".join(letter if letter.isalpha() else " " for letter in sentence.casefold()).split())


def test_it_is_found_in_the_package_and_verified(folder, monkeypatch, tmp_path):
    assert folder.parts[-3:] == ("clearformer", "corpora", "sample")
    assert find_corpus("sample").ships
    monkeypatch.setenv("CLEARFORMER_DATA", str(tmp_path))  # whatever stands there, the package's own is meant
    (tmp_path / "sample").mkdir()
    assert locate("sample") == folder


def test_a_damaged_installation_is_named(monkeypatch, tmp_path):
    monkeypatch.setattr("clearformer.data.catalogue.corpora.Corpus.folder", tmp_path)
    with pytest.raises(FetchError, match=r"dev\.by\.gz is missing: install clearformer again"):
        locate("sample")


@pytest.mark.parametrize(("part", "count"), PARTS.items())
def test_every_sentence_has_its_partner_and_its_names(folder, part, count):
    english, french, written_by = (lines(folder, f"{part}.{suffix}.gz") for suffix in ("en", "fr", "by"))
    assert len(english) == len(french) == len(written_by) == count
    for names in written_by:
        number, contributor, other_number, other_contributor = names.split("\t")
        assert number.isdigit()
        assert other_number.isdigit()
        assert contributor
        assert other_contributor


def test_no_sentence_occurs_twice_in_it(folder):
    """Neither in one part nor in two, on either side; case and punctuation make no difference."""
    for suffix in ("en", "fr"):
        sentences = [words(line) for part in PARTS for line in lines(folder, f"{part}.{suffix}.gz")]
        assert len(set(sentences)) == len(sentences) == 20_000


def test_the_doctor_finds_nothing_to_leave_out(folder):
    report = examine(folder / "train.en.gz", folder / "train.fr.gz")
    assert (report.kept, report.left_out, report.fatal) == (19_000, {}, False)
    train_files, test_files = (
        tuple(folder / f"{part}.{language}.gz" for language in ("en", "fr")) for part in ("train", "test")
    )
    assert not examine_overlap(train_files, test_files).counts


def test_licence_and_attribution_are_beside_it(folder):
    notice = (folder / "ATTRIBUTION.txt").read_text(encoding="utf-8")
    assert "CC BY 2.0 FR" in notice
    assert "https://creativecommons.org/licenses/by/2.0/fr/" in notice
    assert "Changes:" in notice
    assert sum(file.stat().st_size for file in folder.iterdir()) < 700_000  # it comes with every installation


def test_the_selection_rule_is_the_one_that_is_written_down(monkeypatch):
    """What made the corpus is a pure function of the pairs: each sentence once, everyday words, no digits."""
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "tools"))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    make_sample = pytest.importorskip("make_sample", reason="tools/ is not beside the tests")
    pairs = [
        make_sample.Pair("I see the dog.", "Je vois le chien.", "1"),
        make_sample.Pair("I see the dog!", "Je vois ce chien.", "2"),  # the same English sentence
        make_sample.Pair("I see 2 dogs now.", "Je vois deux chiens.", "3"),
        make_sample.Pair("Go. I see it.", "Va. Je le vois.", "4"),  # two sentences
        make_sample.Pair("Yes.", "Oui.", "5"),  # too short
        make_sample.Pair("Where is the cat?", "Où est le chat ?", "6"),
    ]
    chosen = [pair.written_by for pair in make_sample.choose(pairs)]
    assert len(chosen) == 2
    assert "6" in chosen
    assert chosen == [pair.written_by for pair in make_sample.choose(pairs[::-1])]


def test_its_recipe_trains(tmp_path):
    path = find_recipe("sample")
    changes = ["training.steps=3", "training.log_every=1", "training.validate_every=3", "scoring.examples=4"]
    recipe = read_recipe(path, [*changes, "training.batch_tokens=512", "use.beam=1"])
    model = train(recipe, tmp_path / "run", base=path.parent)
    assert "tatoeba.org" in (model / "config.json").read_text(encoding="utf-8")
