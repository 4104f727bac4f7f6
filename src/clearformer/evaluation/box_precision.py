"""Average precision of boxes at half overlap, by pycocotools, with an interval by drawing pictures anew."""

import contextlib
import io
from collections.abc import Sequence
from importlib.metadata import version
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

SAMPLES = 500  # of the bootstrap
MOST = 100  # boxes of a picture that are looked at, COCO's own number


class PictureBoxes(NamedTuple):
    """The boxes of a picture: edges in pixels (N 4), their classes, and, of those that were found, their scores."""

    boxes: NDArray[Any]
    labels: Sequence[int]
    scores: Sequence[float] = ()


def score_boxes(
    found: Sequence[PictureBoxes], wanted: Sequence[PictureBoxes], names: Sequence[str], *, interval: bool = True
) -> dict[str, float | str]:
    """ap50, the mean over the classes that occur, and ap50 of each class; `_low` and `_high` are of a 95 % interval.

    A box is right if intersection over union with an object of its class, which no surer box has, is at least one half.
    """
    if len(found) != len(wanted) or not wanted:
        raise ValueError(f"{len(found)} pictures cannot be compared with {len(wanted)}; give as many, at least one")
    judge = _judge(found, wanted, len(names))
    each = _precision(judge)
    there = [number for number in range(len(names)) if each[number] > -1]
    scores: dict[str, float | str] = {"ap50": _mean(each)}
    if interval:
        scores["ap50_low"], scores["ap50_high"] = _interval(judge, len(wanted))
    scores |= {f"ap50:{names[number]}": float(each[number]) for number in there}
    if interval:
        scores |= {
            "examples": float(len(wanted)),
            "objects": float(sum(len(one.labels) for one in wanted)),
            "signature": f"pycocotools {version('pycocotools')}, intersection over union 0.5, at most {MOST} boxes per "
            f"picture; 95 % interval by {SAMPLES} bootstrap samples of pictures",
        }
    return scores


def _judge(found: Sequence[PictureBoxes], wanted: Sequence[PictureBoxes], classes: int) -> Any:
    """pycocotools' evaluation, after it has matched boxes picture by picture."""
    try:
        from pycocotools.coco import COCO
        from pycocotools.cocoeval import COCOeval
    except ImportError:
        raise ValueError("scoring boxes needs pycocotools: pip install 'clearformer[pictures]'") from None
    pictures = [{"id": number} for number in range(1, len(wanted) + 1)]
    categories = [{"id": number} for number in range(1, classes + 1)]
    with contextlib.redirect_stdout(io.StringIO()):  # it prints
        truth, said = COCO(), COCO()
        for one, boxes in ((truth, wanted), (said, found)):
            one.dataset = {"images": pictures, "categories": categories, "annotations": _annotations(boxes)}
            one.createIndex()
        judge = COCOeval(truth, said, "bbox")
        judge.params.iouThrs = np.array([0.5])
        judge.params.maxDets = [MOST]
        judge.params.areaRng, judge.params.areaRngLbl = [[0, 1e10]], ["all"]
        judge.evaluate()
        judge.accumulate()
    return judge


def _annotations(pictures: Sequence[PictureBoxes]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for picture, one in enumerate(pictures, start=1):
        for number, (box, label) in enumerate(zip(one.boxes.tolist(), one.labels, strict=True)):
            left, top, right, bottom = box
            wide, high = right - left, bottom - top
            row = {
                "id": len(rows) + 1,
                "image_id": picture,
                "category_id": int(label) + 1,
                "bbox": [left, top, wide, high],
                "area": wide * high,
                "iscrowd": 0,
            }
            rows.append(row | ({"score": float(one.scores[number])} if len(one.scores) else {}))
    return rows


def _precision(judge: Any) -> NDArray[np.float64]:
    """Of each class: the mean of the precision at 101 recalls; -1 where nothing is wanted."""
    table: NDArray[np.float64] = judge.eval["precision"][0, :, :, 0, 0].mean(axis=0)  # recalls, classes
    return table


def _mean(each: NDArray[np.float64]) -> float:
    there = each[each > -1]
    return float(there.mean()) if len(there) else 0.0


def _interval(judge: Any, pictures: int) -> tuple[float, float]:
    """Pictures are drawn with replacement, because the boxes of one stand or fall together."""
    draw = np.random.default_rng(1)
    whole = np.array(judge.evalImgs, dtype=object).reshape(-1, pictures)
    drawn = []
    with contextlib.redirect_stdout(io.StringIO()):
        for _ in range(SAMPLES):
            judge.evalImgs = whole[:, draw.integers(pictures, size=pictures)].reshape(-1).tolist()
            judge.accumulate()
            drawn.append(_mean(_precision(judge)))
    low, high = np.quantile(drawn, [0.025, 0.975])
    return float(low), float(high)
