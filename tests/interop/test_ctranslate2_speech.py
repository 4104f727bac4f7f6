"""A Whisper-style model in the engine's layout and back: the same weights, lists and heads."""

from dataclasses import replace

import torch

from clearformer.folder import bundle
from clearformer.folder.preprocessing import SoundFacts
from clearformer.interop import from_ctranslate2
from clearformer.interop.to_ctranslate2 import convert
from support.every_kind import make


def test_there_and_back_nothing_is_lost(tmp_path):
    made = bundle.load(make("whisper", tmp_path / "m"))
    facts = made.preprocessing.sound or SoundFacts(mels=made.config.front.mels)
    told = replace(facts, never=(1, 2), never_first=(3,), heads=((0, 1),))
    bundle.save(replace(made, preprocessing=replace(made.preprocessing, sound=told)), tmp_path / "told")
    convert(tmp_path / "told", tmp_path / "fast")
    found = from_ctranslate2.read(tmp_path / "fast").bundle
    ours, theirs = made.model.state_dict(), found.model.state_dict()
    assert ours.keys() == theirs.keys()
    assert all(torch.equal(ours[name], theirs[name]) for name in ours)
    assert (found.preprocessing.sound.never, found.preprocessing.sound.never_first) == ((1, 2), (3,))
    assert found.preprocessing.sound.heads == ((0, 1),)
