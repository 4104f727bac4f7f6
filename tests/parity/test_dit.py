"""The conditioned stack against the formulas of Peebles and Xie (2023), written out with PyTorch's own operations."""

import math

import torch
import torch.nn.functional as F

from model.specimens import close, specimen


def drawn_by_hand(w, pictures, kinds, times, *, dim=32, heads=4, layers=2, patch=4):
    """Patches, adaptive norms, attention and the way back to pixels. w: the weights by name."""

    def linear(x, name):
        return F.linear(x, w[f"{name}.weight"], w[f"{name}.bias"])

    count, channels, size, _ = pictures.shape
    side = size // patch
    rows = (
        pictures.reshape(count, channels, side, patch, side, patch).permute(0, 2, 4, 1, 3, 5).flatten(3).flatten(1, 2)
    )
    x = linear(rows, "encoder.front.patch_proj") + w["encoder.front.position.table.weight"][: side * side]
    turns = torch.exp(math.log(1000.0) * torch.arange(dim // 2) / (dim // 2 - 1))
    angles = times[:, None] * turns
    time = torch.cat((angles.sin(), angles.cos()), dim=-1)
    time = linear(F.silu(linear(time, "encoder.told.time_proj.0")), "encoder.told.time_proj.2")
    told = w["encoder.told.embed.weight"][kinds] + time
    told = linear(F.silu(told), "encoder.modulate").reshape(count, 8, 1, dim)

    def adapted(y, shift, scale, norm):
        normed = F.layer_norm(y, (dim,), w[f"{norm}.weight"], w[f"{norm}.bias"], 1e-6)
        return normed * (1 + scale) + shift

    for layer in range(layers):
        name = f"encoder.layers.{layer}"
        first = told[:, :3] + w[f"{name}.self_attn_residual.offsets"][:, None]
        y = adapted(x, first[:, 0], first[:, 1], f"{name}.self_attn_residual.before")
        q, k, v = (
            linear(y, f"{name}.self_attn.{one}_proj").reshape(count, -1, heads, dim // heads).transpose(1, 2)
            for one in "qkv"
        )
        y = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2)
        x = x + first[:, 2] * linear(y, f"{name}.self_attn.out_proj")
        second = told[:, 3:6] + w[f"{name}.ffn_residual.offsets"][:, None]
        y = adapted(x, second[:, 0], second[:, 1], f"{name}.ffn_residual.before")
        y = linear(F.gelu(linear(y, f"{name}.ffn.up_proj"), approximate="tanh"), f"{name}.ffn.down_proj")
        x = x + second[:, 2] * y
    x = linear(adapted(x, told[:, 6], told[:, 7], "encoder.norm"), "head.paint")
    return x.reshape(count, side, side, channels, patch, patch).permute(0, 3, 1, 4, 2, 5).reshape(pictures.shape)


@torch.no_grad()
def test_the_same_pictures_as_by_hand():
    torch.manual_seed(1)
    painter = specimen("dit")
    pictures, kinds, times = torch.randn(3, 3, 8, 8), torch.tensor([0, 2, 3]), torch.tensor([0.0, 0.4, 0.95])
    close(painter(pictures, kinds, times), drawn_by_hand(painter.state_dict(), pictures, kinds, times))
