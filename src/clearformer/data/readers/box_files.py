"""Pictures with boxes from whatever holds them: the layout is known by the name, and a part may follow a `#`."""

import hashlib
from collections.abc import Callable, Iterable
from pathlib import Path, PurePosixPath

from clearformer.data.readers import coco, fractions_table, voc
from clearformer.data.readers.archives import ENDINGS, ArchiveError, FileStore, PackedFiles, find_store, there
from clearformer.data.readers.boxes import BoxedPicture, BoxError, OnRefused, stop

PARTS = {"train": (0, 7), "dev": (7, 8), "test": (8, 10)}  # tenths of a data set that has no parts of its own
LISTED = "ImageSets/Main/train.txt"
Reader = Callable[[FileStore, str, OnRefused], Iterable[BoxedPicture]]
BY_ENDING: dict[str, Reader] = {
    ".json": lambda store, name, refused: coco.read_file(store, name),  # one file: whole, or not at all
    ".txt": voc.read_list,
    ".tsv": lambda store, name, refused: fractions_table.read_table(store, name),
}


def read_boxed(path: str | Path, refused: OnRefused = stop) -> list[BoxedPicture]:
    """What is annotated in a file or folder. `cells.json#test`: the tenths for the test, by the pictures' content.

    refused: hears of each annotation of its own file that cannot be read; by default the first one stops everything.
    """
    whole, _, part = str(path).partition("#")
    if part and part not in PARTS:
        raise BoxError(f"{path} names the part {part!r}: known are {', '.join(PARTS)}")
    store, name = find_store(Path(whole))
    reader = BY_ENDING.get(PurePosixPath(name).suffix.lower(), _read_folder)
    found = list(reader(store, name, refused))
    if part:
        low, high = PARTS[part]
        found = [one for one in found if low <= _tenth(one) < high]
    if not found:
        raise BoxError(f"{path} holds no pictures with boxes: give a COCO JSON file, or a folder of VOC XML files")
    return found


def boxes_there(path: str | Path) -> bool:
    """Whether such a file or folder exists, also inside an archive."""
    return there(Path(str(path).partition("#")[0]))


def find_layout(path: Path) -> str | None:
    """How boxes are written down in a folder, file or archive, in a few words; None where there are none."""
    if not path.exists() or path.name.lower().endswith(ENDINGS):
        return _layout_inside(path)
    if path.is_file() and path.suffix.lower() == ".txt":  # a list of ImageSets/Main
        return "VOC XML" if any((path.parent.parent.parent / "Annotations").glob("*.xml")) else None
    if path.is_file():
        return "COCO JSON" if path.suffix.lower() == ".json" and coco.looks_like(path.read_bytes()) else None
    if not path.is_dir():
        return None
    if any(path.glob("*.xml")) or any((path / "Annotations").glob("*.xml")):
        return "VOC XML"
    return "COCO JSON" if any(coco.looks_like(file.read_bytes()) for file in sorted(path.glob("*.json"))) else None


def find_root(path: Path) -> Path:
    """The folder of an archive that has VOC's lists, where there is one."""
    store, name = _opened(path)
    listed = [one for one in (store.names() if store else ()) if one.endswith(LISTED) and one.startswith(name)]
    return path / listed[0].removeprefix(name).removesuffix(LISTED).strip("/") if len(listed) == 1 else path


def _opened(path: Path) -> tuple[PackedFiles | None, str]:
    """An archive and a name in it; None where it is none, or cannot be read."""
    try:
        store, name = find_store(path)
    except ArchiveError:
        return None, ""
    return (store, name) if isinstance(store, PackedFiles) else (None, "")


def _layout_inside(path: Path) -> str | None:
    store, name = _opened(path)
    inside = [one for one in store.names() if f"{one}/".startswith(f"{name}/" if name else "")] if store else []
    if store is None or not inside:
        return None
    if name.endswith(".txt") or any(one.lower().endswith(".xml") for one in inside):
        return "VOC XML"
    tables = [one for one in inside if one.lower().endswith(".json")]
    return "COCO JSON" if any(coco.looks_like(store.read(one)) for one in tables) else None


def _read_folder(store: FileStore, name: str, refused: OnRefused) -> Iterable[BoxedPicture]:
    prefix = f"{name}/" if name else ""
    inside = [one for one in store.names() if one.startswith(prefix)]
    if any(one.lower().endswith(".xml") for one in inside):
        return voc.read_annotations(store, name, refused)
    tables = [one for one in inside if one.lower().endswith(".json") and coco.looks_like(store.read(one))]
    if len(tables) > 1:
        named = ", ".join(store.place(one) for one in tables[:3])
        raise BoxError(f"{store.place(name)} has several files of boxes ({named}): name one of them")
    return [] if not tables else coco.read_file(store, tables[0])


def _tenth(one: BoxedPicture) -> int:
    """Decided by the content, so that the same picture under two names is in one part."""
    return int.from_bytes(hashlib.sha256(one.store.read(one.picture)).digest()[:4], "big") % 10
