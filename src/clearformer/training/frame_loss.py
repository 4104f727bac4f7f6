"""The loss of a label for each frame: CTC (Graves et al., 2006).

B batch, T frames, V vocabulary, L tokens.
"""

import torch.nn.functional as F
from torch import Tensor

from clearformer.training.loss import Loss


def frame_label_loss(logits: Tensor, frames: Tensor, targets: Tensor, lengths: Tensor, *, blank: int) -> Loss:
    """The negative logarithm of what all paths of labels that spell the targets have of the probability, per token.

    logits: B T V; frames: B, how many are real; targets: B L; lengths: B. A row with too few frames for its targets is
    not learned from.
    """
    log_probs = logits.float().log_softmax(dim=-1).transpose(0, 1)  # T B V
    total = F.ctc_loss(log_probs, targets, frames, lengths, blank=blank, reduction="sum", zero_infinity=True)
    return Loss(total, int(lengths.sum()), {"nll": total.detach()})
