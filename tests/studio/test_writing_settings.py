"""The form, and what is asked for over what the folder says."""

import json

import pytest

from clearformer.inference.translation_settings import DecodingConfig
from clearformer.studio.app import Handlers
from clearformer.studio.runs import Runs
from clearformer.studio.shown_model import ShownModel
from clearformer.studio.writing_settings import SHOWN, fields_of, settings_from

FOLDER = DecodingConfig(beam=7, penalty="gnmt", alpha=0.6, stop="proved")


def test_what_nobody_asks_for_is_as_the_folder_says():
    found = settings_from(FOLDER, {"alpha": 0.9, "temperature": 0.5})
    assert (found.decoding.beam, found.decoding.penalty, found.decoding.stop) == (7, "gnmt", "proved")
    assert (found.decoding.alpha, found.generation.temperature) == (0.9, 0.5)


def test_a_search_shows_all_that_it_finds():
    assert settings_from(FOLDER, {}).decoding.nbest == 7
    assert settings_from(FOLDER, {"beam": 2}).decoding.nbest == 2


def test_the_form_has_help_bounds_and_the_settings_in_force():
    form = {told["name"]: told for told in fields_of(settings_from(FOLDER, {}))}
    assert form.keys() == SHOWN.keys()
    assert all(told["help"] for told in form.values())
    assert (form["beam"]["least"], form["beam"]["most"], form["beam"]["default"]) == (1, 16, 7)
    assert (form["penalty"]["choices"], form["penalty"]["default"]) == (["average", "gnmt"], "gnmt")
    assert form["top_k"]["optional"]
    assert json.loads(json.dumps(list(form.values())))


def test_what_makes_no_sense_together_is_refused():
    with pytest.raises(ValueError, match="alpha must be a number"):
        settings_from(FOLDER, {"alpha": float("nan")})


def test_equal_settings_are_one_key():
    assert hash(settings_from(FOLDER, {})) == hash(settings_from(FOLDER, {"beam": 7}))


def test_the_defaults_of_the_form_are_those_of_the_folder(bundles):
    bundle = bundles["transformer"]
    shown = Handlers(ShownModel(bundle, "transformer"), Runs([])).form()["fields"]
    assert {told["name"]: told["default"] for told in shown}["beam"] == DecodingConfig().beam
