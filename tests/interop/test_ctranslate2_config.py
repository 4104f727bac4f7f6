"""What a file of CTranslate2 says of its model: read for every family that goes there, or refused by the number's name.

Whole round trips are in test_from_ctranslate2.py; here the numbers of a good file are changed one by one.
"""

import pytest

from clearformer.folder import bundle
from clearformer.interop.ctranslate2_arrays import ModelFile, SplitArrays
from clearformer.interop.ctranslate2_config import READERS
from clearformer.interop.to_ctranslate2 import convert
from clearformer.model import families
from clearformer.model.config import HeadConfig, PositionConfig
from support.toy_models import decided, vocabulary

TOKENIZER = vocabulary()
SIZES = {"vocab_size": TOKENIZER.vocab_size, "dim": 32, "hidden_dim": 48, "layers": 2, "heads": 4}


def store_of(folder, **choices):
    bundle.save(decided(families.transformer(**SIZES, head=HeadConfig(bias=True), **choices), TOKENIZER), folder / "m")
    convert(folder / "m", folder / "fast")
    return SplitArrays(ModelFile(folder / "fast" / "model.bin"))


def read(store):
    return READERS["TransformerSpec"](store, {})


def test_sizes_and_choices(tmp_path):
    config, fixed = read(store_of(tmp_path, position=PositionConfig(kind="rotary", base=500.0)))
    assert (config.dim, config.hidden_dim, config.layers, config.attention.heads) == (32, 48, 2, 4)
    assert (config.position.kind, config.position.base) == ("rotary", 500.0)
    assert (config.norm.place, config.embedding.scale, config.head.bias) == ("post", True, True)
    assert fixed == {}


def test_waves_in_the_file_follow_from_the_configuration(tmp_path):
    config, fixed = read(store_of(tmp_path))
    assert config.position.kind == "sinusoidal"
    assert fixed.keys() == {f"{stack}.position_encodings.encodings" for stack in ("encoder", "decoder")}


@pytest.mark.parametrize(
    ("ending", "value", "sentence"),
    [
        ("rotary_base", 0.0, "rotary_base must be above 0, not 0.0"),
        ("rotary_base", float("nan"), "rotary_base must be a number, not nan"),
        ("rotary_dim", 3, "rotates only a part of each head"),
        ("scale_embeddings", 3, "embeddings are scaled by 3, and only"),
        ("encoder/num_heads", 0, "encoder/num_heads must be a whole number of at least 1, not 0"),
        ("encoder/activation", 99, "activation is 0, and only 99|activation has the number 99"),
        ("encoder/novelty", 1, "has encoder/novelty, which is not known here"),
    ],
)
def test_a_number_that_no_model_here_has(ending, value, sentence, tmp_path):
    store = store_of(tmp_path, position=PositionConfig(kind="rotary", base=500.0))
    facts = store.file.facts
    facts.update({name: value for name in facts if name.endswith(ending)} or {ending: value})
    with pytest.raises(ValueError, match=sentence):
        read(store)
