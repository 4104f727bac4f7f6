"""Models from elsewhere."""

import os
from pathlib import Path

import pytest

from clearformer.folder.bundle import load
from clearformer.folder.description import find_model
from clearformer.interop import to_hugging_face
from clearformer.interop.importer import import_checkpoint
from clearformer.studio.attention_layers import attention_layers
from clearformer.studio.shown_model import ShownModel
from interop.folders import bert_folder, gpt2_folder
from studio.browsing import BROWSER, PAGES, choose, serving, settled

pytestmark = BROWSER
TEXT = "two dogs play in the snow"


@pytest.fixture(scope="module")
def foreign(folders, tmp_path_factory):
    """Folders of others, brought over: name -> (model, a text for it)."""
    root = tmp_path_factory.mktemp("foreign")
    bert_folder(root / "bert-published")
    gpt2_folder(root / "gpt2-published")
    to_hugging_face.export(folders["transformer"], root / "marian-published")
    published = Path(os.environ["CLEARFORMER_DATA"]) / "pretrained"
    atoms = r"\[[^\]]+\]|Br|Cl|>>|%[0-9]{2}|."
    return {
        "bert": (import_checkpoint(root / "bert-published", root / "bert"), "two dogs play in the snow ."),
        "gpt2": (import_checkpoint(root / "gpt2-published", root / "gpt2"), "two dogs"),
        "marian": (import_checkpoint(root / "marian-published", root / "marian"), TEXT),
        "stories260K": (import_checkpoint(published / "stories260K", root / "stories"), "Once upon a time"),
        "albert-rxn": (
            import_checkpoint(published / "albert-rxn", root / "rxn", split=atoms),
            "CC(C)S.Fc1cccnc1F>>CC(C)Sc1ncccc1F",
        ),
        "en-de": (load(find_model("en-de")), "Two dogs play in the snow."),
    }


@pytest.mark.corpora
@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", ["bert", "gpt2", "marian", "stories260K", "albert-rxn", "en-de"])
def test_every_page_works_on_a_model_that_was_not_made_for_it(page, foreign, name):
    bundle, text = foreign[name]
    with serving(ShownModel(bundle, name)) as address:
        choose(page)
        page.goto(f"{address}/#/heads")
        page.locator("textarea").fill(text)
        page.wait_for_timeout(400)
        for one in PAGES:
            page.goto(f"{address}/#/{one}")
            settled(page)
            assert page.locator(".message").count() == 0, page.locator(".message").first.inner_text()
        page.goto(f"{address}/#/heads")
        settled(page)
        heads = sum(layer.heads for layer in attention_layers(bundle.model))
        assert page.locator(".thumbnail").count() >= heads > 0
