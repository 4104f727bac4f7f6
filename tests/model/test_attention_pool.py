"""Attention pooling: one trained query gathers what it matches, from real states alone, in no order."""

import torch

from clearformer.model.attention import Attention
from clearformer.model.attention_pool import AttentionPool
from clearformer.model.layers import FeedForward, pre_norm
from clearformer.model.trace import trace
from model.specimens import close, configured

B, T, D = 2, 5, 8
STATES = torch.randn(B, T, D, generator=torch.Generator().manual_seed(0))


def pool():
    torch.manual_seed(0)
    made = AttentionPool(
        D, attn=Attention(D, heads=2), ffn=FeedForward(D, 12), residual=pre_norm(lambda: torch.nn.LayerNorm(D))
    )
    torch.nn.init.normal_(made.query)
    return made.eval()


def test_one_vector_by_hand():
    """Of a single state nothing is chosen: its value goes through the projections and the feed-forward part."""
    made, one = pool(), STATES[:, :1]
    gathered = made.attn.out_proj(made.attn.v_proj(one))
    close(made(one), (gathered + made.ffn(made.ffn_residual.before(gathered)))[:, 0])


def test_the_order_of_the_states_is_invisible():
    made = pool()
    close(made(STATES), made(STATES[:, torch.randperm(T)]))


def test_padding_changes_nothing():
    made, keep = pool(), torch.tensor([[True] * 3 + [False] * 2, [True] * T])
    close(made(STATES, keep)[0], made(STATES[:1, :3])[0])


def test_what_the_query_looks_at_can_be_traced():
    made = pool()
    with trace(made) as seen:
        made(STATES)
    assert seen["attn.weights"].shape == (B, 2, 1, T)
    close(seen["attn.weights"].sum(-1), torch.ones(B, 2, 1))


def test_a_class_may_be_read_off_it():
    """The pool is a word of a configuration, for a class as for a vector."""
    from clearformer.model.build import build
    from clearformer.model.config import HeadConfig

    model = build(configured("vit", head=HeadConfig(kind="class", labels=3, pool="attention")))
    assert isinstance(model.head.pool, AttentionPool)
    assert model(torch.randn(2, 3, 8, 8)).shape == (2, 3)
