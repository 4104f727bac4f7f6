"""Muon: steps with even singular values, Adam for the rest, and one state that a checkpoint can keep."""

import pytest
import torch

from clearformer.model.build import build
from clearformer.model.families import transformer
from clearformer.training.checkpoint import Progress, TrainingState, moments_of, put_moments
from clearformer.training.muon import Muon, layer_matrices, orthogonal
from clearformer.training.optimiser import OptimiserConfig, make_optimiser

MUON = OptimiserConfig(kind="muon")


def model(**changes):
    torch.manual_seed(0)
    sizes = {"vocab_size": 50, "dim": 32, "hidden_dim": 64, "layers": 2, "heads": 2}
    return build(transformer(**sizes | changes)).eval()  # no dropout: two runs see the same


def learn(model, optimiser, steps, first=0, rate=0.01):
    for step in range(first, first + steps):
        generator = torch.Generator().manual_seed(step)
        ids = torch.randint(3, 50, (4, 7), generator=generator)
        loss = torch.nn.functional.cross_entropy(model(ids, ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten())
        loss.backward()
        for group in optimiser.param_groups:
            group["lr"] = rate
        optimiser.step()
        optimiser.zero_grad(set_to_none=True)
    return float(loss.detach())


@pytest.mark.parametrize("shape", [(3, 16, 16), (2, 8, 24), (2, 24, 8)])
def test_singular_values_come_near_one_and_the_vectors_stay(shape):
    given = torch.randn(shape, generator=torch.Generator().manual_seed(1))
    made = orthogonal(given)
    assert made.shape == given.shape
    u, _, vh = torch.linalg.svd(given, full_matrices=False)
    inside = u.mT @ made @ vh.mT  # diagonal, if the singular vectors are the same
    values = inside.diagonal(dim1=1, dim2=2)
    assert values.min() > 0.5
    assert values.max() < 1.5
    assert (inside - torch.diag_embed(values)).abs().max() < 1e-3


def test_nothing_becomes_nothing():
    assert torch.equal(orthogonal(torch.zeros(1, 4, 4)), torch.zeros(1, 4, 4))


def test_the_library_s_own_muon_makes_the_same_steps():
    """torch.optim.Muon works in bfloat16, and its momentum is a sum, not a mean: the scaling takes that out."""
    torch.manual_seed(3)
    ours, theirs = (torch.nn.Parameter(torch.zeros(24, 16)) for _ in range(2))
    rest = torch.optim.AdamW([torch.nn.Parameter(torch.zeros(1))], fused=True)
    mine = Muon([ours], rest, momentum=0.95, decay=0.0)
    library = torch.optim.Muon([theirs], weight_decay=0.0, momentum=0.95, adjust_lr_fn="match_rms_adamw")
    for _ in range(4):
        gradient = torch.randn(24, 16)
        before = ours.detach().clone(), theirs.detach().clone()
        for parameter, optimiser in ((ours, mine), (theirs, library)):
            parameter.grad = gradient.clone()
            for group in optimiser.param_groups:
                group["lr"] = 0.1
            optimiser.step()
        one, other = ours.detach() - before[0], theirs.detach() - before[1]
        assert torch.nn.functional.cosine_similarity(one.flatten(), other.flatten(), dim=0) > 0.999
        assert float(one.norm() / other.norm()) == pytest.approx(1, abs=0.02)


def test_matrices_of_the_layers_are_muon_s_and_the_rest_is_adam_s():
    made = model()
    optimiser = make_optimiser(made, MUON)
    learn(made, optimiser, 1)
    kept = {name.split(".", 1)[1]: set() for name in moments_of(made, optimiser)}
    for name in moments_of(made, optimiser):
        key, parameter = name.split(".", 1)
        kept[parameter].add(key)
    assert kept.keys() == dict(made.named_parameters()).keys()  # nobody is forgotten
    for name, parameter in made.named_parameters():
        inside = ".layers." in name and parameter.dim() == 2
        assert kept[name] == ({"momentum"} if inside else {"step", "exp_avg", "exp_avg_sq"}), name


def test_a_run_that_is_taken_up_again_ends_with_the_same_bits():
    whole = model()
    through = make_optimiser(whole, MUON)
    learn(whole, through, 6)
    first = model()
    begun = make_optimiser(first, MUON)
    learn(first, begun, 3)
    second = model()
    second.load_state_dict(first.state_dict())
    resumed = make_optimiser(second, MUON)
    put_moments(second, resumed, moments_of(first, begun))
    learn(second, resumed, 3, first=3)
    for one, other in zip(whole.parameters(), second.parameters(), strict=True):
        assert torch.equal(one, other)


@pytest.mark.parametrize("kinds", [("adam", "muon"), ("muon", "adam")])
def test_a_run_is_not_taken_up_with_another_optimiser(kinds, tmp_path):
    made = model()
    begun, other = (make_optimiser(made, OptimiserConfig(kind=kind)) for kind in kinds)
    learn(made, begun, 1)
    TrainingState(made, begun, Progress()).save(tmp_path / "one")
    with pytest.raises(ValueError, match=r"another training\.optimiser\.kind; resume with the run's own recipe"):
        TrainingState(made, other, Progress()).load(tmp_path / "one")


def test_it_learns():
    made = model()
    optimiser = make_optimiser(made, MUON)
    before = learn(made, optimiser, 1, rate=0.0)
    for _ in range(10):
        after = learn(made, optimiser, 1, rate=0.01)  # one batch, again and again
    assert after < 0.7 * before


def test_decay_pulls_matrices_towards_zero():
    norms = []
    for decay in (0.0, 0.5):
        made = model()
        optimiser = make_optimiser(made, OptimiserConfig(kind="muon", decay=decay))
        learn(made, optimiser, 3, rate=0.1)
        norms.append(sum(float(matrix.detach().norm()) for matrix in layer_matrices(made)))
    assert norms[1] < norms[0]


def test_a_model_without_layers_is_refused():
    with pytest.raises(ValueError, match="this model has none"):
        make_optimiser(torch.nn.LSTM(4, 4), MUON)


@pytest.mark.parametrize("name", ["momentum", "beta1", "beta2", "ema"])
@pytest.mark.parametrize("value", [-0.1, 1.0, float("nan")])
def test_a_share_of_the_past_is_a_share(name, value):
    with pytest.raises(ValueError, match=rf"training\.optimiser\.{name} is the share of the past"):
        OptimiserConfig(**{name: value})
