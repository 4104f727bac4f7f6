"""What every reader of a foreign format returns, and the last step that all of them share."""

from dataclasses import dataclass, field
from typing import Any

from torch import nn

from clearformer.folder.bundle import Bundle
from clearformer.interop.renaming import RenamingTable, Store, bring, check, link
from clearformer.interop.tensor_files import aligned
from clearformer.model.config import ModelConfig
from clearformer.model.from_weights import network_from, shapes_of


@dataclass(frozen=True, kw_only=True)
class Imported:
    """An imported model, with what the import has to report.

    assumed: keys that config.json does not have, with the value that the published code gives them. aside: tensors that
    the model here does not use, with the reason. notes: what else differs from the published program.
    """

    bundle: Bundle
    assumed: dict[str, Any] = field(default_factory=dict)
    aside: dict[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def assemble(
    config: ModelConfig, table: RenamingTable, store: Store, prefix: str = ""
) -> tuple[nn.Module, dict[str, str]]:
    """A model with a checkpoint's weights, and which tensors of the checkpoint were not used.

    Names and shapes are first compared with a model on the meta device, so a configuration that asks for more than the
    file holds is found before it takes memory.
    """
    shapes = shapes_of(config)
    links = link(table.rules, shapes)
    wanted = {one.theirs for one in links} | table.copies.keys() | table.fixed.keys()
    lying = aligned(store, wanted, prefix, table.spellings)
    aside = check(links, table, shapes, lying)
    weights = bring(links, table, shapes, lying)
    return network_from(config, weights, narrow=True), aside
