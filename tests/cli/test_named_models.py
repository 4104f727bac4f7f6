"""A verb fetches the models that its options name, and takes no text for one."""

import pytest

from clearformer.cli.main import main
from clearformer.folder.description import find_model
from interop.folders import bert_folder
from support.hub_server import send

NAME = "hub:somebody/bert"

pytestmark = pytest.mark.timeout(120)


@pytest.fixture
def published(hub, tmp_path):
    bert_folder(tmp_path / "bert")
    hub.put("somebody/bert", tmp_path / "bert")
    return hub


def test_a_verb_fetches_its_model_and_the_next_one_finds_it(published, capsys):
    assert main(["embed", "two dogs", "--model", NAME]) == 0
    first = capsys.readouterr()
    published.close()
    assert main(["embed", "two dogs", "--model", NAME]) == 0
    assert capsys.readouterr().out == first.out
    assert "getting hub:somebody/bert" in first.err


@pytest.mark.parametrize(
    "words", [["inspect", NAME], ["tokenize", "a dog", "--model", NAME], ["export", NAME, "out", "--to", "huggingface"]]
)
def test_every_verb_that_takes_a_model_takes_one_of_the_hub(words, published, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(words) == 0, capsys.readouterr().err
    assert find_model(NAME).is_dir()


def test_a_text_that_looks_like_a_name_is_a_text(published, tmp_path):
    assert main(["embed", "hub:nobody/nothing", "--model", NAME]) == 0
    assert not [path for path in published.asked if "nobody" in path]


def test_a_refusal_is_one_sentence(published, capsys):
    published.instead["/api/models/somebody/bert"] = lambda request: send(request, 403, X_Error_Code="GatedRepo")
    assert main(["embed", "two dogs", "--model", NAME]) == 1
    told = [line for line in capsys.readouterr().err.splitlines() if line.startswith("clearformer")]
    assert len(told) == 1
    assert "accept its terms" in told[0]
