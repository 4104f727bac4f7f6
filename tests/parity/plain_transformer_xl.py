"""Transformer-XL read plainly from its paper: one query, one key and one head at a time.

Written out from section 3.3 of Dai et al. (2019). It is slow, shares no code with the package, and gives gradients.
"""

import math

import torch
import torch.nn.functional as F

from model.specimens import DIM, HEADS, LAYERS

WIDTH = DIM // HEADS


def wave(distance):
    """R of the paper: the waves of Vaswani et al., in the halves that its authors' code uses."""
    steps = torch.arange(0, DIM, 2, dtype=torch.float64) / DIM
    angles = distance / 10_000.0**steps
    return torch.cat((angles.sin(), angles.cos())).float()


def attend(x, memory, part):
    """x: T D, memory: P D, the layer's inputs of the segment before. Equation by equation."""
    context = torch.cat((memory, x))
    weight = {name: part[f"self_attn.{name}.weight"] for name in ("q_proj", "k_proj", "v_proj", "out_proj")}
    w_r, u, v = (part[f"self_attn.position.{name}"] for name in ("r_proj.weight", "content_bias", "distance_bias"))
    rows = []
    for i, h_i in enumerate(x):
        heads = []
        for head in range(HEADS):
            cut = slice(head * WIDTH, (head + 1) * WIDTH)
            q, scores, values = weight["q_proj"][cut] @ h_i, [], []
            for j in range(len(memory) + i + 1):
                k, r = weight["k_proj"][cut] @ context[j], w_r[cut] @ wave(len(memory) + i - j)
                scores.append((q @ k + q @ r + u[head] @ k + v[head] @ r) / math.sqrt(WIDTH))  # (a) + (b) + (c) + (d)
                values.append(weight["v_proj"][cut] @ context[j])
            heads.append(torch.stack(scores).softmax(0) @ torch.stack(values))
        rows.append(weight["out_proj"] @ torch.cat(heads))
    return torch.stack(rows)


def plain(state, tokens, memories, length):
    """Logits of one segment, and the memories for the next, at most `length` tokens of each layer's input."""
    table = state["decoder.front.embed.weight"]
    x, kept = table[tokens] * math.sqrt(DIM), []
    for layer in range(LAYERS):
        prefix = f"decoder.layers.{layer}."
        part = {name.removeprefix(prefix): value for name, value in state.items() if name.startswith(prefix)}
        kept.append(torch.cat((memories[layer], x))[-length:])
        total = x + attend(x, memories[layer], part)
        x = F.layer_norm(total, (DIM,), part["self_attn_residual.after.weight"], part["self_attn_residual.after.bias"])
        hidden = torch.relu(x @ part["ffn.up_proj.weight"].mT + part["ffn.up_proj.bias"])
        total = x + hidden @ part["ffn.down_proj.weight"].mT + part["ffn.down_proj.bias"]
        x = F.layer_norm(total, (DIM,), part["ffn_residual.after.weight"], part["ffn_residual.after.bias"])
    return x @ table.mT, kept
