"""Texts as vectors: an encoder without a head. Models can be imported."""

from clearformer.inference.text_readers import Embedder
from clearformer.tasks.task import Task
from clearformer.tasks.verbs import VERBS

TASK = Task(name="embedding", verb=VERBS["embed"], use=Embedder)
