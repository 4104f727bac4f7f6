"""A model without a use of its own: tensors in, what the network says out."""

from typing import Any

import torch

from clearformer.folder.bundle import Bundle
from clearformer.inference.predictor import describe


class Network:
    """A loaded folder that is run as it is."""

    def __init__(self, bundle: Bundle) -> None:
        self.bundle, self.model = bundle, bundle.model.eval()

    @torch.inference_mode()
    def run(self, *inputs: Any, **more: Any) -> Any:
        """The output of the network for tensors that it takes."""
        return self.model(*inputs, **more)

    def __repr__(self) -> str:
        return describe(self, f"{self.bundle.config.shape} with a head for {self.bundle.config.head.kind}")
