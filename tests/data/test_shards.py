"""Shards: what was written is read back exactly, and a folder is complete, absent, or refused with the file's name."""

from __future__ import annotations

import json
import pickle
import resource

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clearformer.data.shards import (
    MANIFEST,
    OutdatedShardsError,
    Sentences,
    ShardedPairs,
    ShardError,
    ShardWriter,
    token_type_for,
)

sentence = st.lists(st.integers(0, 65535), max_size=6)
corpora = st.lists(st.tuples(sentence, sentence), min_size=1, max_size=30)


def sentences(rows):
    return Sentences(
        np.array([i for row in rows for i in row], dtype=np.uint32), np.array([len(r) for r in rows], "u4")
    )


def write(folder, pairs, *, pairs_per_shard=1000, chunk=7, token_type="<u2"):
    with ShardWriter(folder, token_type=token_type, pairs_per_shard=pairs_per_shard) as writer:
        for start in range(0, len(pairs), chunk):
            part = pairs[start : start + chunk]
            writer.add(sentences([source for source, _ in part]), sentences([target for _, target in part]))
        writer.finish(made_from={"text": "made up"}, tally={"kept": len(pairs)})
    return folder


def as_lists(shards):
    return [tuple(side.tolist() for side in shards[index]) for index in range(len(shards))]


@settings(max_examples=40)
@given(corpora, st.integers(1, 12), st.integers(1, 9))
def test_pairs_come_back_however_they_were_cut(tmp_path_factory, pairs, pairs_per_shard, chunk):
    folder = tmp_path_factory.mktemp("shards") / "made"
    shards = ShardedPairs(write(folder, pairs, pairs_per_shard=pairs_per_shard, chunk=chunk))
    assert as_lists(shards) == pairs
    source_lengths, target_lengths = shards.lengths()
    assert source_lengths.tolist() == [len(source) + 1 for source, _ in pairs]  # one special token a side
    assert target_lengths.tolist() == [len(target) + 1 for _, target in pairs]


PAIRS = [([1, 2, 3], [4]), ([5], [6, 7]), ([], [8])]


def test_the_files_are_plain_little_endian_arrays(tmp_path):
    """Anybody can read them: this is the whole format."""
    folder = write(tmp_path / "s", PAIRS)
    assert sorted(path.name for path in folder.iterdir()) == [
        "00000.source.offsets",
        "00000.source.tokens",
        "00000.target.offsets",
        "00000.target.tokens",
        MANIFEST,
    ]
    assert (folder / "00000.source.tokens").read_bytes() == bytes([1, 0, 2, 0, 3, 0, 5, 0])
    assert np.fromfile(folder / "00000.source.offsets", dtype="<u8").tolist() == [0, 3, 4, 4]
    assert np.fromfile(folder / "00000.target.offsets", dtype="<u8").tolist() == [0, 1, 3, 4]


def test_large_vocabularies_get_wider_numbers(tmp_path):
    assert [token_type_for(size) for size in (260, 65536, 65537)] == ["<u2", "<u2", "<u4"]
    shards = ShardedPairs(write(tmp_path / "s", [([70_000], [1])], token_type="<u4"))
    assert shards[0][0].tolist() == [70_000]


def test_a_sentence_is_a_view_and_cannot_be_written_to(tmp_path):
    source, _ = ShardedPairs(write(tmp_path / "s", PAIRS))[0]
    assert not source.flags.owndata
    assert not source.flags.writeable


def test_a_worker_process_gets_the_folder_not_the_data(tmp_path):
    shards = ShardedPairs(write(tmp_path / "s", [([7] * 5000, [8] * 5000)]))
    packed = pickle.dumps(shards)
    assert len(packed) < 500
    assert as_lists(pickle.loads(packed)) == as_lists(shards)


@pytest.mark.parametrize("index", [-1, 3])
def test_a_pair_outside_is_an_index_error(tmp_path, index):
    with pytest.raises(IndexError, match=rf"no pair {index} in .*, which has 3"):
        ShardedPairs(write(tmp_path / "s", PAIRS))[index]


def test_leaving_early_leaves_nothing(tmp_path):
    with ShardWriter(tmp_path / "s", token_type="<u2", pairs_per_shard=9) as writer:
        writer.add(sentences([[1]]), sentences([[2]]))  # and never `finish`
    assert list(tmp_path.iterdir()) == []


def test_leaving_early_leaves_what_was_there(tmp_path):
    write(tmp_path / "s", PAIRS)
    with ShardWriter(tmp_path / "s", token_type="<u2", pairs_per_shard=9) as writer:
        writer.add(sentences([[1]]), sentences([[2]]))  # and never `finish`
    assert as_lists(ShardedPairs(tmp_path / "s")) == PAIRS


def test_remains_of_a_killed_process_are_cleared(tmp_path):
    (tmp_path / ".s.partial").mkdir()
    (tmp_path / ".s.partial" / "00000.source.tokens").write_bytes(b"half")
    write(tmp_path / "s", PAIRS)
    assert [path.name for path in tmp_path.iterdir()] == ["s"]


def test_new_shards_take_the_place_of_old_ones(tmp_path):
    old = ShardedPairs(write(tmp_path / "s", [([9], [9])] * 5))
    write(tmp_path / "s", PAIRS)
    assert as_lists(ShardedPairs(tmp_path / "s")) == PAIRS
    assert old[4][0].tolist() == [9]  # whoever had the old ones open still reads them
    assert [path.name for path in tmp_path.iterdir()] == ["s"]


FILES = [f"00000.{side}.{kind}" for side in ("source", "target") for kind in ("tokens", "offsets")]


@pytest.mark.parametrize("name", FILES)
def test_a_cut_or_longer_or_missing_file_is_refused_by_name(tmp_path, name):
    path = write(tmp_path / "s", PAIRS) / name
    whole = path.read_bytes()
    for torn in (whole[:-1], whole + b"x"):
        path.write_bytes(torn)
        with pytest.raises(ShardError, match=rf"{name} has {len(torn)} bytes, its manifest says {len(whole)}: delete"):
            ShardedPairs(tmp_path / "s", verify=False)
    path.unlink()
    with pytest.raises(ShardError, match=rf"{name} is missing"):
        ShardedPairs(tmp_path / "s")


@pytest.mark.parametrize("name", FILES)
def test_a_flipped_bit_is_refused_by_name(tmp_path, name):
    path = write(tmp_path / "s", PAIRS) / name
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 4
    path.write_bytes(content)
    with pytest.raises(ShardError, match=rf"{name} is damaged"):
        ShardedPairs(tmp_path / "s")


@pytest.mark.parametrize("torn", ["", "{", "[]", "null", '{"format": 1}', '{"format": 1, "what": 2}'])
def test_a_torn_manifest_is_refused(tmp_path, torn):
    (write(tmp_path / "s", PAIRS) / MANIFEST).write_text(torn)
    with pytest.raises(ShardError, match=r"manifest\.json cannot be read .*: delete"):
        ShardedPairs(tmp_path / "s")


def test_another_format_is_not_mistaken_for_damage(tmp_path):
    path = write(tmp_path / "s", PAIRS) / MANIFEST
    path.write_text(json.dumps({**json.loads(path.read_text()), "format": 99}))
    with pytest.raises(OutdatedShardsError, match="has format 99 and this version reads 1"):
        ShardedPairs(tmp_path / "s")


def test_a_full_disk_names_the_file_and_leaves_nothing(tmp_path):
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, limits[1]))  # stands in for a disk with little room
    try:
        with pytest.raises(ShardError, match=r"00000\.source\.tokens cannot be written .*: make room"):
            write(tmp_path / "s", [([1] * 100_000, [2])])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert list(tmp_path.iterdir()) == []
