"""Transformer-XL's folder as the published code wrote it before it left the library.

The mathematics is held against a plain reading of the paper in tests/parity; here the names are.
"""

import json

import pytest
import torch
from safetensors.torch import save_file

from clearformer.interop.config_keys import Keys
from clearformer.interop.hf.transformer_xl import names, read_config, write_config
from clearformer.interop.importer import read_hugging_face
from clearformer.interop.renaming import give, link
from clearformer.model.build import build
from clearformer.model.weights import weights_of

PLAIN = {
    "model_type": "transfo-xl", "architectures": ["TransfoXLLMHeadModel"], "vocab_size": 29, "cutoffs": [],
    "div_val": 1,
    "d_model": 32, "d_embed": 32, "d_inner": 48, "d_head": 8, "n_head": 4, "n_layer": 2, "untie_r": True,
    "pre_lnorm": False, "clamp_len": -1, "attn_type": 0, "mem_len": 16, "same_length": False, "adaptive": True,
    "dropout": 0.0, "dropatt": 0.0,
}  # fmt: skip


def test_a_folder(tmp_path):
    config = read_config(Keys(PLAIN))
    model = build(config).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter))
    weights = weights_of(model)
    theirs = give(link(names(config).rules, weights), weights)
    assert theirs["transformer.layers.1.dec_attn.qkv_net.weight"].shape == (96, 32)
    assert theirs["transformer.layers.0.dec_attn.r_w_bias"].shape == (4, 8)
    assert theirs["transformer.layers.0.pos_ff.CoreNet.3.weight"].shape == (32, 48)
    save_file(theirs | {"transformer.pos_emb.inv_freq": torch.ones(16)}, tmp_path / "model.safetensors")
    (tmp_path / "config.json").write_text(json.dumps(PLAIN))
    found = read_hugging_face(tmp_path)
    assert found.bundle.config == config
    assert list(found.aside) == ["transformer.pos_emb.inv_freq"]
    tokens = torch.randint(29, (2, 7))
    torch.testing.assert_close(found.bundle.model(tokens), model(tokens), rtol=0, atol=0)


def test_written_and_read_again():
    config = read_config(Keys(PLAIN))
    assert (
        read_config(Keys(write_config(config) | {"architectures": PLAIN["architectures"]})).attention
        == config.attention
    )


@pytest.mark.parametrize(
    ("key", "value"),
    [("cutoffs", [10, 20]), ("div_val", 4), ("untie_r", False), ("pre_lnorm", True), ("clamp_len", 400)],
)
def test_what_no_model_here_has_is_refused_by_name(key, value):
    with pytest.raises(ValueError, match=f"{key} is"):
        read_config(Keys(PLAIN | {key: value}))
