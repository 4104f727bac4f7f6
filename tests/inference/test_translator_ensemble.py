"""Several model folders as one translator."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from clearformer.api import load
from clearformer.folder.bundle import Bundle, save
from clearformer.folder.preprocessing import Markers, Preprocessing
from clearformer.inference.engines import open_translator
from clearformer.inference.translation_settings import DecodingConfig
from clearformer.inference.translator import Translator
from clearformer.inference.translator_ensemble import TranslatorEnsemble
from support.toy_models import small, texts, vocabulary

SHORT = DecodingConfig(beam=3, nbest=2, max_ratio=0.5, max_extra=4)


def members(count: int, **changes) -> list[Bundle]:
    """Relatives that differ: one model, and noise of its own for each."""
    made = [small(**changes) for _ in range(count)]
    for bundle in made:
        for weight in bundle.model.parameters():
            weight.data += 0.1 * torch.randn_like(weight)
    return made


@pytest.fixture(scope="module")
def bundles() -> list[Bundle]:
    return members(2)


@pytest.fixture(scope="module")
def together(bundles: list[Bundle]) -> TranslatorEnsemble:
    return TranslatorEnsemble(bundles)


def test_scores_are_the_mean_of_the_members(together: TranslatorEnsemble, bundles: list[Bundle]):
    [source] = texts(1)
    found = together.alternatives(source, SHORT)[0]
    for one in found:
        each = [Translator(bundle).score(source, one.ids) for bundle in bundles]
        mean = torch.tensor(each).exp().mean(dim=0).log().tolist()
        assert together.score(source, one.ids) == pytest.approx(mean, abs=1e-5)
        assert one.token_log_probs == pytest.approx(mean[: len(one.token_log_probs)], abs=1e-4)


def test_members_of_different_depth_fit(bundles: list[Bundle]):
    deeper = members(1, layers=2)[0]
    assert len(TranslatorEnsemble([bundles[0], deeper]).translate(texts(3), SHORT)) == 3


def test_the_batch_changes_nothing(together: TranslatorEnsemble):
    given = texts(20)
    alone = [together.translate(text, SHORT)[0].ids for text in given]
    assert [one.ids for one in together.translate(given, SHORT, batch=7)] == alone


def test_an_alignment_is_the_mean_of_the_members(together: TranslatorEnsemble, bundles: list[Bundle]):
    [source] = texts(1)
    ids = together.translate(source, SHORT)[0].ids
    rows = together.align(source, ids)
    each = torch.stack([Translator(bundle).align(source, ids) for bundle in bundles])
    assert torch.allclose(rows, each.mean(dim=0))
    assert torch.allclose(rows.sum(dim=1), torch.ones(len(ids)), atol=1e-3)


def test_another_vocabulary_is_refused_with_the_difference(bundles: list[Bundle]):
    other = replace(bundles[1], preprocessing=Preprocessing(tokenizer=vocabulary(275)))
    with pytest.raises(ValueError, match="model 2 cannot join the first, their vocabularies are not the same: "):
        TranslatorEnsemble([bundles[0], other])


def test_other_markers_are_refused(bundles: list[Bundle]):
    marked = replace(bundles[1].preprocessing, markers=Markers(start=0))
    other = replace(bundles[1], preprocessing=marked)
    with pytest.raises(ValueError, match="mark the beginning and end"):
        TranslatorEnsemble([bundles[0], other])


def test_folders_open_together_in_the_torch_engine_alone(bundles: list[Bundle], tmp_path: Path):
    folders = [tmp_path / name for name in ("one", "two")]
    for bundle, folder in zip(bundles, folders, strict=True):
        save(bundle, folder)
    given = texts(4)
    wanted = [one.text for one in TranslatorEnsemble(bundles).translate(given, SHORT)]
    assert [one.text for one in load(*folders).translate(given, SHORT)] == wanted
    opened = open_translator(folders[0], config=SHORT, others=folders[1:])
    assert [one.text for one in opened.translate(given, SHORT)] == wanted
    with pytest.raises(ValueError, match="ctranslate2 runs one model alone"):
        open_translator(folders[0], "ctranslate2", SHORT, others=folders[1:])
