"""A foreign configuration, key by key: what is missing is named, what is unknown refused, what is assumed told."""

import pytest

from clearformer.interop.config_keys import Keys, label_names, outcome_of


def test_a_size_must_be_there_under_one_of_its_names():
    keys = Keys({"n_embd": 64})
    assert keys.size("hidden_size", "n_embd") == 64
    keys.finish()
    with pytest.raises(ValueError, match="has no hidden_size"):
        Keys({}).size("hidden_size")


@pytest.mark.parametrize("value", [0, -3, 1.5, True, "64", 1 << 40, None])
def test_what_is_no_size_is_refused(value):
    with pytest.raises(ValueError, match="hidden_size"):
        Keys({"hidden_size": value}).size("hidden_size")


def test_a_key_that_nobody_asked_for_may_change_the_mathematics():
    keys = Keys({"model_type": "bert", "hidden_size": 8, "rope_twist": 3, "torch_dtype": "float16"})
    keys.size("hidden_size")
    with pytest.raises(ValueError, match="rope_twist, which the reader for bert does not know"):
        keys.finish()


def test_what_the_file_leaves_open_is_written_down():
    keys = Keys({"activation": "gelu"}, defaults={"activation": "relu", "eps": 1e-12})
    assert keys.choice("activation", {"gelu": "gelu", "relu": "relu"}) == "gelu"
    assert keys.number("eps") == 1e-12
    assert keys.assumed == {"eps": 1e-12}


@pytest.mark.parametrize("key", ["auto_map", "quantization_config", "trust_remote_code", "pruned_heads"])
def test_another_program_s_business_is_refused_at_once(key):
    with pytest.raises(ValueError, match=key):
        Keys({key: {"AutoModel": "evil.py"}})


def test_a_switch_that_no_model_here_has_must_be_off():
    Keys({"fancy": False}).must("fancy", False)
    Keys({}).must("fancy", False)
    with pytest.raises(ValueError, match="fancy is True"):
        Keys({"fancy": True}).must("fancy", False)


@pytest.mark.parametrize(
    ("rate", "fine"), [(0.0, True), (0.5, True), (1.0, False), (-0.1, False), (float("nan"), False)]
)
def test_rates(rate, fine):
    keys = Keys({"dropout": rate})
    if fine:
        assert keys.rate("dropout") == rate
        return
    with pytest.raises(ValueError, match="dropout"):
        keys.rate("dropout")


def test_classes_are_named_in_the_order_of_their_numbers():
    assert label_names({"id2label": {"1": "b", "0": "a"}}) == ["a", "b"]
    assert label_names({"num_labels": 3}) == ["LABEL_0", "LABEL_1", "LABEL_2"]
    with pytest.raises(ValueError, match="without gaps"):
        label_names({"id2label": {"0": "a", "2": "c"}})


@pytest.mark.parametrize(
    ("plain", "kind"),
    [
        ({"num_labels": 3}, "one"),
        ({"num_labels": 1}, "number"),  # as transformers takes it
        ({"num_labels": 3, "problem_type": "multi_label_classification"}, "several"),
        ({"num_labels": 1, "problem_type": "regression"}, "number"),
        ({"num_labels": 3, "problem_type": None}, "one"),
    ],
)
def test_what_a_class_head_means_is_said_by_problem_type(plain, kind):
    assert outcome_of(plain).kind == kind


@pytest.mark.parametrize("value", ["ranking", 3, ["regression"]])
def test_a_problem_that_nobody_knows_is_refused(value):
    with pytest.raises(ValueError, match=r"problem_type .* is none of single_label_classification"):
        outcome_of({"problem_type": value})
