"""Initial weights: small random numbers of the right size.

Matrices start with Xavier's spread, so that a signal keeps its size, or with a fixed standard deviation where a
family asks for it.
"""

import math

import torch
from torch import Tensor, nn

from clearformer.model.attention import Attention
from clearformer.model.conditioned import ConditionedEncoder
from clearformer.model.heads import LanguageModel
from clearformer.model.layers import DecoderLayer, EncoderLayer


@torch.no_grad()
def initialise(model: nn.Module, *, std: float | None, residual_layers: int) -> None:
    """Draw all matrices and tables; norms and biases keep PyTorch's ones and zeros.

    std None: Xavier for matrices and 1/√D for tables (the 2017 recipe: a table that is also the output layer must not
    start with logits of size √D). A number: normal with that deviation, and the last matrix of each residual branch
    smaller by √(2·layers), so that the sum over depth keeps its size (GPT-2). Where attention has a scale of its own,
    the queries compensate for it, so that every fresh model starts with scores of the same size (T5).
    """
    told: list[nn.Linear] = []
    for module in model.modules():
        if isinstance(module, nn.Linear):
            _draw(module.weight, std)
            if module.bias is not None:
                nn.init.zeros_(module.bias)
        elif isinstance(module, nn.Embedding):
            nn.init.normal_(module.weight, std=module.embedding_dim**-0.5 if std is None else std)
        elif isinstance(module, ConditionedEncoder):
            told = [*told, module.modulate]
    for projection in told:  # what is told begins without a say, and every gate shut
        nn.init.zeros_(projection.weight)
    for module in model.modules():  # after the embeddings: a tied table is drawn as an embedding
        if isinstance(module, LanguageModel) and not _is_embedding(model, module.table):
            _draw(module.table, std)
        if std is not None and isinstance(module, EncoderLayer | DecoderLayer):
            for name, weight in module.named_parameters():
                if name.endswith(("out_proj.weight", "down_proj.weight")):
                    nn.init.normal_(weight, std=std / math.sqrt(2 * residual_layers))
        if isinstance(module, Attention) and module.scale is not None:
            module.q_proj.weight.div_(module.scale * math.sqrt(module.heads.key_dim * module.position.parts))


def _draw(weight: Tensor, std: float | None) -> None:
    if std is None:
        nn.init.xavier_uniform_(weight)
    else:
        nn.init.normal_(weight, std=std)


def _is_embedding(model: nn.Module, table: Tensor) -> bool:
    return any(isinstance(module, nn.Embedding) and module.weight is table for module in model.modules())
