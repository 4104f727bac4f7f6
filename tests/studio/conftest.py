"""Small models of every family, and somebody who answers questions about each."""

from pathlib import Path

import pytest

from clearformer.folder.bundle import Bundle, save
from clearformer.studio.app import Handlers
from clearformer.studio.runs import Runs
from clearformer.studio.shown_model import ShownModel
from clearformer.text.tokenizer import Tokenizer
from clearformer.text.train_tokenizer import train
from studio.small_models import CONFIGURATIONS, LINES, make


@pytest.fixture(scope="session")
def tokenizer() -> Tokenizer:
    return train("bpe", LINES * 5, 330)


@pytest.fixture(scope="session")
def bundles(tokenizer: Tokenizer) -> dict[str, Bundle]:
    return {name: make(name, tokenizer) for name in CONFIGURATIONS}


@pytest.fixture(scope="session")
def all_handlers(bundles: dict[str, Bundle]) -> dict[str, Handlers]:
    return {name: Handlers(ShownModel(bundle, name), Runs([])) for name, bundle in bundles.items()}


@pytest.fixture(params=list(CONFIGURATIONS))
def handlers(request: pytest.FixtureRequest, all_handlers: dict[str, Handlers]) -> Handlers:
    """Each of the six in turn."""
    return all_handlers[request.param]


@pytest.fixture(scope="session")
def folders(bundles: dict[str, Bundle], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The same models on disk, and one without a tokenizer."""
    root = tmp_path_factory.mktemp("models")
    for name, bundle in {**bundles, "mute": make("transformer", None)}.items():
        save(bundle, root / name)
    return {path.name: path for path in root.iterdir()}
