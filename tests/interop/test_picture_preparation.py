"""Published models get their pictures as their own program prepares them, number by number."""

import io
import json
import os
from pathlib import Path

import numpy as np
import pytest
import transformers as hf
from PIL import Image
from transformers.models.deit.image_processing_pil_deit import DeiTImageProcessorPil
from transformers.models.vit.image_processing_pil_vit import ViTImageProcessorPil

from clearformer.data.readers.picture_sets import archived_pictures
from clearformer.data.readers.pictures import decode_picture
from clearformer.folder import bundle
from clearformer.folder.preprocessing import PictureFacts, Preprocessing
from clearformer.inference.picture_classifier import PictureClassifier, as_tensor, fit
from clearformer.interop.importer import import_checkpoint
from clearformer.interop.picture_preparation import FILE, read_picture_facts, write_picture_facts
from clearformer.interop.to_hugging_face import export
from clearformer.model.build import build
from clearformer.model.config import FrontConfig, HeadConfig
from clearformer.model.families import FAMILIES

IMAGENET = {"image_mean": [0.485, 0.456, 0.406], "image_std": [0.229, 0.224, 0.225]}
KINDS = {
    "as the class says": (ViTImageProcessorPil, {"size": {"height": 16, "width": 16}}),
    "ImageNet's numbers, bicubic": (
        ViTImageProcessorPil, {"size": {"height": 16, "width": 16}, "resample": 3, **IMAGENET}
    ),
    "shorter side, then cut": (
        ViTImageProcessorPil,
        {"size": {"shortest_edge": 20}, "do_center_crop": True, "crop_size": {"height": 16, "width": 16}, **IMAGENET},
    ),
    "stretched, then cut": (
        DeiTImageProcessorPil, {"size": {"height": 18, "width": 18}, "crop_size": {"height": 16, "width": 16}}
    ),
    "not normalised": (ViTImageProcessorPil, {"size": {"height": 16, "width": 16}, "do_normalize": False}),
    "from 0 to 255": (
        ViTImageProcessorPil,
        {"size": {"height": 16, "width": 16}, "do_rescale": False, "image_mean": [100.0] * 3, "image_std": [50.0] * 3},
    ),
    "around zero": (ViTImageProcessorPil, {"size": {"height": 16, "width": 16}, "rescale_factor": 1 / 127.5}),
    "nearest": (ViTImageProcessorPil, {"size": {"height": 16, "width": 16}, "resample": 0}),
}  # fmt: skip
FRONT = FrontConfig(kind="patches", picture=16, patch=4, channels=3)


def pictures():
    """Of many sizes, none square but the last, which has the model's size."""
    random = np.random.default_rng(1)
    sizes = ((30, 41), (41, 30), (16, 17), (9, 12), (64, 20), (16, 16))
    return [random.integers(0, 256, (*size, 3), dtype=np.uint8) for size in sizes]


def prepared(processor, pixels):
    return processor(images=Image.fromarray(pixels), return_tensors="np")["pixel_values"][0]


@pytest.mark.parametrize("kind", KINDS)
def test_pictures_are_prepared_as_by_the_published_program(tmp_path, kind):
    make, settings = KINDS[kind]
    processor = make(**settings)
    processor.save_pretrained(tmp_path)
    facts, notes = read_picture_facts(tmp_path, FRONT)
    assert notes == ()
    for pixels in pictures():
        mine = as_tensor([fit(pixels, facts)], facts)[0].numpy()
        np.testing.assert_allclose(mine, prepared(processor, pixels), rtol=1e-5, atol=1e-5)


@pytest.mark.corpora
def test_photographs_are_prepared_as_by_the_published_program(tmp_path):
    make, settings = KINDS["ImageNet's numbers, bicubic"]
    processor = make(**settings)
    processor.save_pretrained(tmp_path)
    facts, _ = read_picture_facts(tmp_path, FRONT)
    archive = Path(os.environ["CLEARFORMER_DATA"]) / "oxford-pets-128" / "trainval.zip"
    for (name, content), _ in zip(archived_pictures(archive), range(40), strict=False):
        if name.endswith(".jpg"):
            pixels = decode_picture(io.BytesIO(content), name, channels=3)
            mine = as_tensor([fit(pixels, facts)], facts)[0].numpy()
            np.testing.assert_allclose(mine, prepared(processor, pixels), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("fit_", ["stretch", "shortest"])
@pytest.mark.parametrize("resized", [None, 21])
def test_what_is_written_is_read_back(tmp_path, fit_, resized):
    facts = PictureFacts(
        size=16, channels=3, mean=(0.1, 0.2, 0.3), deviation=(0.4, 0.5, 0.6), fit=fit_, resample="box", resized=resized
    )
    (tmp_path / FILE).write_text(json.dumps(write_picture_facts(facts)))
    read, _ = read_picture_facts(tmp_path, FRONT)
    assert (read.fit, read.resample, read.resized, read.size) == (fit_, "box", resized, 16)
    assert read.mean == pytest.approx(facts.mean)
    assert read.deviation == pytest.approx(facts.deviation)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"size": {"height": 16, "width": 24}}, "size = .* is no square"),
        ({"size": {"shortest_edge": 16}}, "so they are no squares; set do_center_crop"),
        ({"size": {"height": 20, "width": 20}}, "makes pictures of 20 × 20, and the model reads 16"),
        ({"resample": 9}, "resample is a number from 0 to 5, not '9'"),
        ({"image_mean": [0.5, 0.5]}, "image_mean must be 3 numbers"),
        ({"rescale_factor": 0}, "rescale_factor must be a number above 0"),
        ({"do_resize": "yes"}, "do_resize must be true or false"),
        ({"do_pad": True}, "do_pad = 'True' changes pictures in a way that is not known here"),
        ({"crop_pct": 0.9}, "crop_pct = '0.9' changes pictures"),
        ({"size": -3}, "size must be a number of pixels"),
        ({"image_processor_type": "StrangeImageProcessor"}, "does not say do_resize, and what its program would"),
        ({"image_std": [0.0, 0.0, 0.0], "size": 16}, "deviation must be above zero"),
    ],
)
def test_what_cannot_be_honoured_is_refused_by_its_key(tmp_path, changes, message):
    usual = {"image_processor_type": "ViTImageProcessor"}
    usual |= {"size": {"height": 16, "width": 16}} if "Strange" not in str(changes) else {}
    (tmp_path / FILE).write_text(json.dumps(usual | changes))
    with pytest.raises(ValueError, match=message):
        read_picture_facts(tmp_path, FRONT)


def test_without_the_file_the_published_defaults_are_assumed_and_said(tmp_path):
    facts, [note] = read_picture_facts(tmp_path, FRONT)
    assert (facts.mean, facts.deviation, facts.fit) == ((0.5,) * 3, (0.5,) * 3, "stretch")
    assert "preprocessor_config.json is not there" in note
    assert read_picture_facts(tmp_path, FrontConfig()) == (None, ())


def test_an_imported_model_answers_as_the_published_one(tmp_path):
    """From a picture of another shape to the probabilities: a whole way there and back."""
    made = hf.ViTForImageClassification(
        hf.ViTConfig(hidden_size=16, intermediate_size=24, num_hidden_layers=1, num_attention_heads=2, image_size=16,
                     patch_size=4, num_labels=3)
    ).eval()  # fmt: skip
    made.save_pretrained(tmp_path / "theirs")
    processor = ViTImageProcessorPil(size={"height": 16, "width": 16}, **IMAGENET)
    processor.save_pretrained(tmp_path / "theirs")
    import_checkpoint(tmp_path / "theirs", tmp_path / "ours")
    classifier = PictureClassifier(bundle.load(tmp_path / "ours"))
    given = pictures()
    theirs = made(**processor(images=[Image.fromarray(one) for one in given], return_tensors="pt")).logits.softmax(-1)
    np.testing.assert_allclose(classifier.probabilities(given), theirs.detach(), rtol=1e-4, atol=1e-5)


def test_an_exported_model_prepares_its_pictures_there(tmp_path):
    config = FAMILIES["vit"](
        dim=16, hidden_dim=24, layers=1, heads=2, front=FRONT, head=HeadConfig(kind="class", labels=2)
    )
    facts = PictureFacts(size=16, channels=3, mean=(0.2, 0.3, 0.4), deviation=(0.3, 0.2, 0.1))
    made = bundle.Bundle(
        config=config, model=build(config), preprocessing=Preprocessing(labels=("a", "b"), picture=facts)
    )
    bundle.save(made, tmp_path / "ours")
    export(tmp_path / "ours", tmp_path / "theirs")
    processor = ViTImageProcessorPil.from_pretrained(tmp_path / "theirs")
    square = np.random.default_rng(1).integers(0, 256, (16, 16, 3), dtype=np.uint8)
    np.testing.assert_allclose(as_tensor([square], facts)[0], prepared(processor, square), atol=1e-5)
    # A middle square is scaled first and cut then; on a soft picture the two are a few levels apart.
    soft = np.asarray(Image.fromarray(square[:4, :4]).resize((60, 40), Image.Resampling.BICUBIC))
    mine = as_tensor([fit(soft, facts)], facts)[0].numpy()
    assert np.abs(mine - prepared(processor, soft)).max() * 0.1 * 255 < 40
