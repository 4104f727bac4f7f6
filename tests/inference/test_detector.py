"""Pictures in, boxes out, in the pixels of the picture that was given; alone as in company."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from PIL import Image

from clearformer.data.readers.pictures import PictureError
from clearformer.folder.bundle import Bundle, load, save
from clearformer.folder.preprocessing import Outcome, PictureFacts, Preprocessing
from clearformer.inference.detection_settings import DetectionConfig
from clearformer.inference.detector import Detector, without_duplicates
from clearformer.inference.picture_classifier import fit
from clearformer.model.build import build
from clearformer.model.config import FrontConfig, HeadConfig
from clearformer.model.families import FAMILIES, bert

FACTS = PictureFacts(size=16, channels=3, mean=(0.5, 0.25, 0.1), deviation=(0.2, 0.4, 0.8), fit="stretch")
LABELS = ("cat", "dog")


def bundle(head: str = "boxes") -> Bundle:
    config = FAMILIES["vit"](
        dim=16,
        hidden_dim=24,
        layers=2,
        heads=2,
        front=FrontConfig(kind="patches", picture=16, patch=4, channels=3, class_token=False),
        head=HeadConfig(kind=head, labels=len(LABELS), helper=head == "boxes", pool="mean"),
        init_std=0.5,
    )
    torch.manual_seed(1)
    return Bundle(config=config, model=build(config), preprocessing=Preprocessing(labels=LABELS, picture=FACTS))


@pytest.fixture(scope="module")
def detector() -> Detector:
    return Detector(bundle())


class Pointing(torch.nn.Module):
    """A network that always names one box: of the first class, from a quarter to a half of each side."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.zeros(1))

    def forward(self, pictures):
        out = torch.full((len(pictures), 16, 6), -20.0)
        out[:, 3] = torch.tensor([3.0, -20.0, 0.375, 0.375, 0.25, 0.25])
        return out


def pointing() -> Detector:
    return Detector(replace(bundle(), model=Pointing()))


def picture(seed: int, height: int = 20, width: int = 36) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, size=(height, width, 3), dtype=np.uint8)


@pytest.mark.parametrize(("height", "width"), [(16, 16), (480, 640), (7, 200), (1, 1)])
def test_boxes_are_in_the_pixels_of_the_picture(height, width):
    [found] = pointing().detect(picture(1, height, width))
    [one] = found.objects
    assert (one.label, found.width, found.height) == ("cat", width, height)
    assert one.box == pytest.approx((width / 4, height / 4, width / 2, height / 2), rel=1e-5)


def test_a_picture_stored_on_its_side_is_looked_at_upright(tmp_path):
    image = Image.fromarray(picture(1, 20, 36))
    exif = image.getexif()
    exif[0x0112] = 6
    image.save(tmp_path / "p.png", exif=exif)
    [found] = pointing().detect(tmp_path / "p.png")
    assert (found.width, found.height) == (20, 36)
    assert found.objects[0].box == pytest.approx((5, 9, 10, 18))


def test_alone_as_in_company(detector):
    pictures = [picture(seed, 12 + seed, 40 - seed) for seed in range(5)]
    config = DetectionConfig(threshold=0.0)
    together = detector.detect(pictures, config)
    for number, one in enumerate(pictures):
        [alone] = detector.detect([one], config)
        assert [thing.label for thing in alone.objects] == [thing.label for thing in together[number].objects]
        for mine, other in zip(alone.objects, together[number].objects, strict=True):
            assert mine.score == pytest.approx(other.score, abs=1e-5)
            assert mine.box == pytest.approx(other.box, abs=1e-3)
    again = detector.detect(pictures, config, batch=2)
    assert [len(one.objects) for one in again] == [len(one.objects) for one in together]


def test_thresholds_and_limits_take_from_the_end(detector):
    one = picture(1)
    [everything] = detector.detect(one, threshold=0.0)
    scores = [thing.score for thing in everything.objects]
    assert len(scores) == 16 * 2
    assert scores == sorted(scores, reverse=True)
    assert everything.nearest == pytest.approx(scores[0])
    [some] = detector.detect(one, threshold=scores[4])
    assert some.objects == everything.objects[:5]
    assert detector.detect(one, threshold=0.0, most=3)[0].objects == everything.objects[:3]
    [none] = detector.detect(one, threshold=1.0)
    assert none.objects == ()
    assert none.counts == {}
    assert none.nearest == pytest.approx(scores[0])
    assert sum(everything.counts.values()) == 32


def test_every_box_lies_in_the_picture(detector):
    [found] = detector.detect(picture(2, 33, 21), threshold=0.0)
    for one in found.objects:
        left, top, right, bottom = one.box
        assert 0 <= left <= right <= 21
        assert 0 <= top <= bottom <= 33


def test_the_folder_s_own_threshold_is_used(tmp_path):
    made = bundle()
    own = replace(made, preprocessing=replace(made.preprocessing, outcome=Outcome(threshold=0.015)), task="detection")
    save(own, tmp_path / "model")
    opened = Detector(load(tmp_path / "model"))
    assert set(opened.thresholds) == {0.015}
    assert opened.facts == FACTS
    one = picture(1)
    assert opened.detect(one) == Detector(made).detect(one, threshold=0.015)


def test_grey_pictures_and_files_work_too(detector, tmp_path):
    Image.fromarray(picture(1)[..., 0]).save(tmp_path / "grey.png")
    grey = np.repeat(picture(1)[..., :1], 3, axis=2)
    assert detector.detect(tmp_path / "grey.png", threshold=0.0) == detector.detect(grey, threshold=0.0)
    with pytest.raises(PictureError, match=r"no\.png does not exist"):
        detector.detect([tmp_path / "no.png"])


def test_all_of_a_picture_is_seen():
    pixels = np.zeros((8, 32, 3), dtype=np.uint8)
    pixels[:, :16] = 255
    made = fit(pixels, FACTS)
    assert made.shape == (16, 16, 3)
    assert (made[:, :7] == 255).all()
    assert (made[:, 9:] == 0).all()


def test_of_two_alike_the_surer_stays():
    corners = torch.tensor([[0.0, 0.0, 0.5, 0.5], [0.0, 0.0, 0.5, 0.48], [0.5, 0.5, 1.0, 1.0]])
    places, classes = torch.tensor([1, 0, 2, 0]), torch.tensor([0, 0, 0, 1])
    kept, kinds = without_duplicates(places, classes, corners, 0.5)
    assert kept.tolist() == [1, 2, 0]
    assert kinds.tolist() == [0, 0, 1]
    assert without_duplicates(places, classes, corners, 0.99)[0].tolist() == [1, 0, 2, 0]


def test_other_networks_are_refused_with_their_verb():
    with pytest.raises(ValueError, match="use `clearformer classify`"):
        Detector(bundle("class"))
    words = bert(dim=16, hidden_dim=16, layers=1, heads=2, vocab_size=9, head=HeadConfig(kind="class", labels=2))
    with pytest.raises(ValueError, match="not one that finds objects in pictures"):
        Detector(Bundle(config=words, model=build(words), preprocessing=Preprocessing()))


def test_it_describes_itself(detector):
    assert repr(detector).startswith("Detector(vit, 0.0 M parameters, 2 classes, pictures of 16 × 16")


def test_every_object_names_the_patch_that_spoke_for_it(detector):
    [scores], [corners] = detector.boxes([picture(1)])
    found = detector.choose((36, 20), scores, corners, DetectionConfig(threshold=0.0))
    assert found.objects == detector.detect([picture(1)], threshold=0.0)[0].objects
    for one in found.objects:
        assert scores[one.patch, LABELS.index(one.label)] == pytest.approx(one.score)
        assert (corners[one.patch] * torch.tensor([36, 20, 36, 20])).tolist() == pytest.approx(one.box)
