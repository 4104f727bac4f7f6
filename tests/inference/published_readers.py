"""Small random BERTs as published checkpoints, opened for a reader."""

import torch

from clearformer.interop.importer import read_hugging_face
from interop.folders import bert_folder


def opened(folder, head, architecture):
    torch.manual_seed(0)
    names = {str(number): f"kind {number}" for number in range(head.labels)}
    bert_folder(folder, head, architecture, **({"id2label": names} if head.kind in ("class", "tags") else {}))
    return read_hugging_face(folder).bundle
