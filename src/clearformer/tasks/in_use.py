"""A loaded model as the object for its task, or several as one."""

from typing import Any

from clearformer.folder.bundle import Bundle
from clearformer.foundation import settings
from clearformer.tasks import find_task, name_task


def in_use(bundle: Bundle, *others: Bundle) -> Any:
    """The object with the verb's method. others: models of the same task that decide together with the first."""
    name, *rest = (name_task(one.task, settings.to_plain(one.config)) for one in (bundle, *others))
    task = find_task(name)
    if not others:
        return task.use(bundle)
    for number, other in enumerate(rest, start=2):
        if other != name:
            raise ValueError(f"model {number} cannot join the first, which is for {name}: it is for {other}")
    if task.together is None:
        raise ValueError(f"models for {name} cannot decide together yet; open one of them alone")
    return task.together([bundle, *others])
