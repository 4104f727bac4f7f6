"""Ten thousand damaged files: each is read, or refused in one sentence that names it, soon and in little memory."""

import pytest

from support.damage import read_damaged

# Of each kind so many by `make soak`; `make test` draws a few dozen. 10,000 pictures and recordings, and 4,000 others.
SOAK = {
    "png": 2500,
    "jpeg": 2500,
    "wav": 1500,
    "plain-wav": 1500,
    "flac": 2000,
    "other-pictures": 1000,
    "mask": 1000,
    "idx": 1000,
    "coco": 1500,
    "voc": 1500,
}
SAMPLE = 40
NEEDS = {"wav": "soundfile", "flac": "soundfile"}


@pytest.mark.parametrize("kind", SOAK)
def test_a_few_damaged_files_are_refused_in_a_sentence(kind, tmp_path):
    pytest.importorskip(NEEDS.get(kind, "numpy"))
    read_damaged(kind, count=SAMPLE, seed=1, folder=tmp_path)


@pytest.mark.soak
@pytest.mark.parametrize("kind", SOAK)
def test_all_damaged_files_are_refused_in_a_sentence(kind, tmp_path):
    outcome = read_damaged(kind, count=SOAK[kind], seed=2, folder=tmp_path)
    print(f"{kind}: {outcome.refused} refused, {outcome.read} read, {outcome.slowest:.3f} s, {outcome.grown >> 20} MB")
