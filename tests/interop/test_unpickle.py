"""The machine without calls, word by word; what it makes of whole files is in test_legacy.py."""

import io
import subprocess
import sys
from pathlib import Path

import pytest

from clearformer.interop import unpickle
from clearformer.interop.unpickle import Machine, RefusedPickle, Storage, Tensor, rows, tensor

FLOATS = Storage("FloatStorage", "0", 12)


def run(content: bytes):
    return Machine().run(io.BytesIO(content))


def test_plain_things_are_built():
    import pickle

    value = {"a": [1, 2.5, -(10**30), None, True], "b": ("x", "ü", ()), 7: {}}
    for protocol in range(2, 5):
        assert run(pickle.dumps(value, protocol=protocol)) == value


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"cos\nsystem\n(S'true'\ntR.", "uses STRING, which no tensor needs"),
        (b"cos\nsystem\n(X\x04\x00\x00\x00truetR.", r"would call os\.system, which no tensor needs"),
        (b"cbuiltins\neval\n(X\x01\x00\x00\x001tR.", r"would call builtins\.eval"),
        (b"\x80\x04\x8c\x02os\x8c\x06system\x93\x8c\x04true\x85R.", r"would call os\.system"),
        (b"ctorch._utils\n_rebuild_tensor_v2\n)R.", "damaged"),
        (b"(i__main__\nX\n.", "uses INST"),
        (b"cx\ny\n)\x81.", "uses NEWOBJ"),
        (b"ccollections\nOrderedDict\n)Rcx\ny\nb.", ""),
        (b"cx\ny\n}b.", "changes the inside of an object"),
        (b"\x80\x02]cx\ny\na.", ""),
        (b"}Ns.", "damaged|takes more|not a dictionary"),
        (b"}]Ns.", "keys that are neither text nor numbers"),
        (b"]K\x01K\x02s.", "not a dictionary"),
        (b"}K\x01a.", "not a list"),
        (b"Q.", "damaged"),
        (b"NQ.", "refers to something outside"),
        (b"\x80\x02K\x01", "damaged|no end"),
        (b"j\xff\xff\xff\x7f.", "damaged"),
        (b"X\xff\xff\xff\x7fab", "damaged"),
        (b"\x8e\xff\xff\xff\xff\xff\xff\xff\x7f", "damaged|uses BINBYTES8"),
        (b"", "damaged|no end"),
    ],
)
def test_every_other_word_is_refused_and_nothing_is_called(content, sentence):
    if not sentence:  # allowed: a note on a dictionary is dropped, a name in a list is only a name
        run(content)
        return
    with pytest.raises(RefusedPickle, match=sentence):
        run(content)


def test_a_place_in_memory_that_is_far_away_costs_nothing():
    """Unpicklers that keep a list have to be given gigabytes for this."""
    assert run(b"Nr\xff\xff\xff\x7f.") is None


@pytest.mark.parametrize(
    ("offset", "shape", "strides"),
    [
        (0, (13,), (1,)),
        (1, (3, 4), (4, 1)),
        (0, (2, 2), (100, 1)),
        (-1, (1,), (1,)),
        (0, (-3,), (1,)),
        (0, (2,), (-1,)),
    ],
)
def test_a_tensor_stays_within_its_storage(offset, shape, strides):
    with pytest.raises(RefusedPickle, match=r"beyond its storage|negative sizes or steps"):
        tensor(FLOATS, offset, shape, strides, False, {})


@pytest.mark.parametrize("shape", [(1,) * 9, [1], ("a",), (True,)])
def test_a_shape_is_a_few_whole_numbers(shape):
    with pytest.raises(RefusedPickle):
        tensor(FLOATS, 0, shape, (1,) * len(shape), False, {})


@pytest.mark.parametrize(
    ("shape", "strides", "offset", "expected"),
    [
        ((2, 3), (3, 1), 0, [0, 1, 2, 3, 4, 5]),
        ((3, 2), (1, 3), 0, [0, 3, 1, 4, 2, 5]),
        ((2, 3), (0, 1), 4, [4, 5, 6, 4, 5, 6]),
        ((2, 3), (1, 0), 0, [0, 0, 0, 1, 1, 1]),
        ((), (), 7, [7]),
        ((0, 3), (3, 1), 0, []),
        ((2, 1, 2), (2, 2, 1), 3, [3, 4, 5, 6]),
    ],
)
def test_numbers_come_in_the_order_of_the_shape(shape, strides, offset, expected):
    import array

    numbers = memoryview(array.array("I", range(12)))
    one = Tensor(FLOATS, offset, shape, strides)
    found = array.array("I", b"".join(rows(one, numbers)))
    assert list(found) == expected


def test_the_program_needs_nothing_but_the_standard_library():
    """It runs isolated and without site-packages, and is no part of what the package imports."""
    done = subprocess.run(
        [sys.executable, "-I", "-S", unpickle.__file__, "/nowhere/out", str(Path(__file__))],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("action", ["socket.socket()", "subprocess.run(['true'])", "os.system('true')"])
def test_a_process_that_gave_up_can_do_none_of_this(action, tmp_path):
    code = (
        "import sys, socket, subprocess, os, runpy; "
        f"m = runpy.run_path({unpickle.__file__!r}); m['give_up'](1000)\n"
        f"try:\n    {action}\nexcept BaseException as error:\n    print(type(error).__name__, error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("RefusedPickle reading it led to")
