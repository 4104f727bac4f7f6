"""Pictures and texts in one space: vectors of both, and labels that nobody trained. Models can be imported."""

from clearformer.inference.picture_matcher import PictureMatcher
from clearformer.tasks.task import Task
from clearformer.tasks.verbs import VERBS

TASK = Task(name="picture-matching", verb=VERBS["match"], use=PictureMatcher)
