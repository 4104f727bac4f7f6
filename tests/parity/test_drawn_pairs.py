"""Pairs of networks at random places of their configuration space: the same vectors and scores, there and back.

Some are drawn in every run, many in a soak: `python -m pytest -m soak tests/parity/test_drawn_pairs.py`.
"""

import json
import random
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from torch import Tensor

from clearformer.folder import bundle
from clearformer.interop.importer import read_hugging_face
from clearformer.interop.to_hugging_face import export
from interop.references import VOCAB
from parity.drawn_pairs import END, FAMILIES, LIMIT, drawn
from parity.test_drawn import ALTERED, alterations, apart
from support import pair_folders
from support.altered_configs import verdict

USUAL, SOAK = 3, 24  # models of each family


@pytest.mark.parametrize("number", range(USUAL))
@pytest.mark.parametrize("family", FAMILIES)
def test_a_drawn_pair_agrees(family, number, tmp_path):
    assert (problem := disagreement(drawn(family, number), tmp_path)) is None, problem


@pytest.mark.parametrize("family", FAMILIES)
def test_an_altered_key_of_a_drawn_pair(family, tmp_path):
    theirs = drawn(family, 0)
    theirs.save_pretrained(tmp_path)
    every = list(altered_halves(json.loads((tmp_path / "config.json").read_text())))
    for name, altered, without in random.Random(family).sample(every, ALTERED):
        assert (problem := verdict(tmp_path, altered, without)) is None, f"{family}, {name}: {problem}"


@pytest.mark.soak
@pytest.mark.parametrize("number", range(USUAL, SOAK))
@pytest.mark.parametrize("family", FAMILIES)
def test_many_drawn_pairs(family, number, tmp_path):
    assert (problem := disagreement(drawn(family, number), tmp_path)) is None, problem


@pytest.mark.soak
@pytest.mark.parametrize("number", range(3))
@pytest.mark.parametrize("family", FAMILIES)
def test_every_key_of_a_drawn_pair(family, number, tmp_path):
    drawn(family, number).save_pretrained(tmp_path)
    wrong = []
    for name, altered, without in altered_halves(json.loads((tmp_path / "config.json").read_text())):
        if problem := verdict(tmp_path, altered, without):
            wrong.append(f"{name}: {problem}")
    assert not wrong, "\n".join([f"{family} {number}", *wrong])


def altered_halves(plain: dict[str, Any]) -> list[tuple[str, dict[str, Any], dict[str, Any] | None]]:
    """Every key of the file and of its two tables, and a table said twice, as old files have it."""
    every = list(alterations(plain))
    for half in ("text", "vision"):
        table = plain[f"{half}_config"]
        for name, value in (("empty", {}), ("null", None), ("same", table), ("other", table | {"layer_norm_eps": 0.3})):
            every.append((f"{half}_config_dict {name}", plain | {f"{half}_config_dict": value}, None))
        for key, value in (("vision_use_head", False), ("projection_dim", 3), ("strange", 1), ("model_type", "bert")):
            every.append((f"{half}_config.{key}", plain | {f"{half}_config": table | {key: value}}, None))
    return every


def rows(filled: bool) -> tuple[Tensor, Tensor]:
    """Four texts of different lengths, each with its end, and which of their tokens are real."""
    chance = torch.Generator().manual_seed(1)
    tokens = torch.randint(3, END, (4, LIMIT if filled else 9), generator=chance)
    keep = torch.arange(tokens.size(1)) < torch.tensor([[9], [5], [2], [7]])
    tokens[torch.arange(4), keep.sum(1) - 1] = END
    return tokens.masked_fill(~keep, END if not filled else 1), keep


@torch.no_grad()
def disagreement(theirs: Any, folder: Path) -> str | None:
    """Import; compare vectors and scores, with padding and alone; export, open it there, and compare again."""
    theirs.save_pretrained(folder / "published")
    try:
        found = read_hugging_face(folder / "published").bundle
    except ValueError as error:
        return f"refused: {error}"
    model, filled, seen = found.model.eval(), found.config.of_texts.head.pool == "slot", theirs.config.vision_config
    pictures = torch.randn(
        3, seen.num_channels, seen.image_size, seen.image_size, generator=torch.Generator().manual_seed(2)
    )
    tokens, keep = rows(filled)
    places = torch.arange(tokens.size(1))[None]
    expected = theirs(input_ids=tokens, pixel_values=pictures)
    masked = theirs(input_ids=tokens, pixel_values=pictures, attention_mask=keep.long()).text_embeds
    scores = model(pictures, tokens)
    compared = {
        "texts": (model.embed_texts(tokens), expected.text_embeds),
        "masked texts": (model.embed_texts(tokens, keep=keep, positions=places), masked),
        "pictures": (model.embed_pictures(pictures), expected.image_embeds),
        "scores": (scores, expected.logits_per_image),
        "one of each": (model(pictures[:1], tokens[1:2]), expected.logits_per_image[:1, 1:2]),
    }
    if not filled:
        compared["a text alone"] = (model.embed_texts(tokens[1:2, :5]), expected.text_embeds[1:2])
    for name, (mine, other) in compared.items():
        if (gap := apart(mine, other)) is not None:
            return f"{name}: {gap}"
    bundle.save(found, folder / "ours")
    opened = bundle.load(folder / "ours").model
    if not torch.equal(opened(pictures, tokens), scores):
        return "saved and loaded, it is another model"
    export(folder / "ours", folder / "back")
    again, report = type(theirs).from_pretrained(folder / "back", output_loading_info=True)
    if any(report.values()):
        return f"exported with {report}"
    gap = apart(again.eval()(input_ids=tokens, pixel_values=pictures).logits_per_image, expected.logits_per_image)
    return None if gap is None else f"there and back: {gap}"


@pytest.mark.parametrize("family", pair_folders.FAMILIES)
def test_texts_and_pictures_there_and_back(family, tmp_path):
    """An export's own files say how texts are cut and pictures prepared, and the published program reads them so."""
    pair_folders.published(family, tmp_path / "theirs")
    found = read_hugging_face(tmp_path / "theirs").bundle
    bundle.save(found, tmp_path / "ours")
    export(tmp_path / "ours", tmp_path / "back")
    again = read_hugging_face(tmp_path / "back").bundle
    assert again.preprocessing.picture == found.preprocessing.picture
    text = "A photo of a CAT, 他在河边 🙂"
    told = transformers.AutoTokenizer.from_pretrained(tmp_path / "back")(text)
    assert told["input_ids"] == list(found.tokenizer.encode(text).ids) == list(again.tokenizer.encode(text).ids)
    assert ("attention_mask" in told) == (family == "clip")


def test_the_end_of_a_text_by_either_rule(tmp_path):
    """An old file says 2, and then the highest token ends a text; a new one names the token."""
    for number in range(12):
        theirs = drawn("clip", number)
        theirs.save_pretrained(tmp_path / str(number))
        end = read_hugging_face(tmp_path / str(number)).bundle.config.of_texts.head.end
        assert end == (None if theirs.config.text_config.eos_token_id == 2 else END)
    assert VOCAB - 1 > END
