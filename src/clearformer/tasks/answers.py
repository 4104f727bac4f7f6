"""Answers to questions: where in a text the answer stands. Models can be imported."""

from clearformer.inference.text_readers import Answerer
from clearformer.tasks.task import Task
from clearformer.tasks.verbs import VERBS

TASK = Task(name="question-answering", verb=VERBS["answer"], use=Answerer)
