"""A separate program: the tensors of a file that `torch.save` wrote, as safetensors. `torch_files` runs it.

Such a file is a small program for a stack machine, which may call any function by name. The machine below has no way
to call anything: it knows dictionaries, lists, numbers, texts and the one shape in which a tensor is described, and
stops at the first word beyond them. In case the machine has a mistake, it runs in a process that has first given up the
network, other processes, and more memory, time and disk than a file of this size can need. It is one file, because it
imports nothing but the standard library; what goes wrong is said in one sentence on standard error.

    python -I -S unpickle.py OUT FILE [FILE …]
"""

import contextlib
import io
import itertools
import json
import math
import mmap
import os
import pickletools
import struct
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

# Storage classes of PyTorch: the type in safetensors, bytes per number, and the format for memoryview.
KINDS = {
    "FloatStorage": ("F32", 4, "I"), "DoubleStorage": ("F64", 8, "Q"), "HalfStorage": ("F16", 2, "H"),
    "BFloat16Storage": ("BF16", 2, "H"), "LongStorage": ("I64", 8, "Q"), "IntStorage": ("I32", 4, "I"),
    "ShortStorage": ("I16", 2, "H"), "CharStorage": ("I8", 1, "B"), "ByteStorage": ("U8", 1, "B"),
    "BoolStorage": ("BOOL", 1, "B"),
}  # fmt: skip
MAGIC, PROTOCOL = 0x1950A86A20F9469CFC6C, 1001  # how files from before 2020 begin
DEEPEST = 64  # lists in lists
NESTED = ("state_dict", "model_state_dict", "model")  # where training scripts put the weights


class RefusedPickle(Exception):  # noqa: N818 - a sentence for people, not an error of the program
    """What is wrong with the file."""


class Name(NamedTuple):
    """Something that the file calls by name. It is only ever compared."""

    module: str
    word: str


class Storage(NamedTuple):
    """A row of numbers, by the key that it has in the file."""

    kind: str
    key: str
    length: int


class Tensor(NamedTuple):
    """A view of a storage."""

    storage: Storage
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]


Fetch = Callable[[Storage], memoryview]  # the numbers of a storage, from its file


class Machine:
    """The stack machine without calls."""

    def __init__(self) -> None:
        self.stack: list[Any] = []
        self.marks: list[int] = []
        self.memo: dict[int, Any] = {}

    def run(self, stream: BinaryIO) -> Any:
        """What one pickle builds. The stream is left after its last instruction."""
        try:
            for operation, argument, _ in pickletools.genops(stream):
                if operation.name == "STOP":
                    return self.stack.pop()
                self.do(operation.name, argument)
        except (ValueError, IndexError, KeyError, TypeError, AttributeError, OverflowError, struct.error) as error:
            raise RefusedPickle(f"its description of the tensors is damaged ({str(error)[:100]})") from None
        raise RefusedPickle("its description of the tensors has no end")

    def do(self, name: str, argument: Any) -> None:
        """One instruction."""
        if name in PUSHED:
            self.stack.append(argument)
        elif name in CONSTANTS:
            self.stack.append(CONSTANTS[name]())
        elif name in ACTIONS:
            ACTIONS[name](self, argument)
        elif name not in ("PROTO", "FRAME"):
            raise RefusedPickle(f"its description uses {name}, which no tensor needs")

    def since_mark(self) -> list[Any]:
        place = self.marks.pop()
        taken, self.stack[place:] = self.stack[place:], []
        return taken

    def pair(self) -> list[Any]:
        value, key = self.stack.pop(), self.stack.pop()
        return [key, value]

    def keep(self, place: int) -> None:
        self.memo[place] = self.stack[-1]

    def recall(self, place: int) -> None:
        self.stack.append(self.memo[place])

    def tuple_of(self, count: int) -> None:
        if len(self.stack) < count:
            raise RefusedPickle("its description takes more than it has")
        self.stack[-count:] = [tuple(self.stack[-count:])]

    def set_items(self, items: list[Any]) -> None:
        target = self.stack[-1]
        if not isinstance(target, dict):
            raise RefusedPickle("it fills something that is not a dictionary")
        for key, value in zip(items[::2], items[1::2], strict=True):
            if not isinstance(key, str | int):
                raise RefusedPickle("it has a dictionary with keys that are neither text nor numbers")
            target[key] = value

    def append(self, items: list[Any]) -> None:
        target = self.stack[-1]
        if not isinstance(target, list):
            raise RefusedPickle("it appends to something that is not a list")
        target.extend(items)

    def describe(self, _: Any) -> None:
        """Where a program would call a function, four descriptions are recognised, and everything else is refused."""
        given, called = self.stack.pop(), self.stack.pop()
        if not isinstance(called, Name) or not isinstance(given, tuple):
            raise RefusedPickle("it calls something that has no name")
        if called == Name("collections", "OrderedDict") and given == ():
            self.stack.append({})
        elif called == Name("torch._utils", "_rebuild_tensor_v2"):
            self.stack.append(tensor(*given))
        elif called in (Name("torch._utils", "_rebuild_parameter"), Name("torch", "Size")) and given:
            self.stack.append(given[0])
        else:
            raise RefusedPickle(f"it would call {called.module}.{called.word}, which no tensor needs")

    def storage(self, _: Any) -> None:
        """("storage", class, key, device, count, …): the numbers of a tensor lie elsewhere in the file."""
        given = self.stack.pop()
        if not isinstance(given, tuple) or len(given) < 5 or given[0] != "storage":
            raise RefusedPickle("it refers to something outside that is not a tensor's storage")
        _, kind, key, _, count, *view = given
        if not isinstance(kind, Name) or kind.module != "torch" or kind.word not in KINDS:
            raise RefusedPickle(f"it has a storage of the unknown kind {getattr(kind, 'word', kind)!r}")
        if any(view) or not isinstance(count, int) or count < 0:
            raise RefusedPickle("it has a storage that is a view of another, or of an invalid size")
        self.stack.append(Storage(kind.word, str(key), count))

    def attributes(self, _: Any) -> None:
        """State dictionaries carry their version, which weights do not need."""
        self.stack.pop()
        if not isinstance(self.stack[-1], dict):
            raise RefusedPickle("it changes the inside of an object")


PUSHED = {
    "BININT", "BININT1", "BININT2", "LONG1", "LONG4", "INT", "LONG", "BINFLOAT", "FLOAT",
    "BINUNICODE", "SHORT_BINUNICODE", "UNICODE",
}  # fmt: skip
CONSTANTS: dict[str, Callable[[], Any]] = {
    "NONE": lambda: None, "NEWTRUE": lambda: True, "NEWFALSE": lambda: False,
    "EMPTY_DICT": dict, "EMPTY_LIST": list, "EMPTY_TUPLE": tuple,
}  # fmt: skip


ACTIONS: dict[str, Callable[[Machine, Any], Any]] = {
    "MARK": lambda m, _: m.marks.append(len(m.stack)),
    "POP": lambda m, _: m.stack.pop(),
    "POP_MARK": lambda m, _: m.since_mark(),
    "TUPLE": lambda m, _: m.stack.append(tuple(m.since_mark())),
    "TUPLE1": lambda m, _: m.tuple_of(1),
    "TUPLE2": lambda m, _: m.tuple_of(2),
    "TUPLE3": lambda m, _: m.tuple_of(3),
    "SETITEM": lambda m, _: m.set_items(m.pair()),
    "SETITEMS": lambda m, _: m.set_items(m.since_mark()),
    "APPEND": lambda m, _: m.append([m.stack.pop()]),
    "APPENDS": lambda m, _: m.append(m.since_mark()),
    **dict.fromkeys(("BINPUT", "LONG_BINPUT", "PUT"), Machine.keep),
    "MEMOIZE": lambda m, _: m.keep(len(m.memo)),
    **dict.fromkeys(("BINGET", "LONG_BINGET", "GET"), Machine.recall),
    "GLOBAL": lambda m, both: m.stack.append(Name(*both.split(" ", 1))),
    "STACK_GLOBAL": lambda m, _: m.stack.append(Name(*map(str, m.pair()))),
    "REDUCE": Machine.describe,
    "BINPERSID": Machine.storage,
    "BUILD": Machine.attributes,
}


def tensor(storage: Any, offset: Any, shape: Any, strides: Any, *_: Any) -> Tensor:
    """A tensor, if every place that it covers lies within its storage."""
    sensible = isinstance(shape, tuple) and isinstance(strides, tuple) and len(shape) == len(strides) <= 8
    if not isinstance(storage, Storage) or not sensible or not isinstance(offset, int):
        raise RefusedPickle("it describes a tensor in a way that is not known")
    if offset < 0 or any(type(size) is not int or size < 0 for size in (*shape, *strides)):
        raise RefusedPickle("it has a tensor with negative sizes or steps")
    last = offset + sum((size - 1) * stride for size, stride in zip(shape, strides, strict=True))
    if 0 not in shape and last >= storage.length:
        raise RefusedPickle("it has a tensor that reaches beyond its storage")
    return Tensor(storage, offset, shape, strides)


def _zipped(path: Path) -> tuple[Any, Fetch]:
    """Since 2020: an archive with the pickle and one member per storage, none of them compressed."""
    try:
        archive = zipfile.ZipFile(path)
        members = {member.filename: member for member in archive.infolist()}
    except (zipfile.BadZipFile, ValueError, OverflowError, NotImplementedError) as error:
        raise RefusedPickle(f"it is not a whole archive ({error})") from None
    if sum(member.file_size for member in members.values()) > path.stat().st_size:
        raise RefusedPickle("it decompresses to more than its own size, which weights never do")
    if any(member.compress_type != zipfile.ZIP_STORED for member in members.values()):
        raise RefusedPickle("it is compressed, which PyTorch never does")
    described = [name for name in members if name.count("/") == 1 and name.endswith("/data.pkl")]
    if len(described) != 1:
        raise RefusedPickle("it is an archive, but not one of PyTorch's")
    root = described[0].removesuffix("data.pkl")

    def read(name: str) -> bytes:
        if name not in members:
            raise RefusedPickle(f"it has no {name}")
        try:
            return archive.read(members[name])
        except (zipfile.BadZipFile, OSError, EOFError, ValueError) as error:
            raise RefusedPickle(f"{name} in it is damaged ({error})") from None

    if f"{root}byteorder" in members and read(f"{root}byteorder") != b"little":
        raise RefusedPickle("its numbers are big-endian, which is not supported")
    found = Machine().run(io.BytesIO(read(described[0])))
    return found, lambda storage: _numbers(storage, memoryview(read(f"{root}data/{storage.key}")))


def _plain(path: Path) -> tuple[Any, Fetch]:
    """Before 2020: several pickles one after another, then every storage, preceded by its length."""
    with path.open("rb") as file:
        if os.fstat(file.fileno()).st_size == 0:
            raise RefusedPickle("it is empty")
        if (Machine().run(file), Machine().run(file)) != (MAGIC, PROTOCOL):
            raise RefusedPickle("it is not a file of tensors")
        Machine().run(file)  # facts about the machine that wrote it
        found, keys = Machine().run(file), Machine().run(file)
        if not isinstance(keys, list):
            raise RefusedPickle("it has no list of its storages")
        place = file.tell()
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    kinds = {one.storage.key: one.storage for one in _tensors(found)}
    places: dict[str, int] = {}
    for key in map(str, keys):
        if key not in kinds or place + 8 > len(mapped):
            raise RefusedPickle("it ends early, or has storages that no tensor uses")
        count = struct.unpack_from("<q", mapped, place)[0]
        if count != kinds[key].length:
            raise RefusedPickle("it has a storage whose length is not what the description says")
        places[key] = place + 8
        place += 8 + count * KINDS[kinds[key].kind][1]
    if place > len(mapped):
        raise RefusedPickle("it ends early")

    def fetch(storage: Storage) -> memoryview:
        if storage.key not in places:
            raise RefusedPickle("it describes a tensor whose numbers it does not hold")
        begin = places[storage.key]
        return _numbers(storage, memoryview(mapped)[begin : begin + storage.length * KINDS[storage.kind][1]])

    return found, fetch


def _numbers(storage: Storage, raw: memoryview) -> memoryview:
    _, each, code = KINDS[storage.kind]
    if len(raw) != storage.length * each:
        raise RefusedPickle(f"storage {storage.key} has {len(raw):,} bytes, which is not what the description says")
    return raw if code == "B" else raw.cast(code)  # type: ignore[call-overload]


def state_of(found: Any) -> dict[str, Tensor]:
    """The weights by name, also where a training script has put them beside other things."""
    if not isinstance(found, dict):
        raise RefusedPickle("it does not hold a dictionary of tensors")
    inner = [found[key] for key in NESTED if isinstance(found.get(key), dict)]
    chosen = found if any(isinstance(value, Tensor) for value in found.values()) or not inner else inner[0]
    state = {str(key): value for key, value in chosen.items() if isinstance(value, Tensor)}
    if not state:
        raise RefusedPickle("it holds no tensors")
    return state


def _tensors(found: Any, depth: int = 0) -> Iterator[Tensor]:
    if isinstance(found, Tensor):
        yield found
    elif isinstance(found, dict | list | tuple):
        if depth > DEEPEST:
            raise RefusedPickle("it nests its contents too deeply")
        for value in found.values() if isinstance(found, dict) else found:
            yield from _tensors(value, depth + 1)


def write(out: Path, tensors: dict[str, tuple[Tensor, Fetch]]) -> None:
    """The safetensors format: the length of a table, the table, and the numbers of one tensor after another."""
    table, place = dict[str, Any](), 0
    for name, (one, _) in tensors.items():
        word, each, _ = KINDS[one.storage.kind]
        size = each * math.prod(one.shape)
        table[name] = {"dtype": word, "shape": list(one.shape), "data_offsets": [place, place + size]}
        place += size
    header = json.dumps(table, ensure_ascii=False).encode("utf-8")
    header += b" " * (-len(header) % 8)
    with out.open("wb") as file:
        file.write(struct.pack("<Q", len(header)) + header)
        for one, fetch in tensors.values():
            for row in rows(one, fetch(one.storage)):
                file.write(row)


def rows(one: Tensor, numbers: memoryview) -> Iterator[bytes]:
    """The numbers in the order of the shape, whatever order the storage has them in."""
    if 0 in one.shape:
        return
    if list(one.strides) == [math.prod(one.shape[place + 1 :]) for place in range(len(one.shape))]:
        yield numbers[one.offset : one.offset + math.prod(one.shape)].tobytes()
        return
    *outer, last = one.shape
    *steps, step = one.strides
    for index in itertools.product(*map(range, outer)):
        begin = one.offset + sum(at * stride for at, stride in zip(index, steps, strict=True))
        end = begin + (last - 1) * step + 1
        yield numbers[begin:end:step].tobytes() if step else numbers[begin:end].tobytes() * last


def give_up(size: int) -> None:
    """Limit memory, time and disk by the size of the file, and block what a converter does not need."""
    with contextlib.suppress(ImportError):  # Windows has no such limits; the machine above calls nothing there either
        import resource

        limits = {
            "AS": 3 * size + (256 << 20),
            "CPU": 30 + size // (10 << 20),
            "FSIZE": 2 * size + (16 << 20),
            "CORE": 0,
        }
        for kind, most in limits.items():
            resource.setrlimit(getattr(resource, f"RLIMIT_{kind}"), (most, most))
    # On Linux, leave the network. Where that is not allowed or not possible, `_refuse_actions` remains.
    with contextlib.suppress(OSError, AttributeError, ImportError):
        import ctypes

        ctypes.CDLL(None).unshare(0x10000000 | 0x40000000)  # new user and network namespaces
    sys.addaudithook(_refuse_actions)


def _refuse_actions(event: str, arguments: tuple[Any, ...]) -> None:
    forbidden = ("socket.", "subprocess.", "os.system", "os.exec", "os.fork", "os.posix_spawn", "os.spawn", "ctypes.")
    if event.startswith(forbidden):
        raise RefusedPickle(f"reading it led to {event}, which is not allowed here")


def main(arguments: list[str]) -> int:
    """Convert, or say why not."""
    out, *sources = map(Path, arguments)
    give_up(sum(path.stat().st_size for path in sources))
    try:
        write(out, collect(sources))
        return 0
    except RefusedPickle as error:
        sentence = str(error)
    except (MemoryError, RecursionError):
        sentence = "it takes more memory than a file of its size can need"
    except OSError as error:
        sentence = f"it cannot be converted ({error.strerror or error})"
    sys.stderr.write(sentence + "\n")
    return 1


def collect(sources: list[Path]) -> dict[str, tuple[Tensor, Fetch]]:
    """The tensors of all files together."""
    found: dict[str, tuple[Tensor, Fetch]] = {}
    for path in sources:
        with path.open("rb") as file:
            zipped = file.read(4) == b"PK\x03\x04"
        content, fetch = _zipped(path) if zipped else _plain(path)
        state = state_of(content)
        if twice := sorted(state.keys() & found.keys()):
            raise RefusedPickle(f"{twice[0]} is in it and in another part")
        found |= {name: (one, fetch) for name, one in state.items()}
    return found


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
