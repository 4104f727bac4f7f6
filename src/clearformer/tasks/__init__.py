"""Every use of the Transformer as a record of functions, found through one closed table.

A name leads to a file of this folder and to nothing else: nothing registers itself, and no model folder can name code.
"""

import difflib
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from clearformer.tasks.task import Task
    from clearformer.tasks.verbs import Verb

TASKS: dict[str, tuple[str, str]] = {  # the name in config.json and recipes -> the file, and the verb of its models
    "translation": ("translation", "translate"),
    # before those that would take a table of recordings for one of texts
    "transcription": ("transcription", "transcribe"),
    "language-model": ("language_model", "generate"),
    "conversation": ("conversations", "chat"),
    "summarization": ("summaries", "summarize"),
    "text-classification": ("text_classes", "classify"),
    "tagging": ("word_tags", "tag"),
    "question-answering": ("answers", "answer"),
    "embedding": ("embeddings", "embed"),
    "masked-language-model": ("masked_words", "fill"),
    "denoising": ("denoising", "fill"),
    "detection": ("detection", "detect"),
    # before the next: folders named images and masks are no two classes
    "segmentation": ("segmentation", "segment"),
    "picture-classification": ("picture_classes", "classify"),
    "picture-matching": ("picture_matching", "match"),
    "painting": ("painting", "paint"),
    "autoencoding": ("autoencoding", "reconstruct"),
    "network": ("network", "run"),
}

ALSO_CALLED = {  # other names that people may write
    "masked-words": "masked-language-model",
    "summaries": "summarization",
    "infilling": "denoising",
    "span-corruption": "denoising",
}

# Which task a network is for where its folder does not say: (shape, head, front end); None stands for any.
_BY_NETWORK: tuple[tuple[tuple[str | None, str | None, str | None], str], ...] = (
    (("autoencoder", None, "patches"), "autoencoding"),
    (("conditioned", None, None), "painting"),
    (("pair", None, None), "picture-matching"),
    ((None, "class", "patches"), "picture-classification"),
    ((None, "masks", "patches"), "segmentation"),
    (("encoder", "boxes", "patches"), "detection"),
    ((None, "class", "tokens"), "text-classification"),
    ((None, "tags", "tokens"), "tagging"),
    ((None, "span", "tokens"), "question-answering"),
    ((None, "states", "tokens"), "embedding"),
    (("encoder", "language-model", "tokens"), "masked-language-model"),
    (("decoder", "language-model", "tokens"), "language-model"),
    (("encoder-decoder", "language-model", "sound"), "transcription"),
    (("encoder", "language-model", "sound"), "transcription"),
    (("encoder", "language-model", "samples"), "transcription"),
    (("encoder-decoder", "language-model", "tokens"), "translation"),
    (("lstm", "language-model", "tokens"), "translation"),
    (("convolution", "language-model", "tokens"), "translation"),
)


def find_task(name: str) -> "Task":
    """The record of that name."""
    file, _ = _entry(name)
    task: Task = import_module(f"clearformer.tasks.{file}").TASK
    return task


def verb_of(name: str) -> "Verb":
    """The verb that uses the models of a task, without importing what the task needs (PyTorch among it)."""
    from clearformer.tasks.verbs import VERBS

    _, verb = _entry(name)
    return VERBS[verb]


def _entry(name: str) -> tuple[str, str]:
    name = ALSO_CALLED.get(name, name)
    if name not in TASKS:
        near = difflib.get_close_matches(name, TASKS, n=1)
        hint = f"did you mean {near[0]}?" if near else f"known are {', '.join(TASKS)}"
        raise ValueError(f"there is no task {name!r}; {hint}")
    return TASKS[name]


def all_tasks() -> Iterator["Task"]:
    """Every record, in the order of the table."""
    return map(find_task, TASKS)


def name_task(said: str | None, model: Mapping[str, Any]) -> str:
    """The task of a model: what its folder says, or what its network is made for. model: plain configuration."""
    if said is not None:
        return said
    given = (
        model.get("shape", "encoder-decoder"),
        model.get("head", {}).get("kind", "language-model"),
        model.get("front", {}).get("kind", "tokens"),
    )
    for wanted, name in _BY_NETWORK:
        if all(want in (None, have) for want, have in zip(wanted, given, strict=True)):
            return name
    return "network"
