"""The text and the code."""

from clearformer.lab.comparison import TRANSLATION
from clearformer.lab.experiments.paper_or_code import NORM, PAPER, SITES, VARIANTS, WAVES
from clearformer.lab.trained_networks import Wanted
from clearformer.tasks.model_section import model_config


def test_the_code_is_the_sum_of_its_differences(had_it_been):
    by_name = {one.name: one.changes for one in VARIANTS}
    assert by_name["paper-text"] == PAPER
    assert by_name["t2t-code"] == (*PAPER, *NORM, *WAVES, *SITES)
    alike = {name: {"loss": 3.0} for name in by_name}
    assert had_it_been("paper-or-code", {**alike, "t2t-code": {"loss": 2.5}}) == "does not hold"
    assert had_it_been("paper-or-code", alike) != "does not hold"


def test_both_are_presets_of_the_package():
    for one in (VARIANTS[0], VARIANTS[-1]):
        assert one.name in ("paper-text", "t2t-code")
        written = dict(Wanted(recipe=TRANSLATION, changes=one.changes).read().model)
        sizes = {"dim": 64, "hidden_dim": 256, "layers": 2, "attention": {"heads": 4}, "vocab_size": 1000}
        expected = model_config({"preset": one.name, **sizes}, {})
        assert model_config(written, {"vocab_size": 1000}) == expected
