"""M2M-100 (Fan et al., 2020) and NLLB-200 (NLLB Team, 2022): pre-norm translators among many languages.

BART's layers, with waves instead of a table of positions, in the layout of the authors of the 2017 paper.
"""

from dataclasses import replace
from typing import Any

from clearformer.interop.config_keys import Keys
from clearformer.interop.hf.bart import PREFIX, STACKS, sizes, stacks, tied, written
from clearformer.interop.renaming import RenamingTable, Rule
from clearformer.model.config import EmbeddingConfig, ModelConfig, NormConfig, PositionConfig
from clearformer.model.families import transformer

MODEL_TYPES = ("m2m_100",)


def read_config(keys: Keys) -> ModelConfig:
    """From a published config.json."""
    pad = keys.plain.get("pad_token_id", keys.defaults["pad_token_id"])
    keys.must("normalize_before", True)
    keys.must("normalize_embedding", False)
    keys.ignore("max_position_embeddings")  # of the waves: they go on without a limit
    if isinstance(pad, bool) or not isinstance(pad, int) or pad < 0:
        raise ValueError(f"{keys.where}: pad_token_id must be a token, after whose number positions begin, not {pad!r}")
    config = transformer(
        **sizes(keys),
        max_len=keys.size("max_position_embeddings"),
        position=PositionConfig(kind="tensor2tensor", offset=pad + 1),
        norm=NormConfig(place="pre"),
        embedding=EmbeddingConfig(tie="all", scale=keys.flag("scale_embedding")),
    )
    keys.finish()
    return replace(config, family="m2m_100")


def write_config(config: ModelConfig) -> dict[str, Any]:
    """To a config.json that the library opens."""
    return {"model_type": "m2m_100", "pad_token_id": config.position.offset - 1, **written(config)}


def names(config: ModelConfig) -> RenamingTable:
    """Our names and theirs."""
    norms = [Rule(f"{stack}.norm", f"{PREFIX}{stack}.layer_norm") for stack in STACKS]
    waves = "waves that follow from config.json"
    return RenamingTable(
        [*norms, *stacks(PREFIX, "pre"), Rule("encoder.front.embed", f"{PREFIX}shared")],
        copies=tied(PREFIX),
        aside={f"{PREFIX}{stack}.embed_positions.weights": waves for stack in STACKS},
    )
