"""Embeddings: the record of a task that imported models are used for."""

import clearformer as cf
from clearformer.tasks.embeddings import TASK
from support.every_kind import TEXTS, make


def test_a_text_has_one_vector_alone_or_in_company(tmp_path):
    model = cf.load(make("bert states", tmp_path / "m"))
    assert isinstance(model, TASK.use)
    together = model.embed(TEXTS)
    for text, vector in zip(TEXTS, together, strict=True):
        [alone] = model.embed(text)
        assert abs(alone - vector).max() < 1e-5
    assert TASK.verb.line([0.5, -1.0]) == "[0.5, -1]"
