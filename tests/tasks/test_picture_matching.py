"""The task of pairs: found by the network alone, used by one command, and not trained here."""

from clearformer.folder.bundle import Bundle
from clearformer.inference.picture_matcher import PictureMatcher
from clearformer.inference.reading_settings import MatchConfig
from clearformer.model.build import build
from clearformer.model.described import described
from clearformer.tasks import name_task, verb_of
from clearformer.tasks.in_use import in_use
from clearformer.tasks.picture_matching import TASK
from model.specimens import PAIRS


def test_a_pair_is_found_by_its_network():
    for config in PAIRS.values():
        assert name_task(None, described(config)) == TASK.name
        assert isinstance(in_use(Bundle(config=config, model=build(config))), PictureMatcher)


def test_one_command_with_labels():
    verb = verb_of(TASK.name)
    assert (verb.name, verb.options, TASK.training) == ("classify", MatchConfig, None)
    assert "--labels" in verb.example
