"""Transcription: sound in, text out, by an encoder–decoder over mel frames. Models can be imported."""

from clearformer.inference.transcriber import Transcriber
from clearformer.tasks.task import Task
from clearformer.tasks.verbs import VERBS

TASK = Task(name="transcription", verb=VERBS["transcribe"], use=Transcriber)
