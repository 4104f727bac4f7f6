"""A tag for each word of a text: an encoder with a head over tokens. Models can be imported."""

from clearformer.inference.text_readers import Tagger
from clearformer.tasks.task import Task
from clearformer.tasks.verbs import VERBS

TASK = Task(name="tagging", verb=VERBS["tag"], use=Tagger)
