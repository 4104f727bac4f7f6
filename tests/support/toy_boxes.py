"""Pictures of discs and squares with a box around each, in the layouts that people have."""

import json
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

WIDTH, HEIGHT = 60, 40
KINDS = ("disc", "square")


class Drawn(NamedTuple):
    """A picture with what is in it."""

    pixels: NDArray[np.uint8]
    boxes: list[tuple[int, int, int, int]]
    names: list[str]


def draw(generator: np.random.Generator, objects: int = 2) -> Drawn:
    """Discs are bright, squares dark; they do not touch one another."""
    image = Image.fromarray(generator.integers(90, 130, (HEIGHT, WIDTH, 3), dtype=np.uint8))
    pen = ImageDraw.Draw(image)
    boxes: list[tuple[int, int, int, int]] = []
    names: list[str] = []
    while len(boxes) < objects:
        wide, high = (int(side) for side in generator.integers(10, 18, 2))
        left, top = int(generator.integers(0, WIDTH - wide)), int(generator.integers(0, HEIGHT - high))
        box = (left, top, left + wide, top + high)
        if any(box[0] < b[2] and b[0] < box[2] and box[1] < b[3] and b[1] < box[3] for b in boxes):
            continue
        name = KINDS[int(generator.integers(2))]
        inner = (box[0], box[1], box[2] - 1, box[3] - 1)
        if name == "disc":
            pen.ellipse(inner, fill=(250, 240, 90))
        else:
            pen.rectangle(inner, fill=(20, 10, 120))
        boxes.append(box)
        names.append(name)
    return Drawn(np.asarray(image), boxes, names)


def draw_many(count: int, seed: int = 1) -> list[Drawn]:
    """So many pictures with one to three objects."""
    generator = np.random.default_rng(seed)
    return [draw(generator, int(generator.integers(1, 4))) for _ in range(count)]


def write_coco(folder: Path, some: list[Drawn], name: str = "boxes.json") -> Path:
    """One JSON file, and the pictures in `images`."""
    (folder / "images").mkdir(parents=True, exist_ok=True)
    table: dict[str, list[dict[str, object]]] = {"images": [], "annotations": [], "categories": []}
    table["categories"] = [{"id": number, "name": kind} for number, kind in enumerate(KINDS, start=5)]
    for number, one in enumerate(some, start=1):
        file = f"{number:03}.png"
        Image.fromarray(one.pixels).save(folder / "images" / file)
        height, width = one.pixels.shape[:2]
        table["images"].append({"id": number, "file_name": file, "width": width, "height": height})
        for box, kind in zip(one.boxes, one.names, strict=True):
            left, top, right, bottom = box
            table["annotations"].append(
                {
                    "id": len(table["annotations"]) + 1,
                    "image_id": number,
                    "category_id": 5 + KINDS.index(kind),
                    "bbox": [left, top, right - left, bottom - top],
                }
            )
    path = folder / name
    path.write_text(json.dumps(table), encoding="utf-8")
    return path


def voc_xml(file: str, width: int, height: int, objects: list[tuple[str, tuple[int, int, int, int]]]) -> str:
    """An annotation as labelling programs write it."""
    marked = "".join(
        f"<object><name>{name}</name><bndbox><xmin>{b[0]}</xmin><ymin>{b[1]}</ymin><xmax>{b[2]}</xmax>"
        f"<ymax>{b[3]}</ymax></bndbox></object>"
        for name, b in objects
    )
    size = f"<size><width>{width}</width><height>{height}</height><depth>3</depth></size>"
    return f"<annotation><filename>{file}</filename>{size}{marked}</annotation>"


def write_voc(folder: Path, some: list[Drawn]) -> Path:
    """Annotations, JPEGImages and lists in ImageSets/Main: four fifths train, the rest half dev and half test."""
    for part in ("Annotations", "JPEGImages", "ImageSets/Main"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    names = []
    for number, one in enumerate(some):
        name = f"p{number:03}"
        Image.fromarray(one.pixels).save(folder / "JPEGImages" / f"{name}.jpg", quality=95)
        height, width = one.pixels.shape[:2]
        xml = voc_xml(f"{name}.jpg", width, height, list(zip(one.names, one.boxes, strict=True)))
        (folder / "Annotations" / f"{name}.xml").write_text(xml, encoding="utf-8")
        names.append(name)
    ends = {"train": (0, 0.8), "val": (0.8, 0.9), "test": (0.9, 1.0)}
    for part, (low, high) in ends.items():
        chosen = names[int(low * len(names)) : int(high * len(names))]
        (folder / "ImageSets" / "Main" / f"{part}.txt").write_text("".join(f"{one}\n" for one in chosen))
    return folder
