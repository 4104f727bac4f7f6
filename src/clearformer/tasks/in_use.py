"""A loaded model as the object for its task, or several as one."""

import logging
from typing import Any

from clearformer.data.chat_text import template_of
from clearformer.folder.bundle import Bundle
from clearformer.foundation import settings
from clearformer.tasks import find_task, name_task

log = logging.getLogger(__name__)


def in_use(bundle: Bundle, *others: Bundle) -> Any:
    """The object with the verb's method. others: models of the same task that decide together with the first."""
    name, *rest = (name_task(one.task, settings.to_plain(one.config)) for one in (bundle, *others))
    task = find_task(name)
    if not others:
        return _chatter(bundle) if _converses(name, bundle) else task.use(bundle)
    for number, other in enumerate(rest, start=2):
        if other != name:
            raise ValueError(f"model {number} cannot join the first, which is for {name}: it is for {other}")
    if task.together is None:
        raise ValueError(f"models for {name} cannot decide together yet; open one of them alone")
    return task.together([bundle, *others])


def _chatter(bundle: Bundle) -> Any:
    """What converses; a model whose template is not one that is read still continues texts, and why is said."""
    try:
        return find_task("conversation").use(bundle)
    except ValueError as error:
        log.warning("this model cannot converse here, and continues texts alone: %s", error)
        return find_task("language-model").use(bundle)


def _converses(name: str, bundle: Bundle) -> bool:
    """A language model that knows how a conversation is written continues texts, and can converse as well."""
    return name == "language-model" and template_of(bundle.preprocessing.chat_template, bundle.provenance) is not None
