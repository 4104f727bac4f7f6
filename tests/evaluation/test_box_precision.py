"""Average precision: cases by hand, and pycocotools asked in its own way."""

import contextlib
import io
import json

import numpy as np
import pytest

from clearformer.evaluation.box_precision import PictureBoxes, score_boxes

NAMES = ("a", "b")


def boxes(rows, labels, scores=()):
    return PictureBoxes(np.array(rows, dtype=float).reshape(-1, 4), labels, scores)


WANTED = [boxes([(0, 0, 10, 10), (20, 20, 40, 40)], [0, 1]), boxes([(5, 5, 15, 15)], [0])]


def test_right_boxes_have_all_of_it_and_none_has_nothing():
    found = [one._replace(scores=[0.9] * len(one.labels)) for one in WANTED]
    scores = score_boxes(found, WANTED, NAMES)
    for name in ("ap50", "ap50:a", "ap50:b", "ap50_low", "ap50_high"):
        assert scores[name] == pytest.approx(1.0)
    nothing = score_boxes([boxes([], [], []), boxes([], [], [])], WANTED, NAMES)
    assert nothing["ap50"] == nothing["ap50_high"] == 0


def test_half_of_a_class_found_is_half_and_a_false_one_that_is_surer_costs():
    one = [boxes([(0, 0, 10, 10)], [0], [0.9]), boxes([], [], [])]
    assert score_boxes(one, WANTED, NAMES, interval=False)["ap50:a"] == pytest.approx(51 / 101)  # recalls 0 … 0.5
    wrong = [boxes([(0, 0, 10, 10), (50, 50, 60, 60)], [0, 0], [0.5, 0.9]), boxes([], [], [])]
    assert score_boxes(wrong, WANTED, NAMES, interval=False)["ap50:a"] == pytest.approx(51 / 101 / 2)
    late = [boxes([(0, 0, 10, 10), (50, 50, 60, 60)], [0, 0], [0.9, 0.5]), boxes([], [], [])]
    assert score_boxes(late, WANTED, NAMES, interval=False)["ap50:a"] == pytest.approx(51 / 101)


def test_an_object_counts_once_and_the_wrong_class_never():
    twice = [boxes([(0, 0, 10, 10), (0, 0, 10, 10)], [0, 0], [0.9, 0.8]), boxes([(5, 5, 15, 15)], [0], [0.7])]
    assert score_boxes(twice, WANTED, NAMES, interval=False)["ap50:a"] == pytest.approx((51 + 50 * 2 / 3) / 101)
    other = [boxes([(0, 0, 10, 10)], [1], [0.9]), boxes([(5, 5, 15, 15)], [1], [0.9])]
    assert score_boxes(other, WANTED, NAMES, interval=False)["ap50:a"] == 0


@pytest.mark.parametrize(("shift", "right"), [(3, True), (4, False)])
def test_half_of_the_union_is_enough(shift, right):
    moved = [boxes([(shift, 0, 10 + shift, 10)], [0], [0.9]), boxes([], [], [])]  # 7/13 and 6/14 of the union
    assert (score_boxes(moved, WANTED, NAMES, interval=False)["ap50:a"] > 0) == right


def test_a_class_that_is_nowhere_wanted_does_not_count():
    found = [one._replace(scores=[0.9] * len(one.labels)) for one in WANTED]
    scores = score_boxes(found, WANTED, (*NAMES, "c"), interval=False)
    assert scores["ap50"] == pytest.approx(1)
    assert "ap50:c" not in scores


def drawn(seed, count=12):
    """Objects, and boxes that miss them by a little or a lot."""
    random = np.random.default_rng(seed)
    wanted, found = [], []
    for _ in range(count):
        many = int(random.integers(0, 5))
        low = random.uniform(0, 60, (many, 2))
        true = np.concatenate((low, low + random.uniform(8, 30, (many, 2))), axis=1)
        labels = random.integers(0, 2, many).tolist()
        wanted.append(PictureBoxes(true, labels))
        extra = random.uniform(0, 60, (2, 2))
        near = np.concatenate((true + random.normal(0, 3, true.shape), np.concatenate((extra, extra + 9), axis=1)))
        found.append(PictureBoxes(near, [*labels, 0, 1], random.uniform(0, 1, many + 2).round(3).tolist()))
    return found, wanted


@pytest.mark.parametrize("seed", range(5))
def test_it_is_what_pycocotools_says_when_asked_in_the_usual_way(seed, tmp_path):
    """The whole of COCO's protocol from files; of its twelve numbers the one at half overlap."""
    from pycocotools.coco import COCO
    from pycocotools.cocoeval import COCOeval

    found, wanted = drawn(seed)
    truth = {"images": [{"id": n} for n in range(len(wanted))], "categories": [{"id": 0}, {"id": 1}], "info": {}}
    truth["annotations"] = [
        {"id": 100 * n + k + 1, "image_id": n, "category_id": label, "iscrowd": 0,
         "area": (b[2] - b[0]) * (b[3] - b[1]), "bbox": [b[0], b[1], b[2] - b[0], b[3] - b[1]]}
        for n, one in enumerate(wanted) for k, (b, label) in enumerate(zip(one.boxes.tolist(), one.labels, strict=True))
    ]  # fmt: skip
    said = [
        {"image_id": n, "category_id": label, "score": score, "bbox": [b[0], b[1], b[2] - b[0], b[3] - b[1]]}
        for n, one in enumerate(found)
        for b, label, score in zip(one.boxes.tolist(), one.labels, one.scores, strict=True)
    ]
    (tmp_path / "truth.json").write_text(json.dumps(truth))
    (tmp_path / "said.json").write_text(json.dumps(said))
    with contextlib.redirect_stdout(io.StringIO()):
        reference = COCO(tmp_path / "truth.json")
        judge = COCOeval(reference, reference.loadRes(str(tmp_path / "said.json")), "bbox")
        judge.evaluate()
        judge.accumulate()
        judge.summarize()
    assert score_boxes(found, wanted, NAMES, interval=False)["ap50"] == pytest.approx(judge.stats[1], abs=1e-9)


def test_the_interval_holds_the_score_and_shrinks_with_more_pictures():
    widths = []
    for count in (10, 60):
        scores = score_boxes(*drawn(1, count), NAMES)
        assert scores["ap50_low"] <= scores["ap50"] <= scores["ap50_high"]
        widths.append(scores["ap50_high"] - scores["ap50_low"])
    assert widths[1] < widths[0]
    assert "pycocotools" in str(scores["signature"])
    assert scores["examples"] == 60


def test_lists_of_different_length_are_refused():
    with pytest.raises(ValueError, match="1 pictures cannot be compared with 2"):
        score_boxes(WANTED[:1], WANTED, NAMES)
