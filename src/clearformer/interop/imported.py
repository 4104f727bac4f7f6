"""What every reader of a foreign format returns, and the last step that all of them share."""

from dataclasses import dataclass, field
from typing import Any

import torch
from torch import nn
from torch.overrides import TorchFunctionMode

from clearformer.folder.bundle import Bundle
from clearformer.interop.renaming import RenamingTable, Store, bring, check, link
from clearformer.interop.tensor_files import aligned
from clearformer.model.build import build
from clearformer.model.config import ModelConfig
from clearformer.model.weights import put_weights, weights_of


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


class _Undrawn(TorchFunctionMode):
    """Skip the random initialisation, which a model without memory does not need; importing it takes a second."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        draws = getattr(func, "__module__", None) == "torch.nn.init" or func in _DRAWS
        return (args[0] if args else kwargs["tensor"]) if draws else func(*args, **(kwargs or {}))


_DRAWS = (torch.Tensor.normal_, torch.Tensor.uniform_)


def assemble(
    config: ModelConfig, table: RenamingTable, store: Store, prefix: str = ""
) -> tuple[nn.Module, dict[str, str]]:
    """A model with a checkpoint's weights, and which tensors of the checkpoint were not used.

    Names and shapes are first compared with a model on the meta device, so a configuration that asks for more than the
    file holds is found before it takes memory.
    """
    with torch.device("meta"), _Undrawn():
        shapes = {name: tuple(tensor.shape) for name, tensor in weights_of(build(config)).items()}
    links = link(table.rules, shapes)
    wanted = {one.theirs for one in links} | table.copies.keys() | table.fixed.keys()
    lying = aligned(store, wanted, prefix, table.spellings)
    aside = check(links, table, shapes, lying)
    weights = bring(links, table, shapes, lying)
    model = build(config)
    put_weights(model, weights)
    return model.eval(), aside
