"""BEiT beside its published implementation: biases of distances in rows and columns, of each layer or of all."""

import pytest
import transformers as hf

from clearformer.interop.importer import read_hugging_face
from interop.hf import test_vit
from interop.references import check, reference

VIT = test_vit.VIT | {"drop_path_rate": 0.0}
PLACES = ["use_relative_position_bias", "use_shared_relative_position_bias", "use_absolute_position_embeddings"]


@pytest.mark.parametrize("places", PLACES)
@pytest.mark.parametrize("kind", ["BeitForImageClassification", "BeitModel"])
def test_agrees(kind, places, tmp_path):
    check(reference(kind, hf.BeitConfig(**VIT, **{places: True})), tmp_path)


def test_the_class_of_the_first_state(tmp_path):
    check(reference("BeitForImageClassification", hf.BeitConfig(**VIT, use_mean_pooling=False)), tmp_path)


def test_maps_of_several_sizes_are_refused(tmp_path):
    layers = {"num_hidden_layers": 4, "add_fpn": True, "out_indices": [1, 2, 3, 4]}
    reference("BeitModel", hf.BeitConfig(**(VIT | layers))).save_pretrained(tmp_path)
    with pytest.raises(ValueError, match="add_fpn asks for maps of several sizes"):
        read_hugging_face(tmp_path)
