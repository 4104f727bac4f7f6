"""Classes of texts: an encoder with a class head. Models can be imported."""

from clearformer.inference.text_readers import Classifier
from clearformer.tasks.task import Task
from clearformer.tasks.verbs import VERBS

TASK = Task(name="text-classification", verb=VERBS["classify"], use=Classifier)
