"""One table in two directions: what goes out comes back, and nothing is lost without a word."""

import pytest
import torch

from clearformer.interop.renaming import RenamingTable, Rule, bring, check, give, link, make, pairs, under

RULES = [
    *pairs({"front.embed": "wte", "norm": "ln_f"}),
    *under(
        "layers.*",
        "h.*",
        [
            Rule(("q_proj", "k_proj", "v_proj"), "c_attn", transposed=True),
            Rule("kernel.weight", "conv", shape=(2, 1, 3)),
        ],
    ),
]


class Shelf:
    """A store in memory."""

    def __init__(self, tensors):
        self.tensors = tensors

    @property
    def shapes(self):
        return {name: tuple(tensor.shape) for name, tensor in self.tensors.items()}

    def read(self, name):
        return self.tensors[name]


@pytest.fixture
def weights():
    ours = {"front.embed.weight": torch.randn(5, 4), "norm.weight": torch.randn(4), "norm.bias": torch.randn(4)}
    for layer in range(2):
        ours[f"layers.{layer}.kernel.weight"] = torch.randn(2, 3)
        for part, width in (("q", 4), ("k", 2), ("v", 2)):  # grouped heads: the parts differ in length
            ours[f"layers.{layer}.{part}_proj.weight"] = torch.randn(width, 4)
            ours[f"layers.{layer}.{part}_proj.bias"] = torch.randn(width)
    return ours


def shapes(weights):
    return {name: tuple(tensor.shape) for name, tensor in weights.items()}


def test_there_and_back(weights):
    links, table = link(RULES, weights), RenamingTable(RULES)
    theirs = give(links, weights)
    assert theirs["h.1.c_attn.weight"].shape == (4, 8)
    assert theirs["h.1.c_attn.bias"].shape == (8,)
    assert theirs["h.0.conv"].shape == (2, 1, 3)
    store = Shelf(theirs)
    assert check(links, table, shapes(weights), store) == {}
    back = bring(links, table, shapes(weights), store)
    assert back.keys() == weights.keys()
    assert all(torch.equal(back[name], weights[name]) for name in weights)


def test_the_parts_lie_end_to_end(weights):
    joint = give(link(RULES, weights), weights)["h.0.c_attn.weight"]
    torch.testing.assert_close(joint[:, 4:6], weights["layers.0.k_proj.weight"].mT, rtol=0, atol=0)


def test_our_tensor_without_a_rule(weights):
    with pytest.raises(ValueError, match=r"no place for layers\.0\.rogue\.weight"):
        link(RULES, weights | {"layers.0.rogue.weight": torch.zeros(1)})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t.pop("ln_f.bias"), r"lack ln_f\.bias and have nothing too many"),
        (lambda t: t.update(extra=torch.zeros(1)), "lack nothing and have extra too many"),
        (lambda t: t.update(wte=t.pop("wte.weight")), r"lack wte\.weight and have wte too many"),
        (lambda t: t.update({"wte.weight": torch.zeros(6, 4)}), r"wte\.weight is 6×4, but config\.json asks for 5×4"),
        (lambda t: t.update({"h.0.c_attn.weight": torch.zeros(8, 4)}), r"is 8×4, but config\.json asks for 4×8"),
    ],
)
def test_their_tensors_are_compared_before_they_are_read(weights, change, message):
    links = link(RULES, weights)
    theirs = give(links, weights)
    change(theirs)
    with pytest.raises(ValueError, match=message):
        check(links, RenamingTable(RULES), shapes(weights), Shelf(theirs))


def test_what_is_left_aside_is_named(weights):
    links = link(RULES, weights)
    theirs = give(links, weights) | {"h.0.mask": torch.ones(3)}
    table = RenamingTable(RULES, aside={"h.*.mask": "a triangle of ones"})
    assert check(links, table, shapes(weights), Shelf(theirs)) == {"h.0.mask": "a triangle of ones"}


def test_a_second_copy_must_be_the_same(weights):
    links, table = link(RULES, weights), RenamingTable(RULES, copies={"lm_head": "wte.weight"})
    theirs = give(links, weights)
    bring(links, table, shapes(weights), Shelf(theirs | {"lm_head": theirs["wte.weight"].clone()}))
    with pytest.raises(ValueError, match="lm_head should be the same table"):
        bring(links, table, shapes(weights), Shelf(theirs | {"lm_head": theirs["wte.weight"] + 1}))


@pytest.mark.parametrize("value", [torch.nan, torch.inf])
def test_numbers_that_are_none(weights, value):
    links = link(RULES, weights)
    theirs = give(links, weights)
    theirs["ln_f.weight"][2] = value
    with pytest.raises(ValueError, match=r"ln_f\.weight holds values that are not finite"):
        bring(links, RenamingTable(RULES), shapes(weights), Shelf(theirs))


def test_whole_numbers_are_no_weights(weights):
    links = link(RULES, weights)
    theirs = give(links, weights) | {"ln_f.weight": torch.ones(4, dtype=torch.int8)}
    with pytest.raises(ValueError, match="quantised"):
        bring(links, RenamingTable(RULES), shapes(weights), Shelf(theirs))


def test_what_follows_from_the_configuration_is_made_where_the_file_must_have_it():
    table = RenamingTable([], fixed={"waves": torch.zeros, "mask": torch.ones}, made={"waves": (3, 2)})
    assert make(table).keys() == {"waves"}
    assert torch.equal(make(table)["waves"], torch.zeros(3, 2))
