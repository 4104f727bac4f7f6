"""A judge learns classes that anybody can tell apart, has features, and refuses other classes."""

import numpy as np
import pytest
import torch

from clearformer.folder import bundle
from clearformer.tasks.picture_judge import Judge, train_judge
from clearformer.tasks.picture_parts import PicturePart
from flows.tiny_tasks import drawn

LABELS = ("0", "1", "7")


def part(count, seed):
    pictures, digits = drawn(count, seed)
    return PicturePart(pixels=[one[..., None] for one in pictures], labels=[str(digit) for digit in digits])


@pytest.fixture(scope="module")
def judge():
    return train_judge(part(120, 1), LABELS, steps=40)


def test_it_reads_pictures_that_it_has_not_seen(judge):
    test = part(60, 2)
    right = sum(map(str.__eq__, judge.read(test.pixels), test.labels))
    assert right >= 57


def test_its_features_are_what_its_last_layer_decides_by(judge):
    pictures = part(7, 3).pixels
    features = judge.features(pictures)
    last = judge.classifier.model.head.classify
    with torch.no_grad():
        logits = last(torch.from_numpy(features).float())
    torch.testing.assert_close(logits.softmax(-1), judge.classifier.probabilities(pictures), atol=1e-5, rtol=1e-4)
    assert features.shape == (7, 64)


def test_the_same_seed_is_the_same_judge_and_nothing_else_is_touched(judge):
    torch.manual_seed(7)
    expected = torch.rand(3)
    torch.manual_seed(7)
    again = train_judge(part(40, 1), LABELS, steps=2)
    assert torch.equal(torch.rand(3), expected)
    other = train_judge(part(40, 1), LABELS, steps=2)
    assert np.array_equal(again.features(part(5, 3).pixels), other.features(part(5, 3).pixels))


def test_a_folder_can_judge_if_it_knows_these_classes(judge, tmp_path):
    bundle.save(judge.classifier.bundle, tmp_path / "judge")
    opened = Judge.open(tmp_path / "judge", LABELS)
    assert opened.read(part(9, 4).pixels) == judge.read(part(9, 4).pixels)
    with pytest.raises(ValueError, match="knows the classes 0, 1, 7, and the pictures are of cat, dog"):
        Judge.open(tmp_path / "judge", ("cat", "dog"))
