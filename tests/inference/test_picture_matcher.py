"""Texts and pictures in one space, from a file to a probability: as the published program has it, in any batch."""

import numpy as np
import pytest
import torch
import transformers as hf
from PIL import Image

from clearformer import api
from clearformer.folder import bundle
from clearformer.inference.picture_classifier import PictureClassifier
from clearformer.inference.picture_matcher import PictureMatcher
from clearformer.inference.text_readers import Embedder
from clearformer.interop.importer import read_hugging_face
from clearformer.model.trace import trace
from clearformer.text.unusable import UnusableTextError
from support.pair_folders import FAMILIES, LIMIT, published

LABELS = ["a photo of a cat", "a photo of a dog", "他在河边", "🙂 and more words than the others have"]


def picture(seed, height=17, width=23):
    return np.random.default_rng(seed).integers(0, 256, size=(height, width, 3), dtype=np.uint8)


PICTURES = [picture(1), picture(2, 12, 12), picture(3, 40, 15)]


@pytest.fixture(scope="module", params=FAMILIES)
def both(request, tmp_path_factory):
    """The family, its published folder and model, and ours, saved and loaded."""
    folder = tmp_path_factory.mktemp(request.param)
    theirs = published(request.param, folder / "theirs")
    bundle.save(read_hugging_face(folder / "theirs").bundle, folder / "ours")
    return request.param, folder / "theirs", theirs, api.load(folder / "ours")


@torch.no_grad()
def asked(family, folder, theirs):
    """The published program, from pictures and texts to its answer."""
    if family == "clip":
        tokenizer = hf.CLIPTokenizer(str(folder / "vocab.json"), str(folder / "merges.txt"))
        processor = hf.models.clip.image_processing_pil_clip.CLIPImageProcessorPil.from_pretrained(folder)
        texts = tokenizer(LABELS, padding=True, return_tensors="pt")
    else:
        tokenizer = hf.SiglipTokenizer(str(folder / "spiece.model"))
        processor = hf.models.siglip.image_processing_pil_siglip.SiglipImageProcessorPil.from_pretrained(folder)
        texts = {
            "input_ids": tokenizer(LABELS, padding="max_length", max_length=LIMIT, return_tensors="pt")["input_ids"]
        }
    seen = processor([Image.fromarray(one) for one in PICTURES], return_tensors="pt")["pixel_values"]
    return theirs(**texts, pixel_values=seen)


def test_vectors_and_probabilities_are_the_published_ones(both):
    family, folder, theirs, ours = both
    expected = asked(family, folder, theirs)
    torch.testing.assert_close(ours.embed(LABELS), expected.text_embeds, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(ours.embed_pictures(PICTURES), expected.image_embeds, rtol=1e-4, atol=1e-5)
    logits = expected.logits_per_image
    shares = logits.softmax(-1) if family == "clip" else logits.sigmoid()
    for found, row in zip(ours.classify(PICTURES, LABELS), shares.tolist(), strict=True):
        assert list(found.scores.values()) == pytest.approx(row, rel=1e-4, abs=1e-6)
        assert found.label == LABELS[int(np.argmax(row))]
        assert found.probability == max(found.scores.values())


def test_alone_and_in_a_batch_the_same(both):
    *_, ours = both
    whole = ours.embed(LABELS)
    for number, label in enumerate(LABELS):
        torch.testing.assert_close(ours.embed(label), whole[[number]], rtol=0, atol=1e-6)
    torch.testing.assert_close(ours.embed(LABELS, batch=3), whole, rtol=0, atol=1e-6)
    pictures = ours.embed_pictures(PICTURES)
    torch.testing.assert_close(ours.embed_pictures(PICTURES[1]), pictures[[1]], rtol=0, atol=1e-6)
    torch.testing.assert_close(ours.embed_pictures(PICTURES, batch=2), pictures, rtol=0, atol=1e-6)
    assert ours.embed([]).shape == ours.embed_pictures([]).shape == (0, whole.size(1))


def test_the_same_from_files_and_with_the_mirror_image(both, tmp_path):
    *_, ours = both
    Image.fromarray(PICTURES[0]).save(tmp_path / "one.png")
    assert ours.classify(tmp_path / "one.png", LABELS) == ours.classify(PICTURES[0], LABELS)
    one, two = (ours.classify(shown, LABELS, flips=True)[0].scores for shown in (PICTURES[1], PICTURES[1][:, ::-1]))
    assert one == pytest.approx(two, abs=1e-5)


def test_every_number_on_the_way_can_be_seen(both):
    family, *_, ours = both
    with trace(ours) as seen:
        found = ours.classify(PICTURES[:1], LABELS)
    stack = {"clip": "decoder", "siglip": "encoder"}[family]
    assert f"texts.{stack}.layers.1.self_attn.weights" in seen
    assert "pictures.encoder.layers.1.self_attn.weights" in seen
    assert ("pictures.head.pool.attn.weights" in seen) == (family == "siglip")
    assert seen["logits"].shape == (1, len(LABELS))
    again = ours.classify(PICTURES[:1], LABELS)  # without somebody looking, by the faster path
    assert found[0].scores == pytest.approx(again[0].scores, abs=1e-5)


def test_labels_that_cannot_be_chosen_from_are_refused(both):
    family, *_, ours = both
    end = {"clip": "<|endoftext|>", "siglip": "</s>"}[family]
    for labels, why in (
        ([], "no classes of its own.*; give them as labels"),
        ("a cat", "a list of texts, not the text 'a cat'"),
        (["a cat", "a cat"], "'a cat' is given twice"),
        (["a cat", " "], "label 2 is empty"),
        (["a cat", "words " * 40], r"label 2 has \d+ tokens, and the model reads \d+; shorten it"),
        (["a cat", f"a {end} b"], "label 2 spells"),
    ):
        with pytest.raises(ValueError, match=why):
            ours.classify(PICTURES, labels)
    if family == "clip":
        with pytest.raises(ValueError, match="a single one would fit every picture"):
            ours.classify(PICTURES, ["a cat"])
    else:
        alone = ours.classify(PICTURES, LABELS[:1])[0].probability
        assert alone == pytest.approx(ours.classify(PICTURES, LABELS)[0].scores[LABELS[0]], abs=1e-6)


def test_pictures_and_texts_are_not_mistaken_for_one_another(both, tmp_path):
    *_, ours = both
    with pytest.raises(TypeError, match="embed_pictures"):
        ours.embed([PICTURES[0]])
    with pytest.raises(UnusableTextError, match="text 2 is empty"):
        ours.embed(["a cat", ""])
    with pytest.raises(ValueError, match="no prompt named 'query'"):
        ours.embed("a cat", prompt="query")
    for other in (Embedder, PictureClassifier):
        with pytest.raises(
            ValueError, match=r"a pair of networks that matches pictures with texts.*clearformer classify"
        ):
            other(ours.bundle)


def test_a_model_that_is_no_pair_is_refused(tmp_path):
    from clearformer.folder.bundle import Bundle
    from clearformer.model.build import build
    from model.specimens import configured

    config = configured("vit")
    with pytest.raises(ValueError, match="not one that matches pictures with texts"):
        PictureMatcher(Bundle(config=config, model=build(config)))


def test_a_pair_without_a_vocabulary_still_sees(both, tmp_path):
    _, folder, _, ours = both
    for file in folder.iterdir():
        if not file.name.startswith(("vocab", "merges", "spiece")):
            (tmp_path / file.name).write_bytes(file.read_bytes())
    blind = PictureMatcher(read_hugging_face(tmp_path).bundle)
    torch.testing.assert_close(blind.embed_pictures(PICTURES), ours.embed_pictures(PICTURES))
    with pytest.raises(ValueError, match="no tokenizer"):
        blind.embed("a cat")
