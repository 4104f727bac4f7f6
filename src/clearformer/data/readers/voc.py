"""Boxes in the layout of Pascal VOC: an XML file per picture, and lists of pictures for each part.

XML is read without entities, document types and external files: an annotation needs none, and hostile files do.
"""

from collections.abc import Iterator
from pathlib import PurePosixPath
from xml.etree.ElementTree import Element, ParseError, TreeBuilder, XMLParser

from clearformer.data.readers.archives import ArchiveError, FileStore
from clearformer.data.readers.boxes import FARTHEST, BoxedPicture, BoxError, OnRefused, as_boxes, stop
from clearformer.data.readers.pictures import ENDINGS

MOST_BYTES = 1 << 24  # of one annotation
EDGES = ("xmin", "ymin", "xmax", "ymax")


def read_list(store: FileStore, name: str, refused: OnRefused = stop) -> Iterator[BoxedPicture]:
    """The pictures that a list of `ImageSets/Main` names, one per line, with their annotations."""
    root = PurePosixPath(name).parent.parent.parent
    seen: set[str] = set()
    for number, line in enumerate(_text(store, name).splitlines(), start=1):
        words = line.split()
        if not words:
            continue
        if PurePosixPath(words[0]).name != words[0]:
            raise BoxError(
                f"{store.place(name)}:{number} names {words[0][:60]!r}, which leads to another folder: refused"
            )
        if words[0] in seen:
            raise BoxError(f"{store.place(name)}:{number} names {words[0]} a second time: remove one")
        seen.add(words[0])
        yield from _attempt(store, str(root / "Annotations" / f"{words[0]}.xml"), refused)


def read_annotations(store: FileStore, under: str = "", refused: OnRefused = stop) -> Iterator[BoxedPicture]:
    """Every annotation below a folder."""
    prefix = f"{under}/" if under else ""
    for name in store.names():
        if name.startswith(prefix) and name.lower().endswith(".xml"):
            yield from _attempt(store, name, refused)


def _attempt(store: FileStore, name: str, refused: OnRefused) -> Iterator[BoxedPicture]:
    try:
        found = read_annotation(store, name)
    except (BoxError, ArchiveError) as error:
        refused(store.place(name), error)
    else:
        yield found


def read_annotation(store: FileStore, name: str) -> BoxedPicture:
    """One XML file with its picture, which lies beside it or in JPEGImages."""
    place = store.place(name)
    root = parse(store.read(name), place)
    if root.tag != "annotation":
        raise BoxError(f"{place} is no annotation in the layout of Pascal VOC (its root is <{root.tag[:40]}>)")
    rows, names = [], []
    for number, one in enumerate(root.findall("object"), start=1):
        label = (one.findtext("name") or "").strip()
        if not label:
            raise BoxError(f"{place}, object {number} has no <name>: name its class")
        names.append(label)
        rows.append([_number(one, f"bndbox/{edge}", f"{place}, object {number} ({label})") for edge in EDGES])
    return BoxedPicture(
        store=store,
        picture=_picture(store, name, root),
        place=place,
        boxes=as_boxes(rows),
        names=tuple(names),
        size=_size(root, place),
    )


def parse(content: bytes, place: str) -> Element:
    """An XML document of elements and text alone."""
    if len(content) > MOST_BYTES:
        raise BoxError(f"{place} has {len(content):,} bytes, more than {MOST_BYTES:,} for one annotation; refused")
    try:
        parser = XMLParser(target=_Plain())
        parser.feed(content)
        root: Element = parser.close()
    except _ForbiddenError as error:
        raise BoxError(f"{place} has {error}, which no annotation needs; refused") from None
    except (ParseError, ValueError, LookupError) as error:
        raise BoxError(f"{place} is no whole XML file ({error}): write it anew") from None
    return root


class _ForbiddenError(Exception):
    pass


class _Plain(TreeBuilder):
    """Builds elements, and refuses a document type, in which alone entities can be declared."""

    def doctype(self, name: str, pubid: str | None, system: str | None) -> None:
        raise _ForbiddenError("a document type")


def _number(one: Element, path: str, where: str) -> float:
    text = one.findtext(path)
    try:
        if abs(number := float(text or "")) < FARTHEST:  # neither nan nor infinity is
            return number
    except ValueError:
        pass
    raise BoxError(f"{where} has no number in <{path.rpartition('/')[2]}>, but {text if text is None else text[:60]!r}")


def _size(root: Element, place: str) -> tuple[int, int] | None:
    if root.find("size") is None:
        return None
    width, height = (round(_number(root, f"size/{side}", place)) for side in ("width", "height"))
    return (width, height) if width > 0 and height > 0 else None  # some tools write zeros


def _picture(store: FileStore, name: str, root: Element) -> str:
    """By the annotation's own name, or, where there is none, by the name that it says."""
    path = PurePosixPath(name)
    folders = [path.parent, path.parent.parent / "JPEGImages", path.parent.parent / "images"]
    for folder in folders:
        for ending in ENDINGS:
            for spelled in (ending, ending.upper()):
                if store.has(found := str(folder / f"{path.stem}{spelled}")):
                    return found
    said = PurePosixPath((root.findtext("filename") or f"{path.stem}.jpg").replace("\\", "/")).name  # no path leads out
    return next((str(folder / said) for folder in folders if store.has(str(folder / said))), str(folders[1] / said))


def _text(store: FileStore, name: str) -> str:
    try:
        return store.read(name).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise BoxError(f"{store.place(name)} is no text in UTF-8: give a list of pictures, one per line") from None
