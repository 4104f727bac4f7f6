"""Pictures in, classes out: as they were prepared in training, alone or in company, from files or from bytes."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from PIL import Image

from clearformer.data.readers.pictures import PictureError
from clearformer.folder.bundle import Bundle
from clearformer.folder.preprocessing import PictureFacts, Preprocessing
from clearformer.inference.picture_classifier import PictureClassifier, as_tensor
from clearformer.model.build import build
from clearformer.model.config import FrontConfig, HeadConfig
from clearformer.model.families import FAMILIES, bert

FACTS = PictureFacts(size=8, channels=3, mean=(0.5, 0.25, 0.1), deviation=(0.2, 0.4, 0.8))
LABELS = ("cat", "dog", "horse", "owl")


@pytest.fixture
def made() -> Bundle:
    config = FAMILIES["vit"](
        dim=16,
        hidden_dim=24,
        layers=2,
        heads=2,
        front=FrontConfig(kind="patches", picture=8, patch=4, channels=3),
        head=HeadConfig(kind="class", labels=len(LABELS)),
        init_std=0.5,
    )
    torch.manual_seed(1)
    return Bundle(config=config, model=build(config), preprocessing=Preprocessing(labels=LABELS, picture=FACTS))


def picture(seed: int, height: int = 8, width: int = 8, channels: int = 3) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, size=(height, width, channels), dtype=np.uint8)


def test_each_channel_is_shifted_and_scaled_by_its_own_numbers():
    pixels = np.full((8, 8, 3), 51, dtype=np.uint8)  # a fifth of 255
    pixels[0, 1] = (255, 0, 102)
    found = as_tensor([pixels], FACTS)
    assert found.shape == (1, 3, 8, 8)
    assert found[0, :, 5, 5].tolist() == pytest.approx([(0.2 - 0.5) / 0.2, (0.2 - 0.25) / 0.4, (0.2 - 0.1) / 0.8])
    assert found[0, :, 0, 1].tolist() == pytest.approx([0.5 / 0.2, -0.25 / 0.4, 0.3 / 0.8])


def test_the_folders_own_numbers_are_used(made):
    classifier = PictureClassifier(made)
    pixels = picture(1)
    with torch.inference_mode():
        expected = made.model(as_tensor([pixels], FACTS)).softmax(-1)
    torch.testing.assert_close(classifier.probabilities([pixels]), expected)
    other = replace(made.preprocessing, picture=replace(FACTS, mean=(0.0, 0.0, 0.0)))
    changed = PictureClassifier(replace(made, preprocessing=other)).probabilities([pixels])
    assert not torch.allclose(changed, expected, atol=1e-3)


def test_without_facts_a_published_model_halves(made):
    facts = PictureClassifier(replace(made, preprocessing=Preprocessing())).facts
    assert (facts.size, facts.mean, facts.deviation) == (8, (0.5,) * 3, (0.5,) * 3)


def test_a_picture_alone_is_the_picture_in_company(made):
    classifier = PictureClassifier(made)
    given = [picture(seed) for seed in range(5)]
    together = classifier.classify(given)
    for batch in (1, 2):
        for alone, beside in zip(classifier.classify(given, batch=batch), together, strict=True):
            assert alone.label == beside.label
            assert alone.scores == pytest.approx(beside.scores, abs=1e-5)
    for one in together:
        assert tuple(one.scores) == LABELS
        assert sum(one.scores.values()) == pytest.approx(1)
        assert one.probability == max(one.scores.values()) == one.scores[one.label]
    [single] = classifier.classify(given[0])
    assert single.scores == pytest.approx(together[0].scores, abs=1e-5)


def test_a_file_is_the_bytes_in_it(made, tmp_path):
    Image.fromarray(picture(7)).save(tmp_path / "a.png")
    classifier = PictureClassifier(made)
    [from_file], [from_bytes] = classifier.classify(tmp_path / "a.png"), classifier.classify(picture(7))
    assert from_file.scores == pytest.approx(from_bytes.scores)
    [from_name] = classifier.classify(str(tmp_path / "a.png"))
    assert from_name == from_file


def test_other_sizes_and_grey_are_brought_to_the_models(made):
    classifier = PictureClassifier(made)
    found = classifier.classify(
        [picture(1, 20, 11), picture(2, 5, 5), picture(3, 9, 9, 1), picture(4, 8, 8, 1)[..., 0]]
    )
    assert len(found) == 4
    wide = picture(1, 8, 20)
    [cut], [whole] = classifier.classify(wide[:, 6:14]), classifier.classify(wide)
    assert cut.scores == pytest.approx(whole.scores)  # the middle square counts


def test_one_that_cannot_be_read_is_named(made, tmp_path):
    (tmp_path / "broken.png").write_bytes(b"no picture")
    with pytest.raises(PictureError, match=r"broken\.png cannot be read as a picture"):
        PictureClassifier(made).classify([picture(1), tmp_path / "broken.png"])
    with pytest.raises(PictureError, match=r"missing\.png does not exist"):
        PictureClassifier(made).classify(tmp_path / "missing.png")


def test_classes_without_names_have_numbers(made):
    bare = replace(made, preprocessing=Preprocessing(picture=FACTS))
    [found] = PictureClassifier(bare).classify(picture(1))
    assert list(found.scores) == ["LABEL_0", "LABEL_1", "LABEL_2", "LABEL_3"]


def test_a_model_of_texts_is_refused():
    config = bert(vocab_size=20, dim=8, hidden_dim=8, layers=1, heads=2, head=HeadConfig(kind="class", labels=2))
    with pytest.raises(ValueError, match="classifies texts, not one that classifies pictures"):
        PictureClassifier(Bundle(config=config, model=build(config)))


def test_it_says_what_it_is(made):
    assert "4 classes, pictures of 8 × 8" in repr(PictureClassifier(made))


def test_a_picture_is_cut_once_whoever_reads_it_first(made):
    """A command reads pictures before it asks for their classes; the middle of a middle would be another picture."""
    cut = replace(made.preprocessing, picture=replace(FACTS, fit="shortest", resized=12))
    classifier = PictureClassifier(replace(made, preprocessing=cut))
    pixels = picture(5, height=30, width=40)
    square = classifier.read(pixels)
    assert square.shape == (8, 8, 3)
    assert np.array_equal(classifier.read(square), square)
    assert classifier.classify(square) == classifier.classify(pixels)
    whole = picture(6)  # of the size that the model reads, and yet a whole picture
    assert not np.array_equal(classifier.read(whole), whole)
