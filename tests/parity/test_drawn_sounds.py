"""Every family that reads recordings at random places of its configuration space: the same numbers, there and back.

A few are drawn in every run, many in a soak: `python -m pytest -m soak tests/parity/test_drawn_sounds.py`.
"""

import json
import random
from pathlib import Path
from typing import Any

import pytest
import torch

from clearformer.folder import bundle
from clearformer.interop.importer import read_hugging_face
from clearformer.interop.to_hugging_face import export
from interop.references import VOCAB, output
from parity.drawn_sounds import FAMILIES, SAMPLES, drawn
from parity.test_drawn import ALTERED, SOAK, USUAL, alterations, apart
from support.altered_configs import verdict

TWELVE = 12  # models of each family that reads samples: they have many choices, and are quick


@pytest.mark.parametrize("number", range(USUAL, TWELVE))
@pytest.mark.parametrize("family", [one.__name__ for one in SAMPLES])
def test_more_drawn_models_that_read_samples(family, number, tmp_path):
    assert (problem := disagreement(drawn(family, number), tmp_path)) is None, problem


@pytest.mark.parametrize("number", range(USUAL))
@pytest.mark.parametrize("family", FAMILIES)
def test_a_drawn_model_agrees(family, number, tmp_path):
    assert (problem := disagreement(drawn(family, number), tmp_path)) is None, problem


@pytest.mark.parametrize("family", FAMILIES)
def test_an_altered_key_of_a_drawn_model(family, tmp_path):
    theirs = drawn(family, 0)
    theirs.save_pretrained(tmp_path)
    every = list(alterations(json.loads((tmp_path / "config.json").read_text())))
    for name, altered, without in random.Random(family).sample(every, ALTERED):
        assert (problem := verdict(tmp_path, altered, without)) is None, f"{family}, {name}: {problem}"


@pytest.mark.soak
@pytest.mark.parametrize("number", range(USUAL, SOAK))
@pytest.mark.parametrize("family", FAMILIES)
def test_many_drawn_models_and_every_key(family, number, tmp_path):
    theirs = drawn(family, number)
    wrong = [] if (problem := disagreement(theirs, tmp_path)) is None else [problem]
    theirs.save_pretrained(tmp_path / "altered")
    for name, altered, without in alterations(json.loads((tmp_path / "altered" / "config.json").read_text())):
        if problem := verdict(tmp_path / "altered", altered, without):
            wrong.append(f"{name}: {problem}")
    assert not wrong, "\n".join([f"{family} {number}", *wrong])


@torch.no_grad()
def disagreement(theirs: Any, folder: Path) -> str | None:
    """Import and compare: padded targets in a batch, and token by token with a cache; then export and import again."""
    theirs.save_pretrained(folder / "published")
    try:
        found = read_hugging_face(folder / "published").bundle
    except ValueError as error:
        return f"refused: {error}"
    if found.config.front.kind == "samples":
        return disagreement_on_samples(theirs, found, folder)
    chance, given, mine = torch.Generator().manual_seed(1), theirs.config, found.model.eval()
    frames = torch.randn(3, 2 * given.max_source_positions, given.num_mel_bins, generator=chance)
    target, keep = torch.randint(3, VOCAB, (3, 9), generator=chance), torch.arange(9) < torch.tensor([[9], [5], [1]])
    expected = output(theirs(input_features=frames.mT, decoder_input_ids=target, decoder_attention_mask=keep.long()))
    if (gap := apart(mine(frames, target, target_keep=keep)[keep], expected[keep])) is not None:
        return gap
    memory, cache = mine.encode(frames), mine.start_cache()
    steps = torch.cat([mine.decode(target[:, [place]], memory, cache=cache) for place in range(9)], dim=1)
    if (gap := apart(steps, output(theirs(input_features=frames.mT, decoder_input_ids=target)))) is not None:
        return f"with a cache: {gap}"
    bundle.save(found, folder / "ours")
    export(folder / "ours", folder / "back")
    again = read_hugging_face(folder / "back").bundle.model.eval()
    gap = apart(again(frames, target, target_keep=keep)[keep], expected[keep])
    return None if gap is None else f"there and back: {gap}"


@torch.no_grad()
def disagreement_on_samples(theirs: Any, found: Any, folder: Path) -> str | None:
    """Recordings of three lengths: each alone, all in a batch, with their mask where they use one; there and back."""
    read, mine, chance = found.config.samples, found.model.eval(), torch.Generator().manual_seed(1)
    sounds = [torch.randn(1, read.reach + count * read.hop + 1, generator=chance) for count in (20, 9, 1)]
    samples, keep = torch.zeros(3, sounds[0].size(1)), torch.zeros(3, sounds[0].size(1), dtype=torch.bool)
    for row, sound in enumerate(sounds):
        samples[row, : sound.size(1)], keep[row, : sound.size(1)] = sound[0], True
    bundle.save(found, folder / "ours")
    export(folder / "ours", folder / "back")
    again, report = type(theirs).from_pretrained(folder / "back", output_loading_info=True)
    if any(report.values()):
        return f"the library misses something of the export, or does not know it: {report}"
    batch, masked = mine(samples, keep=keep), None
    if read.norm == "each":
        masked = output(theirs(samples, attention_mask=keep.long()))
    for row, sound in enumerate(sounds):
        expected = output(theirs(sound))
        count = expected.size(1)
        others = {"alone": mine(sound), "in a batch": batch[[row], :count], "there and back": output(again(sound))}
        others |= {} if masked is None else {"with their mask": masked[[row], :count]}
        for name, one in others.items():
            if (gap := apart(one, expected)) is not None:
                return f"{name}, {sound.size(1)} samples: {gap}"
    return None
