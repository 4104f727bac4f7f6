"""Codes on the pages: both ways are those of `reconstruct`."""

import numpy as np
import pytest

from clearformer.inference.reconstructor import Reconstructor
from clearformer.serving.refusal import Refused
from clearformer.studio.app import Handlers
from clearformer.studio.patch_tokens import read_upload
from clearformer.studio.requests import CodesRequest
from clearformer.studio.runs import Runs
from clearformer.studio.shown_model import ShownModel
from studio.small_pictures import code_model, numbers, picture_file


@pytest.fixture(scope="module")
def viewed():
    """(bundle, senses, file, what was answered)."""
    bundle = code_model()
    senses = Handlers(ShownModel(bundle, "code"), Runs([])).senses
    return bundle, senses, picture_file(), senses.code(picture_file())


def test_code_picture_and_error_are_those_of_reconstruct(viewed):
    bundle, _, content, found = viewed
    [said] = Reconstructor(bundle).reconstruct([read_upload(content)])
    assert numbers(found["code"]).tolist() == pytest.approx(said.code)
    assert np.array_equal(numbers(found["pixels"]), said.pixels)
    assert np.array_equal(numbers(found["original"]), said.original)
    assert found["error"] == pytest.approx(said.error)
    assert (found["width"], found["height"]) == (30, 20)


def test_the_code_gives_the_picture_back_and_other_numbers_another(viewed):
    _, senses, _, found = viewed
    code = numbers(found["code"]).tolist()
    moved = [code[0] + 3, *code[1:]]
    drawn = numbers(senses.decode(CodesRequest(codes=[code, moved]))["pictures"])
    assert np.array_equal(drawn[0], numbers(found["pixels"]))
    assert not np.array_equal(drawn[1], drawn[0])


def test_what_is_not_there_is_refused(viewed, all_handlers):
    _, senses, _, _ = viewed
    with pytest.raises(ValueError, match="a code has 5 numbers here, not 2"):
        senses.decode(CodesRequest(codes=[[0.0, 1.0]]))
    with pytest.raises(Refused, match="cannot be read as a picture"):
        senses.code(b"no picture")
    with pytest.raises(Refused, match="does not compress"):
        all_handlers["bert"].senses.code(picture_file())
    for wrong in ([], [[0.0] * 5] * 17, [[float("nan")] * 5], [[1e9] * 5]):
        with pytest.raises(ValueError, match="codes"):
            CodesRequest(codes=wrong)
