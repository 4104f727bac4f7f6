"""A network whose head no verb uses yet (boxes, masks, pixels, codes): it opens, runs and can be traced."""

from clearformer.inference.plain_network import Network
from clearformer.tasks.task import Task
from clearformer.tasks.verbs import VERBS

TASK = Task(name="network", verb=VERBS["run"], use=Network)
