"""What boxes score that look at no picture: one of mean size in the middle, one at the mean place, and a grid of them.

    python benchmarks/box_baseline.py TRAIN TEST

Both as `[data]` of a recipe names them, such as BCCD.tar.gz/BCCD/ImageSets/Main/train.txt. Whoever does no better has
learned nothing.
"""

import argparse
from collections.abc import Callable
from pathlib import Path

import numpy as np

from clearformer.data.readers.box_files import read_boxed
from clearformer.data.readers.boxes import BoxedPicture, load
from clearformer.data.readers.pictures import label_order
from clearformer.evaluation.box_precision import PictureBoxes, score_boxes

Guess = Callable[
    [np.ndarray, float], np.ndarray
]  # a class's boxes as fractions, how many a picture has -> what is said


def middle(boxes: np.ndarray, count: float) -> np.ndarray:
    """One box of mean size in the middle."""
    size = (boxes[:, 2:] - boxes[:, :2]).mean(axis=0)
    return np.array([[*(0.5 - size / 2), *(0.5 + size / 2)]])


def mean(boxes: np.ndarray, count: float) -> np.ndarray:
    """One box whose edges are the mean edges."""
    return boxes.mean(axis=0, keepdims=True)


def grid(boxes: np.ndarray, count: float) -> np.ndarray:
    """As many boxes of mean size as a picture has on average, or a few more, side by side."""
    side = int(np.ceil(np.sqrt(count)))
    size = (boxes[:, 2:] - boxes[:, :2]).mean(axis=0)
    steps = (np.arange(side) + 0.5) / side
    centres = np.array([(x, y) for y in steps for x in steps])
    return np.concatenate((centres - size / 2, centres + size / 2), axis=1)


def fractions(one: BoxedPicture) -> tuple[np.ndarray, np.ndarray]:
    """Boxes as shares of the sides, and the sides."""
    pixels, here = load(one)
    sides = np.array([pixels.shape[1], pixels.shape[0]] * 2, dtype=float)
    return here.boxes / sides, sides


def main() -> None:
    """Print each baseline's scores."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("train", type=Path)
    parser.add_argument("test", type=Path)
    given = parser.parse_args()
    train, test = read_boxed(given.train), read_boxed(given.test)
    names = label_order([name for one in train for name in one.names])
    learned = [(fractions(one)[0], np.array(one.names)) for one in train]
    wanted, sides = [], []
    for one in test:
        boxes, size = fractions(one)
        sides.append(size)
        wanted.append(PictureBoxes(boxes * size, [names.index(name) for name in one.names]))
    for guess in (middle, mean, grid):
        said = []
        for number, name in enumerate(names):
            mine = np.concatenate([boxes[kinds == name] for boxes, kinds in learned])
            said += [(box, number) for box in guess(mine, len(mine) / len(train))]
        rows = np.array([box for box, _ in said]).clip(0, 1)
        labels = [number for _, number in said]
        found = [PictureBoxes(rows * size, labels, [0.5] * len(labels)) for size in sides]
        scores = score_boxes(found, wanted, names)
        print(f"{guess.__name__:<8}", "  ".join(f"{k} {v:.3f}" for k, v in scores.items() if k.startswith("ap50")))


if __name__ == "__main__":
    main()
