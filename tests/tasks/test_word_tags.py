"""Tags of words: the record of a task that imported models are used for."""

import clearformer as cf
from clearformer.tasks.word_tags import TASK
from support.every_kind import TEXTS, make


def test_every_word_has_a_tag(tmp_path):
    model = cf.load(make("bert tags", tmp_path / "m"))
    assert isinstance(model, TASK.use)
    tags = model.tag(TEXTS[0])
    assert [tag.word for tag in tags] == TEXTS[0].split()
    assert all(TEXTS[0][tag.start : tag.end] == tag.word for tag in tags)
    assert TASK.verb.line(tags) == " ".join(f"{tag.word}/{tag.label}" for tag in tags)
