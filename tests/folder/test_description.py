"""What a model folder says without its weights; the damaged ones are in test_bundle.py."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from clearformer.folder import bundle
from clearformer.folder.bundle import Bundle
from clearformer.folder.description import MOST_BYTES, find_model, open_folder, read_description, shipped_models
from clearformer.folder.fetched import place_of
from clearformer.folder.preprocessing import Preprocessing
from clearformer.foundation import storage
from clearformer.foundation.storage import DamagedError
from clearformer.model.build import build
from clearformer.model.families import transformer
from clearformer.text.train_tokenizer import train


def make() -> Bundle:
    tokenizer = train("bpe", ["two dogs play in the snow"] * 5, 300)
    config = transformer(vocab_size=tokenizer.vocab_size, dim=16, hidden_dim=32, layers=1, heads=2)
    return Bundle(
        config=config, model=build(config), task="translation", preprocessing=Preprocessing(tokenizer=tokenizer)
    )


def test_a_folder_says_what_it_holds(tmp_path: Path):
    made = make()
    bundle.save(made, tmp_path / "m")
    described = read_description(find_model(tmp_path / "m"))
    assert described.model["dim"] == 16
    assert described.task == "translation"
    assert described.engine is None
    source, target = open_folder(tmp_path / "m").preprocessing.sides
    assert source is target
    assert source == made.tokenizer


def test_what_is_read_can_be_written_down_again(tmp_path: Path):
    bundle.save(make(), tmp_path / "m")
    told = storage.read_json(tmp_path / "m" / "config.json")
    assert read_description(tmp_path / "m").plain() == told
    old = read_description(shipped_models() / "en-de").plain()
    assert old["format"] == 2
    assert "task" not in old


def test_each_side_may_have_its_own_vocabulary(tmp_path: Path):
    other = train("bpe", ["zwei Hunde spielen im Schnee"] * 5, 300)
    made = make()
    bundle.save(replace(made, preprocessing=replace(made.preprocessing, target_tokenizer=other)), tmp_path / "m")
    assert open_folder(tmp_path / "m").preprocessing.sides == (made.tokenizer, other)


def test_a_folder_without_a_vocabulary_cannot_read(tmp_path: Path):
    bundle.save(replace(make(), preprocessing=Preprocessing()), tmp_path / "m")
    with pytest.raises(ValueError, match="has no tokenizer, so it cannot read text"):
        _ = open_folder(tmp_path / "m").preprocessing.sides


def test_the_folder_of_a_run_stands_for_its_model(tmp_path: Path):
    bundle.save(make(), tmp_path / "run" / "model")
    assert find_model(tmp_path / "run") == tmp_path / "run" / "model"


def test_a_missing_model_names_those_that_ship():
    with pytest.raises(ValueError, match=r"there is no model folder nowhere .*train one with"):
        find_model("nowhere")


def test_a_misspelt_model_is_answered_with_the_nearest_one():
    with pytest.raises(ValueError, match="there is no model shakespere; did you mean shakespeare"):
        find_model("shakespere")


def test_the_fingerprint_is_that_of_the_content(tmp_path: Path):
    """A copy has the same one, wherever it lies; a model that differs in a single fact has another."""
    made = make()
    for name, one in (("a", made), ("b", made), ("c", replace(made, provenance={"seed": 2}))):
        bundle.save(one, tmp_path / name)
    first, copy, other = (open_folder(tmp_path / name).fingerprint for name in "abc")
    assert first == copy != other


@pytest.mark.parametrize("text", ["[]", "3", "null", '"config"', '{"model": 3}', '{"format": 2}'])
def test_json_that_describes_no_model_is_refused(tmp_path: Path, text):
    (tmp_path / "config.json").write_text(text)
    with pytest.raises(ValueError, match=r"config\.json was not written by clearformer; .*clearformer import"):
        read_description(tmp_path)


@pytest.mark.parametrize("name", ["preprocessing", "provenance", "ctranslate2"])
@pytest.mark.parametrize("value", [3, "words", [1]])
def test_a_part_that_is_no_table_is_damage(tmp_path: Path, name, value):
    (tmp_path / "config.json").write_text(json.dumps({"format": 2, "model": {}, name: value}))
    with pytest.raises(DamagedError, match=rf"config\.json has a {name} that is no table of facts"):
        read_description(tmp_path)


def test_a_description_has_a_largest_size_and_a_largest_depth(tmp_path: Path):
    (tmp_path / "config.json").write_text("[" * 100_000)
    with pytest.raises(DamagedError, match=r"config\.json is not valid JSON"):
        read_description(tmp_path)
    with (tmp_path / "config.json").open("wb") as file:
        file.truncate(MOST_BYTES + 1)
    with pytest.raises(DamagedError, match=r"config\.json has .* bytes, too many for a description"):
        read_description(tmp_path)


def test_an_opened_folder_is_not_opened_again(tmp_path: Path):
    bundle.save(make(), tmp_path / "m")
    opened = open_folder(tmp_path / "m")
    assert open_folder(opened) is opened
    assert opened.preprocessing is opened.preprocessing
    assert repr(opened) == f"ModelFolder({str(tmp_path / 'm')!r}, task='translation')"


# Count what Python opens below a folder, and whether it was to hash it; CTranslate2 reads its weights by itself.
COUNT = """
import json, sys
from collections import Counter
from pathlib import Path

root, opened = Path(sys.argv[1]), Counter()

def stack(frame):
    while frame is not None:
        yield frame.f_code.co_name
        frame = frame.f_back

def note(event, arguments):
    if event == "open" and isinstance(arguments[0], str) and root in Path(arguments[0]).parents:
        why = "hash" if "sha256" in stack(sys._getframe()) else "read"
        opened[f"{Path(arguments[0]).relative_to(root)} {why}"] += 1

from clearformer.inference.engines import open_translator
sys.addaudithook(note)
translator = open_translator(root / "m", "ctranslate2")
assert translator.translate("two dogs", beam=1, max_extra=1)
print(json.dumps(opened))
"""


def test_the_fast_engine_opens_each_folder_once(tmp_path: Path):
    """Its start is what people wait for: config.json is read once and each file is hashed once, in both folders."""
    bundle.save(make(), tmp_path / "m")

    def opens() -> dict[str, int]:
        done = subprocess.run(
            [sys.executable, "-c", COUNT, str(tmp_path)], capture_output=True, text=True, check=True, cwd=tmp_path
        )
        found: dict[str, int] = json.loads(done.stdout)
        return found

    def counts(found: dict[str, int], folder: str) -> dict[str, list[int]]:
        names = [*storage.read_manifest(tmp_path / folder)]
        return {name: [found.get(f"{folder}/{name} {why}", 0) for why in ("hash", "read")] for name in names}

    first = counts(opens(), "m")  # makes the copy, for which it reads everything
    assert {name: hashed for name, (hashed, _) in first.items()} == dict.fromkeys(first, 1)
    assert first["config.json"] == [1, 1]
    again = opens()
    for folder in ("m", ".m.ctranslate2"):
        later = counts(again, folder)
        assert {name: hashed for name, (hashed, _) in later.items()} == dict.fromkeys(later, 1), folder
        assert later["config.json"] == [1, 1], folder
        assert max(read for _, read in later.values()) == 1, folder
    assert counts(again, "m")["tokenizer.json"] == [1, 0]  # the copy has its own


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CLEARFORMER_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "cache"


@pytest.mark.parametrize("name", ["minilm", "somebody/something", "somebody/something@v1"])
def test_a_model_that_was_fetched_is_found_by_its_name(cache: Path, name: str):
    bundle.save(make(), place_of(name))
    assert find_model(name) == place_of(name)
    assert bundle.load(open_folder(name)).config.dim == 16


def test_a_folder_here_comes_before_a_fetched_model_of_its_name(cache: Path):
    bundle.save(make(), place_of("somebody/something"))
    bundle.save(make(), Path("somebody/something"))
    assert find_model("somebody/something") == Path("somebody/something")


@pytest.mark.parametrize("name", ["minilm", "somebody/something", "somebody/something@v1"])
def test_a_model_that_was_not_fetched_says_how(cache: Path, name: str):
    with pytest.raises(ValueError, match=rf"fetch it with `clearformer models get {name}`$"):
        find_model(name)


def test_a_folder_that_is_missing_beside_others_is_not_looked_for_on_the_hub(cache: Path):
    Path("runs").mkdir()
    with pytest.raises(ValueError, match=r"there is no model folder runs/typo .*train one with"):
        find_model("runs/typo")
