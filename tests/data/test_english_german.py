"""The tool that gathers English–German text: what is held back, what is left out, and the recipe that it writes."""

import gzip
import json
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))
import english_german
import open_text

from clearformer.run.recipe import read_recipe
from clearformer.tasks.data_files import check_files


def packed(path, lines):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress("".join(f"{line}\n" for line in lines).encode()))


def package(folder, language, pages):
    """A Debian package with pages of help, as LibreOffice has them."""
    root = folder / language
    for name, paragraphs in pages.items():
        page = root / f"usr/share/libreoffice/help/{language}/text/{name}.html"
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text("".join(f'<p id="par_id{n}">{text}</p>' for n, text in enumerate(paragraphs, start=1)))
    control = root / "DEBIAN/control"
    control.parent.mkdir()
    name = f"libreoffice-help-{language}"
    control.write_text(f"Package: {name}\nVersion: 1\nArchitecture: all\nMaintainer: x <x@x.x>\nDescription: x\n")
    subprocess.run(["dpkg-deb", "-b", root, folder / f"{name}_1_all.deb"], check=True, capture_output=True)


@pytest.fixture
def gathered(tmp_path, monkeypatch):
    root = tmp_path / "data"
    monkeypatch.setenv("CLEARFORMER_DATA", str(root))
    for part, english, german in (
        ("train", ["I am hungry.", "Keep out."], ["Ich habe Hunger.", "Bleib draußen."]),
        ("val", ["keep OUT!"], ["Draußen bleiben!"]),
        ("test", ["Never seen."], ["Nie gesehen."]),
    ):
        packed(root / f"tatoeba-en-de/{part}.en.gz", english)
        packed(root / f"tatoeba-en-de/{part}.de.gz", german)
    manuals = ["wesnoth\tA sword.\tEin Schwert.", "gnome-user-docs\tPrint it.\tDrucken Sie es."]
    packed(root / "software/gnome-docs-and-games.en-de.tsv.gz", manuals)
    packed(root / "bible/web-luther1912-cuv.en-de-zh.tsv.gz", ["1.1.1\tGod spoke.\tGott sprach.\t神说。"])
    for language, text in (("en", "One thing here. Two things there."), ("de", "Eins ist hier. Zwei sind dort.")):
        wikipedia = {"data": [{"paragraphs": [{"context": text}]}]}
        packed(root / f"squad/xquad/xquad.{language}.json.gz", [json.dumps(wikipedia)])
    packages = tmp_path / "packages"
    numbers = range(english_german.HELD_PAGES + 1)
    package(packages, "en-us", {f"page{n}": [f"Press the key number {n} now.", "Open it."] for n in numbers})
    package(packages, "de", {f"page{n}": [f"Drücken Sie jetzt Taste {n}.", "Öffnen."] for n in numbers})
    monkeypatch.setattr(sys, "argv", ["english_german.py", str(tmp_path / "out"), "--packages", str(packages)])
    english_german.main()
    return tmp_path / "out"


def kept(folder, name):
    sides = [(folder / f"{name}.{language}").read_text(encoding="utf-8").splitlines() for language in ("en", "de")]
    return list(zip(*sides, strict=True))


def test_what_is_held_out_is_not_learned_from(gathered):
    assert kept(gathered, "dev") == [("keep OUT!", "Draußen bleiben!")]
    assert kept(gathered, "tatoeba") == [("I am hungry.", "Ich habe Hunger.")]


def test_whole_pages_of_the_help_are_held_back(gathered):
    held, learned = kept(gathered, "dev-office"), kept(gathered, "office")
    assert len(held) == 2  # every fortieth of 41
    assert not set(held) & set(learned)
    assert len([pair for pair in learned if "Taste" in pair[1]]) == english_german.HELD_PAGES - 1


def test_only_the_part_with_an_open_licence(gathered):
    assert kept(gathered, "gnome") == [("Print it.", "Drucken Sie es.")]


def test_the_recipe_can_be_read_and_names_who_wrote_the_text(gathered):
    recipe = read_recipe(gathered / "en-de.toml").data
    check_files(recipe, gathered)
    for owner in ("tatoeba.org", "GNOME", "LibreOffice", "Luther"):
        assert owner in recipe.attribution


def test_reasons_to_leave_a_pair_out():
    held = {open_text.key("Never seen.")}
    assert english_german.problem(("Two words.", "Zwei Wörter."), held) is None
    for pair in (
        ("1.", "1."),
        ("Use `ls` now.", "Jetzt `ls` benutzen."),
        ("All of it stayed.", "All of it stayed."),
        ("Short.", "Das ist hier doch viel zu lang geraten, wirklich wahr."),
        ("never seen", "Noch nie."),
    ):
        assert english_german.problem(pair, held)


def test_paragraphs_are_split_where_both_have_as_many_sentences():
    assert english_german.sentence_pairs(("One. Two.", "Eins. Zwei.")) == [("One.", "Eins."), ("Two.", "Zwei.")]
    assert english_german.sentence_pairs(("One. Two.", "Eins, zwei.")) == [("One. Two.", "Eins, zwei.")]
