"""Families: what each one chose, and the names of its parameters, which are a file format."""

import itertools
import re

import pytest

from clearformer.model.build import build
from clearformer.model.config import ModelConfig, PositionConfig
from clearformer.model.families import FAMILIES, bert, gpt2, llama
from model.specimens import KINDS, LAYERS, configured, specimen

# Checkpoints hold these names. A change here breaks every saved model: give it a new format version and a way over.
# {a,b} = either, * = every layer.
ATTENTION = "{q,k,v,out}_proj.{weight,bias}"
FFN = "ffn.{up,down}_proj.{weight,bias}"
POST_ENCODER = f"""
    encoder.layers.*.self_attn.{ATTENTION}  encoder.layers.*.{FFN}
    encoder.layers.*.{{self_attn,ffn}}_residual.after.{{weight,bias}}
"""
POST_DECODER = f"""
    decoder.layers.*.{{self,cross}}_attn.{ATTENTION}  decoder.layers.*.{FFN}
    decoder.layers.*.{{self_attn,cross_attn,ffn}}_residual.after.{{weight,bias}}
"""
BERT_FRONT = "encoder.front.{embed,position.table}.weight  encoder.front.norm.{weight,bias}"
NAMES = {
    "transformer": f"{{encoder,decoder}}.front.embed.weight {POST_ENCODER} {POST_DECODER} head.table",
    "marian": f"{{encoder,decoder}}.front.embed.weight {POST_ENCODER} {POST_DECODER} head.{{table,bias}}",
    "bart": f"""
        {{encoder,decoder}}.front.{{embed,position.table}}.weight  {{encoder,decoder}}.front.norm.{{weight,bias}}
        {POST_ENCODER} {POST_DECODER} head.{{table,bias}}
    """,
    "t5": """
        {encoder,decoder}.front.embed.weight  {encoder,decoder}.norm.weight  head.table
        {encoder,decoder}.layers.*.self_attn.{q,k,v,out}_proj.weight
        {encoder,decoder}.layers.*.self_attn.position.table.weight  decoder.layers.*.cross_attn.{q,k,v,out}_proj.weight
        {encoder,decoder}.layers.*.{self_attn,ffn}_residual.before.weight
        {encoder,decoder}.layers.*.ffn.{up,down}_proj.weight  decoder.layers.*.cross_attn_residual.before.weight
    """,
    "bert": f"{BERT_FRONT} encoder.front.type_embed.weight {POST_ENCODER} head.pooler.{{weight,bias}}",
    "roberta": f"{BERT_FRONT} encoder.front.type_embed.weight {POST_ENCODER} head.pooler.{{weight,bias}}",
    "distilbert": f"{BERT_FRONT} {POST_ENCODER}",
    "albert": f"""
        {BERT_FRONT} encoder.front.type_embed.weight  encoder.front.widen.{{weight,bias}}
        {POST_ENCODER} head.pooler.{{weight,bias}}
    """,
    "roformer": f"""
        encoder.front.{{embed,type_embed}}.weight  encoder.front.norm.{{weight,bias}}
        {POST_ENCODER} head.pooler.{{weight,bias}}
    """,
    "modernbert": """
        encoder.front.embed.weight  encoder.front.norm.weight  encoder.norm.weight
        encoder.layers.*.self_attn.{q,k,v,out}_proj.weight  encoder.layers.1.self_attn_residual.before.weight
        encoder.layers.*.ffn.{gate,up,down}_proj.weight  encoder.layers.*.ffn_residual.before.weight
        head.transform.{0,2}.weight  head.{table,bias}
    """,
    "deberta": f"""
        encoder.front.embed.weight  encoder.front.norm.{{weight,bias}}  {POST_ENCODER}
        encoder.layers.*.self_attn.position.vectors.{{table.weight,norm.weight,norm.bias}}
    """,
    "vit": f"""
        encoder.front.class_token  encoder.front.patch_proj.{{weight,bias}}  encoder.front.position.table.weight
        encoder.layers.*.self_attn.{ATTENTION}  encoder.layers.*.{FFN}
        encoder.layers.*.{{self_attn,ffn}}_residual.before.{{weight,bias}}
        encoder.norm.{{weight,bias}}  head.classify.{{weight,bias}}
    """,
    "detr": f"""
        encoder.front.class_token  encoder.front.patch_proj.{{weight,bias}}  decoder.front.queries.weight
        {POST_ENCODER} {POST_DECODER} head.classify.{{weight,bias}}  head.locate.{{0,2,4}}.{{weight,bias}}
    """,
    "dit": f"""
        encoder.front.patch_proj.{{weight,bias}}  encoder.front.position.table.weight
        encoder.told.embed.weight  encoder.told.time_proj.{{0,2}}.{{weight,bias}}  encoder.modulate.{{weight,bias}}
        encoder.layers.*.self_attn.{ATTENTION}  encoder.layers.*.{FFN}
        encoder.layers.*.{{self_attn,ffn}}_residual.{{offsets,before.weight,before.bias}}
        encoder.norm.{{weight,bias}}  head.paint.{{weight,bias}}
    """,
    "gpt2": f"""
        decoder.front.{{embed,position.table}}.weight  decoder.norm.{{weight,bias}}  head.table
        decoder.layers.*.self_attn.{ATTENTION}  decoder.layers.*.{FFN}
        decoder.layers.*.{{self_attn,ffn}}_residual.before.{{weight,bias}}
    """,
    "llama": """
        decoder.front.embed.weight  decoder.norm.weight  head.table
        decoder.layers.*.self_attn.{q,k,v,out}_proj.weight  decoder.layers.*.ffn.{gate,up,down}_proj.weight
        decoder.layers.*.{self_attn,ffn}_residual.before.weight
    """,
    "transformer-xl": f"""
        decoder.front.embed.weight  head.table  decoder.layers.*.self_attn.{{q,k,v,out}}_proj.weight
        decoder.layers.*.self_attn.position.{{content_bias,distance_bias,r_proj.weight}}
        decoder.layers.*.{FFN}  decoder.layers.*.{{self_attn,ffn}}_residual.after.{{weight,bias}}
    """,
    "whisper": f"""
        encoder.front.{{narrow,halve}}.{{weight,bias}}  decoder.front.{{embed,position.table}}.weight
        {{encoder,decoder}}.norm.{{weight,bias}}  head.table
        {{encoder,decoder}}.layers.*.self_attn.{{q,v,out}}_proj.{{weight,bias}}
        {{encoder,decoder}}.layers.*.self_attn.k_proj.weight
        decoder.layers.*.cross_attn.{{q,v,out}}_proj.{{weight,bias}}  decoder.layers.*.cross_attn.k_proj.weight
        {{encoder,decoder}}.layers.*.{{self_attn,ffn}}_residual.before.{{weight,bias}}
        {{encoder,decoder}}.layers.*.{FFN}  decoder.layers.*.cross_attn_residual.before.{{weight,bias}}
    """,
    "wav2vec2": f"""
        encoder.front.convolutions.*.convolve.weight  encoder.front.convolutions.0.norm.{{weight,bias}}
        encoder.front.{{projected_norm,project,norm}}.{{weight,bias}}  encoder.front.places.{{direction,length,bias}}
        {POST_ENCODER} head.{{table,bias}}
    """,
}
BASELINES = {"lstm", "convolution", "autoencoder"}


def written_out(patterns):
    """{a,b} and * replaced by everything that they stand for."""
    names = set()
    for pattern in patterns.split():
        parts = re.split(r"\{(.*?)\}", pattern.replace("*", "{" + ",".join(map(str, range(LAYERS))) + "}"))
        choices = [part.split(",") if index % 2 else [part] for index, part in enumerate(parts)]
        names |= {"".join(choice) for choice in itertools.product(*choices)}
    return names


def test_every_family_is_pinned():
    assert set(NAMES) | BASELINES == set(FAMILIES)


@pytest.mark.parametrize("family", NAMES)
def test_parameter_names_are_a_file_format(family):
    assert set(build(configured(family)).state_dict()) == written_out(NAMES[family])


@pytest.mark.parametrize("family", NAMES)
def test_save_and_load_is_identity(family):
    """A second model with the first one's state is the first one, whatever it was drawn with."""
    first, second = specimen(family), specimen(family)
    second.load_state_dict(first.state_dict())
    for name, value in first.state_dict().items():
        assert (value == second.state_dict()[name]).all(), name


@pytest.mark.parametrize("family", NAMES)
def test_a_name_is_kept_with_the_choices(family):
    config = FAMILIES[family](vocab_size=10)
    assert isinstance(config, ModelConfig)
    assert config.family == family


def test_choices_of_the_papers():
    """One line a difference that people ask about."""
    families = {name: FAMILIES[name](vocab_size=10) for name in NAMES}

    def those(question):
        return {name for name, config in families.items() if question(config)}

    assert those(lambda c: c.norm.place == "pre") == {"t5", "vit", "dit", "gpt2", "llama", "whisper", "modernbert"}
    assert those(lambda c: c.norm.kind == "rms") == {"t5", "llama"}
    assert those(lambda c: c.embedding.scale) == {"transformer", "marian", "transformer-xl"}
    assert those(lambda c: c.gated) == {"llama", "modernbert"}
    assert those(lambda c: not c.norm.first) == {"modernbert"}
    assert those(lambda c: c.share_layers) == {"albert"}
    assert those(lambda c: c.position.kind == "rotary") == {"roformer", "llama", "modernbert"}
    assert those(lambda c: c.position.kind == "learned") == {
        "bart",
        "bert",
        "roberta",
        "distilbert",
        "albert",
        "vit",
        "dit",
        "gpt2",
    }
    assert those(lambda c: c.attention.scale is not None) == {"t5"}
    assert those(lambda c: c.activation == "relu") == {"transformer", "t5", "detr", "transformer-xl"}
    assert {c.position.kind for c in families.values()} >= set(KINDS) - {"none", "alibi", "shaw"}


def test_anything_can_be_chosen_otherwise():
    """A GPT-2 with rotary positions is one keyword away."""
    config = gpt2(vocab_size=10, position=PositionConfig(kind="rotary"), dim=48, heads=6)
    assert (config.position.kind, config.attention.heads, config.dim) == ("rotary", 6, 48)
    assert config.norm.place == "pre"
    assert llama(vocab_size=10, heads=8, kv_heads=2, head_dim=16).attention.kv_heads == 2
    assert bert(vocab_size=10).attention.heads == 12


def test_a_word_that_no_family_knows_is_refused():
    with pytest.raises(TypeError, match="colour"):
        gpt2(vocab_size=10, colour="blue")
