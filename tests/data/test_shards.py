"""Shards: what was written is read back exactly, and a folder is complete, absent, or refused with the file's name."""

from __future__ import annotations

import json
import pickle
import resource
from contextlib import contextmanager

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clearformer.data.shards import (
    FACTS,
    Column,
    OutdatedShardsError,
    ShardError,
    Shards,
    ShardWriter,
    facts_of,
    shards_for,
    token_type_for,
)
from clearformer.foundation import storage

sentence = st.lists(st.integers(0, 65535), max_size=6)
corpora = st.lists(st.tuples(sentence, sentence), min_size=1, max_size=30)


def column(rows, number="u4"):
    return Column(np.array([i for row in rows for i in row], dtype=number), np.array([len(r) for r in rows], "u4"))


def write(folder, pairs, *, rows_per_shard=1000, chunk=7, token_type="<u2", text="made up"):
    def fill(writer):
        for start in range(0, len(pairs), chunk):
            part = pairs[start : start + chunk]
            writer.add(source=column([source for source, _ in part]), target=column([target for _, target in part]))
        return {"kept": len(pairs)}

    columns = {"source": token_type, "target": token_type}
    shards_for(folder, columns=columns, made_from={"text": text}, fill=fill, rows_per_shard=rows_per_shard)
    return folder


def as_lists(shards):
    return [tuple(side.tolist() for side in shards[index]) for index in range(len(shards))]


@settings(max_examples=40, deadline=None)  # every file is flushed to a disk that others use, too
@given(corpora, st.integers(1, 12), st.integers(1, 9))
def test_pairs_come_back_however_they_were_cut(tmp_path_factory, pairs, rows_per_shard, chunk):
    folder = tmp_path_factory.mktemp("shards") / "made"
    shards = Shards(write(folder, pairs, rows_per_shard=rows_per_shard, chunk=chunk))
    assert as_lists(shards) == pairs == [tuple(side.tolist() for side in row) for row in shards]
    assert shards.lengths("source").tolist() == [len(source) for source, _ in pairs]
    assert shards.lengths("target").tolist() == [len(target) for _, target in pairs]


PAIRS = [([1, 2, 3], [4]), ([5], [6, 7]), ([], [8])]


def test_the_files_are_plain_little_endian_arrays(tmp_path):
    """Anybody can read them: this is the whole format."""
    folder = write(tmp_path / "s", PAIRS)
    assert sorted(path.name for path in folder.iterdir()) == [
        "00000.source.offsets",
        "00000.source.values",
        "00000.target.offsets",
        "00000.target.values",
        storage.MANIFEST,
        FACTS,
    ]
    assert (folder / "00000.source.values").read_bytes() == bytes([1, 0, 2, 0, 3, 0, 5, 0])
    assert np.fromfile(folder / "00000.source.offsets", dtype="<u8").tolist() == [0, 3, 4, 4]
    assert np.fromfile(folder / "00000.target.offsets", dtype="<u8").tolist() == [0, 1, 3, 4]


def test_large_vocabularies_get_wider_numbers(tmp_path):
    assert [token_type_for(size) for size in (260, 65536, 65537)] == ["<u2", "<u2", "<u4"]
    shards = Shards(write(tmp_path / "s", [([70_000], [1])], token_type="<u4"))
    assert shards[0][0].tolist() == [70_000]


def test_a_sentence_is_a_view_and_cannot_be_written_to(tmp_path):
    source, _ = Shards(write(tmp_path / "s", PAIRS))[0]
    assert not source.flags.owndata
    assert not source.flags.writeable


def test_a_worker_process_gets_the_folder_not_the_data(tmp_path):
    shards = Shards(write(tmp_path / "s", [([7] * 5000, [8] * 5000)]))
    packed = pickle.dumps(shards)
    assert len(packed) < 500
    assert as_lists(pickle.loads(packed)) == as_lists(shards)


@pytest.mark.parametrize("index", [-1, 3])
def test_a_row_outside_is_an_index_error(tmp_path, index):
    with pytest.raises(IndexError, match=rf"no row {index} in .*, which has 3"):
        Shards(write(tmp_path / "s", PAIRS))[index]


@contextmanager
def interrupted(folder, text):
    """Shards that are being made when Ctrl-C comes."""

    def fill(writer):
        writer.add(source=column([[1]]), target=column([[2]]))
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        shards_for(folder, columns={"source": "<u2", "target": "<u2"}, made_from={"text": text}, fill=fill)
    yield


def test_leaving_early_leaves_nothing(tmp_path):
    with interrupted(tmp_path / "s", "new"):
        assert [path.name for path in tmp_path.iterdir()] == [".s.lock"]


def test_leaving_early_leaves_what_was_there(tmp_path):
    write(tmp_path / "s", PAIRS)
    with interrupted(tmp_path / "s", "another text"):
        assert as_lists(Shards(tmp_path / "s")) == PAIRS


def test_remains_of_a_killed_process_are_cleared(tmp_path):
    """Those of these shards: what a neighbour is writing at this moment is not ours to judge."""
    for name in (".writing-s-12345", ".writing-s-t-12345", ".writing-other-12345"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "00000.source.values").write_bytes(b"half")
    write(tmp_path / "s", PAIRS)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        ".s.lock", ".writing-other-12345", ".writing-s-t-12345", "s"
    ]  # fmt: skip


def test_shards_that_a_killed_process_was_about_to_replace_come_back(tmp_path):
    write(tmp_path / "s", PAIRS)
    (tmp_path / "s").rename(tmp_path / ".replaced-s")
    write(tmp_path / "s", PAIRS)
    assert sorted(path.name for path in tmp_path.iterdir()) == [".s.lock", "s"]


def test_new_shards_take_the_place_of_old_ones(tmp_path):
    old = Shards(write(tmp_path / "s", [([9], [9])] * 5, text="old"))
    write(tmp_path / "s", PAIRS)
    assert as_lists(Shards(tmp_path / "s")) == PAIRS
    assert old[4][0].tolist() == [9]  # whoever had the old ones open still reads them
    assert sorted(path.name for path in tmp_path.iterdir()) == [".s.lock", "s"]


def test_what_was_made_from_the_same_is_not_made_again(tmp_path):
    write(tmp_path / "s", PAIRS)
    facts = facts_of(tmp_path / "s")
    found = shards_for(
        tmp_path / "s", columns=facts.columns, made_from={"text": "made up"}, fill=lambda _: pytest.fail("made again")
    )
    assert as_lists(found) == PAIRS
    assert found.facts == facts
    assert found.facts.tally == {"kept": 3}


def test_columns_may_hold_anything_that_has_numbers(tmp_path):
    """Pictures of unequal size with a label each: bytes, and one number a row."""
    pictures, labels = [[0, 255, 7, 7], [9]], [[3], [70_000]]

    def fill(writer):
        writer.add(pixels=column(pictures, "u1"), label=column(labels))
        return {}

    shards = shards_for(tmp_path / "p", columns={"pixels": "|u1", "label": "<u4"}, made_from={}, fill=fill)
    assert [tuple(part.tolist() for part in row) for row in shards] == list(zip(pictures, labels, strict=True))
    assert shards.lengths("pixels").tolist() == [4, 1]
    assert (tmp_path / "p" / "00000.pixels.values").read_bytes() == bytes([0, 255, 7, 7, 9])


@pytest.mark.parametrize("rows", [{}, {"source": [[1]]}, {"source": [[1]], "target": [[1], [2]]}, {"x": [[1]]}])
def test_every_column_has_as_many_rows(tmp_path, rows):
    writer = ShardWriter(tmp_path, {"source": "<u2", "target": "<u2"})
    with pytest.raises(ValueError, match="give as many rows of each of source, target"):
        writer.add(**{name: column(part) for name, part in rows.items()})
    assert list(tmp_path.iterdir()) == []


FILES = [f"00000.{side}.{kind}" for side in ("source", "target") for kind in ("values", "offsets")]


@pytest.mark.parametrize("name", FILES)
def test_a_cut_or_longer_or_missing_file_is_refused_by_name(tmp_path, name):
    path = write(tmp_path / "s", PAIRS) / name
    whole = path.read_bytes()
    for torn in (whole[:-1], whole + b"x"):
        path.write_bytes(torn)
        with pytest.raises(
            ShardError, match=rf"{name} is damaged: it has {len(torn)} bytes and the manifest says {len(whole)}: delete"
        ):
            Shards(tmp_path / "s", verify=False)
    path.unlink()
    with pytest.raises(ShardError, match=rf"{name} is missing"):
        Shards(tmp_path / "s")


@pytest.mark.parametrize("name", FILES)
def test_a_flipped_bit_is_refused_by_name(tmp_path, name):
    path = write(tmp_path / "s", PAIRS) / name
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 4
    path.write_bytes(content)
    with pytest.raises(ShardError, match=rf"{name} is damaged"):
        Shards(tmp_path / "s")


@pytest.mark.parametrize("name", [FACTS, storage.MANIFEST])
@pytest.mark.parametrize("torn", ["", "{", "[]", "null", '{"format": 2}', '{"format": 2, "what": 2}'])
def test_a_torn_description_is_refused(tmp_path, name, torn):
    (write(tmp_path / "s", PAIRS) / name).write_text(torn)
    with pytest.raises(ShardError, match=rf"{name} cannot be read.*: delete"):
        Shards(tmp_path / "s")


def test_a_description_that_was_changed_by_hand_is_refused(tmp_path):
    """It says how the files are to be read: wrong types would give wrong numbers."""
    path = write(tmp_path / "s", PAIRS) / FACTS
    path.write_text(path.read_text().replace("<u2", "<i2"))
    with pytest.raises(ShardError, match=rf"{FACTS} is damaged"):
        Shards(tmp_path / "s")


def test_another_format_is_not_mistaken_for_damage(tmp_path):
    path = write(tmp_path / "s", PAIRS) / FACTS
    path.write_text(json.dumps({**json.loads(path.read_text()), "format": 99}))
    with pytest.raises(OutdatedShardsError, match="has format 99 and this version reads 2"):
        Shards(tmp_path / "s")
    assert as_lists(Shards(write(tmp_path / "s", PAIRS))) == PAIRS  # made anew without a question


def test_a_folder_of_something_else_is_left_alone(tmp_path):
    """A model folder has a manifest, too."""
    with storage.new_folder(tmp_path / "model") as aside:
        (aside / "config.json").write_text("{}")
    with pytest.raises(ShardError, match="model exists but holds no shards"):
        write(tmp_path / "model", PAIRS)
    storage.verify(tmp_path / "model")


@contextmanager
def little_room(size):
    """Files that cannot grow beyond a size stand in for a disk with little room."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


def test_a_full_disk_names_the_file_and_leaves_nothing(tmp_path):
    with (
        little_room(1 << 16),
        pytest.raises(ShardError, match=r"00000\.source\.values cannot be written .*: make room"),
    ):
        write(tmp_path / "s", [([1] * 100_000, [2])])
    assert [path.name for path in tmp_path.iterdir()] == [".s.lock"]


@pytest.mark.parametrize("rows_per_shard", [5_000, 1_000_000], ids=["a shard is full", "the work is done"])
def test_the_last_bytes_of_a_file_may_be_those_that_do_not_fit(tmp_path, rows_per_shard):
    """They are buffered until it is closed. Offsets have eight bytes for each of the 5,000 rows, and for the end."""
    with (
        little_room(8 * 5_001 - 10),
        pytest.raises(ShardError, match=r"source\.offsets cannot be written .*: make room"),
    ):
        write(tmp_path / "s", [([1], [2])] * 5_000, rows_per_shard=rows_per_shard)
    assert [path.name for path in tmp_path.iterdir()] == [".s.lock"]
