"""Models by name on the command line: listed with licence and command, fetched once, used by name."""

import json
import shlex
import subprocess
import sys

import pytest

from clearformer.cli.main import VERBS, main
from clearformer.cli.models import ListedModel, listed_models
from clearformer.folder.fetched import place_of
from interop.folders import gpt2_folder


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("CLEARFORMER_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def published(hub, tmp_path):
    """A hub that has one small model."""
    gpt2_folder(tmp_path / "published")
    hub.put("somebody/tiny", tmp_path / "published")
    return hub


def listed(capsys) -> dict[str, dict]:
    assert main(["models", "list", "--json"]) == 0
    return {model["name"]: model for model in json.loads(capsys.readouterr().out)}


def test_every_model_has_a_verb_a_licence_and_a_command(capsys):
    models = listed(capsys)
    assert {"en-de", "minilm", "smollm2", "whisper-tiny-en"} <= models.keys()
    for name, model in models.items():
        assert model.keys() == ListedModel.__dataclass_fields__.keys()
        assert model["licence"], name
        assert (model["download_bytes"] > 0) == (model["source"] == "registry"), name
        program, verb, *rest = shlex.split(model["use"])
        assert (program, verb) == ("clearformer", model["verb"] if model["verb"] in VERBS else "inspect")
        assert name in rest


def test_what_ships_is_here_and_the_rest_says_how_to_get_it(capsys):
    models = listed(capsys)
    assert models["en-de"]["here"]
    assert models["en-de"]["get"] is None
    assert (models["minilm"]["here"], models["minilm"]["folder"]) == (False, None)
    assert models["minilm"]["get"] == "clearformer models get minilm"
    assert (models["minilm"]["task"], models["minilm"]["verb"]) == ("embedding", "embed")


def test_the_list_needs_no_tensors():
    code = "import sys; from clearformer.cli.main import main; main(['models', 'list']); print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "False"  # it would take ten times as long with them


def test_the_list_is_a_table_for_people(capsys):
    assert main(["models", "list"]) == 0
    printed = capsys.readouterr().out
    assert "\nminilm " in printed  # the name that one has to type is never cut
    assert "83.5 MB to fetch; Apache-2.0" in printed
    assert "clearformer models get minilm\n" in printed


def test_a_name_is_fetched_listed_and_used(published, capsys):
    assert main(["models", "get", "somebody/tiny"]) == 0
    out, err = capsys.readouterr()
    assert out.strip() == str(place_of("somebody/tiny"))
    assert 'try it: clearformer generate "Once upon a time" --model somebody/tiny' in err
    published.close()
    [model] = [model for model in listed_models() if model.source == "hub"]
    assert (model.name, model.here, model.licence, model.verb) == ("somebody/tiny", True, "mit", "generate")
    assert main(["generate", "two dogs", "--model", "somebody/tiny", "--max-new", "3"]) == 0
    assert main(["models", "get", "somebody/tiny"]) == 0  # already here: nobody is asked
    assert main(["models", "list"]) == 0
    assert "somebody/tiny" in capsys.readouterr().out


def test_a_damaged_folder_does_not_spoil_the_list(published, capsys, caplog):
    assert main(["models", "get", "somebody/tiny"]) == 0
    (place_of("somebody/tiny") / "config.json").write_text("{")
    capsys.readouterr()
    assert "minilm" in listed(capsys)
    assert "`clearformer models get somebody/tiny` fetches it anew" in caplog.text
    assert main(["models", "get", "somebody/tiny"]) == 0
    capsys.readouterr()
    assert "somebody/tiny" in listed(capsys)


def test_a_model_that_was_not_fetched_says_how(capsys):
    assert main(["embed", "a text", "--model", "minilm"]) == 1
    expected = "the model minilm is not on this machine yet; fetch it with `clearformer models get minilm`"
    assert capsys.readouterr().err == f"clearformer embed: {expected}\n"


def test_the_limit_is_the_user_s(published, capsys):
    published.repos["somebody/tiny"].files["model.safetensors"] += b"\0" * 3_000_000
    assert main(["models", "get", "somebody/tiny", "--max-gb", "0.002"]) == 1
    assert "more than the 0.002 GB that are allowed" in capsys.readouterr().err
    assert not place_of("somebody/tiny").exists()


@pytest.mark.parametrize(
    ("words", "sentence", "code"),
    [
        (["get"], "name the model to get", 2),
        (["list", "minilm"], "list takes no name", 2),
        (["got", "minilm"], "cannot be 'got'", 2),
        (["get", "maxilm"], "there is no model 'maxilm' to fetch", 1),
        (["get", "minilm", "--max-gb", "0"], "--max-gb must be", 2),
    ],
)
def test_wrong_usage_is_one_sentence(words, sentence, code, capsys):
    assert main(["models", *words]) == code
    err = capsys.readouterr().err
    assert sentence in err
    assert err.count("\n") == 1
