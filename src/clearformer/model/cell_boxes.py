"""A head that finds boxes in the states of a picture's patches: every patch is a query.

Learned queries that know no place (DETR) need many thousand pictures until each has found where to look. A patch knows
where it stands: it says how far the centre of an object is from its own and how large the object is, and attention
among the patches lets one of them speak for it. B batch, T patches, D model width, C classes.
"""

import math

import torch
from torch import Tensor, nn

from clearformer.model.trace import note

RARE = -math.log((1 - 0.01) / 0.01)  # logits begin there: nearly every patch is nobody's (Lin et al., 2017)
USUAL = 4.0  # cells: how wide an object is taken to be in the beginning
LARGEST = 2.0  # of the picture's side, beyond which a size does not grow


class Speaker(nn.Module):
    """What each patch says: a score for every class, and a box relative to its cell."""

    def __init__(self, dim: int, classes: int) -> None:
        super().__init__()
        self.classify = nn.Linear(dim, classes)
        self.locate = nn.Sequential(nn.Linear(dim, dim), nn.ReLU(), nn.Linear(dim, 4))

    def forward(self, states: Tensor, centres: Tensor, side: int) -> Tensor:
        """states: B T D; centres: T 2. Returns B T (C + 4)."""
        said = self.locate(states).float()
        places = centres + said[..., :2] / side
        sizes = (said[..., 2:] + math.log(USUAL / side)).clamp(max=math.log(LARGEST)).exp()
        return torch.cat((self.classify(states).float() + RARE, places, sizes), dim=-1)


class CellBoxes(nn.Module):
    """Boxes from patches, without learned queries.

    Returns B T (C + 4): class logits, each for itself, then centre x, centre y, width and height as fractions of the
    picture. While training, a helper says as much beside it, B T 2(C + 4): several of its patches may claim the same
    object, so that more of them learn from each (Jia et al., 2022). It has no part in what the model finds.
    """

    def __init__(self, dim: int, classes: int, *, side: int, helper: bool = False, class_token: bool = True) -> None:
        super().__init__()
        self.classes, self.side, self.start = classes, side, int(class_token)
        self.speak = Speaker(dim, classes)
        self.helper = Speaker(dim, classes) if helper else None

    def forward(self, states: Tensor, keep: Tensor | None = None) -> Tensor:
        patches = states[:, self.start :]
        centres = cell_centres(self.side, patches.device)
        found: Tensor = self.speak(patches, centres, self.side)
        note(self, "boxes", found[..., self.classes :])
        if self.helper is None or not self.training:
            return found
        return torch.cat((found, self.helper(patches, centres, self.side)), dim=-1)


def cell_centres(side: int, device: torch.device) -> Tensor:
    """The middle of each patch, row by row, as fractions of the picture: T 2. side: patches in a row."""
    steps = (torch.arange(side, device=device) + 0.5) / side
    down, across = torch.meshgrid(steps, steps, indexing="ij")
    return torch.stack((across.flatten(), down.flatten()), dim=1)
