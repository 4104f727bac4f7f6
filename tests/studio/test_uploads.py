"""Files from the pages: read from a path that is gone afterwards, kept by fingerprint, few at a time."""

import pytest

from clearformer.serving.refusal import Refused
from clearformer.studio.uploads import Kept, as_file, fingerprint, told


def test_bytes_are_a_file_for_as_long_as_they_are_read():
    with as_file(b"hello", "picture") as path:
        assert path.read_bytes() == b"hello"
        assert told(ValueError(f"{path} is no picture"), path) == "picture is no picture"
    assert not path.parent.exists()


def test_the_oldest_makes_room_and_is_asked_for_again():
    kept: Kept[int] = Kept(room=2)
    names = [fingerprint(bytes([number])) for number in range(3)]
    kept.put(names[0], 0)
    kept.put(names[1], 1)
    assert kept.get(names[0]) == 0  # now it is the newer one
    kept.put(names[2], 2)
    assert kept.get(names[0]) == 0
    with pytest.raises(Refused, match="choose it again"):
        kept.get(names[1])


def test_a_fingerprint_tells_files_apart():
    assert fingerprint(b"a") != fingerprint(b"b")
    assert fingerprint(b"a") == fingerprint(b"a")
