"""The defaults of pictures are part of the one table, and compared there with the published classes."""

from clearformer.interop.hf.defaults import DEFAULTS
from clearformer.interop.hf.picture_defaults import PICTURE_DEFAULTS


def test_every_family_of_pictures_is_in_the_table():
    assert PICTURE_DEFAULTS.items() <= DEFAULTS.items()
    assert {"vit", "deit", "dinov2", "beit"} <= PICTURE_DEFAULTS.keys()
