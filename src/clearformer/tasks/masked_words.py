"""Masked language model: an encoder that says which words fit at [MASK]. Models can be imported."""

from clearformer.inference.word_filler import WordFiller
from clearformer.tasks.task import Task
from clearformer.tasks.verbs import VERBS

TASK = Task(name="masked-language-model", verb=VERBS["fill"], use=WordFiller)
