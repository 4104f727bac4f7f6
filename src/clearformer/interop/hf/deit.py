"""DeiT (Touvron et al., 2021): a ViT with a second token that learned from a teacher, with or without a
classifier of its own."""

from dataclasses import replace
from typing import Any

from clearformer.interop.config_keys import Keys
from clearformer.interop.hf import vit
from clearformer.interop.hf.architectures import refuse_heads, task_head
from clearformer.interop.hf.bert import ACTIVATIONS
from clearformer.interop.renaming import RenamingTable, Rule, under
from clearformer.model import families
from clearformer.model.config import HeadConfig, ModelConfig

MODEL_TYPES = ("deit",)
PREFIX = "deit."
PROCESSOR = "DeiT"
_BOTH = "ForImageClassificationWithTeacher"


def read_config(keys: Keys) -> ModelConfig:
    """From a published config.json."""
    vit.read_pooler(keys)
    given = vit.sizes(keys)
    given["front"] = replace(given["front"], teacher_token=True)
    config = families.vit(
        **given, hidden_dim=keys.size("intermediate_size"), activation=keys.choice("hidden_act", ACTIVATIONS),
        **vit.attention(keys), head=_head(keys),
    )  # fmt: skip
    keys.finish()
    return replace(config, family="deit")


def write_config(config: ModelConfig) -> dict[str, Any]:
    """To a config.json that the library opens."""
    return vit.write_config(config) | {"model_type": "deit"}


def names(config: ModelConfig) -> RenamingTable:
    """Our names and theirs. With both classifiers, theirs are named after their tokens."""
    table = vit.table_of(config, PREFIX, under("encoder.layers.*", "encoder.layer.*", vit.LAYER))
    if not config.head.taught:
        return table
    both = [Rule("head.classify", "cls_classifier"), Rule("head.classify_taught", "distillation_classifier")]
    return replace(table, rules=[*(rule for rule in table.rules if rule.theirs != "classifier"), *both])


def _head(keys: Keys) -> HeadConfig:
    kind = refuse_heads(keys, "class", "states")
    if kind == "states":
        return HeadConfig(kind="states", pooler=keys.has("pooler.dense.weight"))
    return task_head(keys, kind, taught=str(keys.architecture).endswith(_BOTH))
