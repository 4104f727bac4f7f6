"""Boxes in COCO's layout: one JSON file with the pictures, the classes and all boxes."""

import json
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

from clearformer.data.readers.archives import FileStore
from clearformer.data.readers.boxes import FARTHEST, BoxedPicture, BoxError, as_boxes

LISTS = ("images", "annotations", "categories")
NAMED = 5  # annotations that are named where several are wrong
HEAD = 1 << 16  # bytes of a file that show whether it is one
FOLDERS = ("", "images", "JPEGImages", "..", "../images")  # where pictures lie, seen from the file


def looks_like(content: bytes) -> bool:
    """Whether JSON is of this kind: a table that has lists of pictures and of boxes."""
    head = content[:HEAD].lstrip(b"\xef\xbb\xbf \t\r\n")
    return head.startswith(b"{") and all(f'"{name}"'.encode() in content for name in LISTS)


def read_file(store: FileStore, name: str) -> Iterator[BoxedPicture]:
    """Every picture of the file, in its order, also those without boxes. Crowds, which stand for many, are left out."""
    place = store.place(name)
    try:
        table = json.loads(store.read(name))
    except (ValueError, RecursionError) as error:
        raise BoxError(f"{place} is no whole JSON file ({str(error)[:100]}): write it anew") from None
    if not isinstance(table, dict) or not all(isinstance(table.get(one), list) for one in LISTS):
        raise BoxError(f"{place} is not in COCO's layout: it needs the lists {', '.join(LISTS)}")
    classes = _by_id(table["categories"], place, "category")
    pictures = _by_id(table["images"], place, "image")
    _refuse_unlisted(table["annotations"], place, pictures, classes)
    marked: dict[Any, list[tuple[int, Mapping[str, Any]]]] = {number: [] for number in pictures}
    for number, one in enumerate(table["annotations"], start=1):
        if not one.get("iscrowd"):
            marked[one["image_id"]].append((number, one))
    for number, one in pictures.items():
        yield _picture(store, name, one, marked[number], classes)


def _refuse_unlisted(
    annotations: list[Any], place: str, pictures: Mapping[Any, Any], classes: Mapping[Any, Any]
) -> None:
    """Annotations of what the file does not list, all in one message."""
    for name, what, table in (("image_id", "picture", pictures), ("category_id", "category", classes)):
        wrong = [
            (number, one.get(name) if isinstance(one, dict) else None)
            for number, one in enumerate(annotations, start=1)
            if not isinstance(one, dict) or not _known(one.get(name), table)
        ]
        if wrong:
            named = ", ".join(f"annotation {number} ({value!r})" for number, value in wrong[:NAMED])
            more = f" and {len(wrong) - NAMED:,} more" if len(wrong) > NAMED else ""
            raise BoxError(
                f"{place}, {named}{more}: of a {what} that the file does not list: remove them, or list the {what}"
            )


def _picture(
    store: FileStore,
    name: str,
    one: Mapping[str, Any],
    marked: list[tuple[int, Mapping[str, Any]]],
    classes: Mapping[Any, Mapping[str, Any]],
) -> BoxedPicture:
    place = store.place(name)
    file = one.get("file_name")
    if not isinstance(file, str) or not file:
        raise BoxError(f"{place}, image {one['id']} has no file_name")
    rows, names = [], []
    for number, box in marked:
        where = f"{place}, annotation {number}"
        names.append(str(classes[box["category_id"]].get("name", box["category_id"])))
        left, top, wide, high = _numbers(box.get("bbox"), where)
        rows.append([left, top, left + wide, top + high])
    size = (one.get("width"), one.get("height"))
    known = all(isinstance(side, int) and side > 0 for side in size)
    return BoxedPicture(
        store=store,
        picture=_find(store, name, file, f"{place}, image {one['id']}"),
        place=place,
        boxes=as_boxes(rows),
        names=tuple(names),
        size=size if known else None,  # type: ignore[arg-type]  # two integers
        numbers=tuple(number for number, _ in marked),
    )


def _find(store: FileStore, name: str, file: str, where: str) -> str:
    """The picture's name in the store: beside the file, or in a folder of pictures near it."""
    path = PurePosixPath(file.replace("\\", "/"))
    if path.is_absolute() or ".." in path.parts:
        raise BoxError(f"{where} leads out of its folder ({file}): name a picture below it")
    base = PurePosixPath(name).parent
    places = [base / folder / path for folder in FOLDERS if folder[:2] != ".." or len(base.parts)]
    spelled = [str(_level(one)) for one in places]
    return next((one for one in spelled if store.has(one)), spelled[0])


def _level(path: PurePosixPath) -> PurePosixPath:
    parts: list[str] = []
    for part in path.parts:
        parts = parts[:-1] if part == ".." else [*parts, part]
    return PurePosixPath(*parts)


def _by_id(rows: list[Any], place: str, what: str) -> dict[Any, Mapping[str, Any]]:
    found: dict[Any, Mapping[str, Any]] = {}
    for number, one in enumerate(rows, start=1):
        if not isinstance(one, dict) or not isinstance(one.get("id"), int | str):
            raise BoxError(f"{place}, {what} {number} has no id")
        if one["id"] in found:
            raise BoxError(f"{place}, {what} {number} has the id {one['id']!r} of another one")
        found[one["id"]] = one
    return found


def _known(number: Any, table: Mapping[Any, Any]) -> bool:
    return isinstance(number, int | str) and number in table


def _numbers(box: Any, where: str) -> list[float]:
    """Left, top, width and height."""
    numbers = isinstance(box, list) and all(isinstance(one, int | float) and abs(one) < FARTHEST for one in box)
    if not numbers or len(box) != 4:
        raise BoxError(f"{where} has no box of four numbers (left, top, width, height), but {str(box)[:60]}")
    return [float(one) for one in box]
