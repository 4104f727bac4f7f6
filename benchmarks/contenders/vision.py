"""Vision Transformers of three libraries (options = { library = … }): the same sizes, the same pictures, one clock.

Three cases. Training: forward, cross-entropy, backward, fused AdamW, on a batch that is in memory. The network: from
numbers to logits. Use: from pictures of half as many pixels again on each side to probabilities, as each library's
documentation shows.
"""

import time
from collections.abc import Callable
from importlib import import_module, metadata
from typing import Any, NamedTuple

import numpy as np
import protocol
import torch
from torch import Tensor, nn

RATE = 1e-3
Call = Callable[[], Any]


class Calls(NamedTuple):
    """What is timed, each for one batch."""

    train: Call
    forward: Call
    use: Call
    parameters: int


class Batch(NamedTuple):
    """Pictures as numbers, B 3 Y X, their classes, and larger ones as bytes."""

    pictures: Tensor
    labels: Tensor
    files: list[np.ndarray]


def main() -> None:
    job = protocol.Assignment()
    torch.set_num_threads(job.threads)
    torch.manual_seed(1)
    library, shape = job.options["library"], job.given["shape"]
    calls = LIBRARIES[library](job, made_up(shape, job.given["classes"]))
    facts = {"version": metadata.version(library), "parameters": calls.parameters}
    for name, call in (("training", calls.train), ("the network", calls.forward), ("use", calls.use)):
        clock(job, f"{job.case}, {name}", call, shape["batch"], facts)


def clock(job: protocol.Assignment, case: str, call: Call, pictures: int, facts: dict[str, Any]) -> None:
    for _ in range(protocol.WARM_UP):
        call()
    calls, started, used = 0, time.perf_counter(), time.process_time()
    while (spent := time.perf_counter() - started) < job.seconds:
        call()
        calls += 1
    job.report(case, "pictures", calls * pictures, spent, processor=time.process_time() - used, **facts)


def made_up(shape: dict[str, int], classes: int) -> Batch:
    count, size = shape["batch"], shape["size"]
    side = size * 3 // 2
    files = list(np.random.default_rng(1).integers(0, 256, (count, side, side, 3), dtype=np.uint8))
    return Batch(torch.randn(count, 3, size, size), torch.randint(classes, (count,)), files)


def clearformer(job: protocol.Assignment, batch: Batch) -> Calls:
    """The step of `clearformer train`, which shares a batch out to replicas, and the classifier of a folder."""
    from pathlib import Path

    from clearformer.data.collate import PictureBatch
    from clearformer.folder import bundle
    from clearformer.inference.picture_classifier import PictureClassifier
    from clearformer.tasks.picture_classes import ClassObjective, loss
    from clearformer.training.loop import WithLoss
    from clearformer.training.replicas import Replicas

    opened, learning = (bundle.load(Path(job.given["model_folder"])) for _ in range(2))
    classifier, network = PictureClassifier(opened), opened.model.eval()
    given = PictureBatch(pictures=batch.pictures, labels=batch.labels)
    with_loss = WithLoss(learning.model.train(), lambda net, part: loss(net, part, ClassObjective()))
    replicas = Replicas[PictureBatch](with_loss, job.threads)
    optimiser = torch.optim.AdamW(learning.model.parameters(), lr=RATE, fused=True)

    def learn(part_of: nn.Module, rows: PictureBatch) -> dict[str, float]:
        (part_of(rows).total / len(given)).backward()
        return {}

    def train() -> None:
        replicas.learn(given.split(job.threads), range(job.threads), learn)
        optimiser.step()
        optimiser.zero_grad(set_to_none=True)

    return Calls(
        train=train,
        forward=torch.inference_mode()(lambda: network(batch.pictures)),
        use=lambda: classifier.classify(batch.files, batch=len(batch.files)),
        parameters=count(network),
    )


def transformers(job: protocol.Assignment, batch: Batch) -> Calls:
    """The same weights, with the library's own image processor."""
    from transformers import ViTForImageClassification
    from transformers.models.vit.image_processing_pil_vit import ViTImageProcessorPil

    network, learning = (ViTForImageClassification.from_pretrained(job.given["foreign_folder"]) for _ in range(2))
    network.eval()
    size = network.config.image_size
    processor = ViTImageProcessorPil(size={"height": size, "width": size})

    @torch.inference_mode()
    def use() -> None:
        network(**processor(images=batch.files, return_tensors="pt")).logits.softmax(-1)

    return Calls(
        train=step(learning, lambda: learning(pixel_values=batch.pictures, labels=batch.labels).loss),
        forward=torch.inference_mode()(lambda: network(pixel_values=batch.pictures).logits),
        use=use,
        parameters=count(network),
    )


def timm(job: protocol.Assignment, batch: Batch) -> Calls:
    """Random weights of the same sizes, with the library's transform for evaluation."""
    from PIL import Image
    from timm.data import create_transform

    shape = job.given["shape"]
    sizes = {"img_size": shape["size"], "patch_size": shape["patch"], "embed_dim": shape["dim"]}
    sizes |= {"depth": shape["layers"], "num_heads": shape["heads"], "num_classes": job.given["classes"]}
    kind: Any = import_module("timm.models.vision_transformer").VisionTransformer
    network, learning = kind(**sizes).eval(), kind(**sizes)
    transform: Any = create_transform(input_size=shape["size"], crop_pct=1.0)

    @torch.inference_mode()
    def use() -> None:
        network(torch.stack([transform(Image.fromarray(one)) for one in batch.files])).softmax(-1)

    return Calls(
        train=step(learning, lambda: nn.functional.cross_entropy(learning(batch.pictures), batch.labels)),
        forward=torch.inference_mode()(lambda: network(batch.pictures)),
        use=use,
        parameters=count(network),
    )


def step(model: nn.Module, loss: Callable[[], Tensor]) -> Call:
    """A step of a library that leaves the loop to its users."""
    model.train()
    optimiser = torch.optim.AdamW(model.parameters(), lr=RATE, fused=True)

    def train() -> None:
        loss().backward()
        optimiser.step()
        optimiser.zero_grad(set_to_none=True)

    return train


def count(model: nn.Module) -> int:
    return sum(parameter.numel() for parameter in model.parameters())


LIBRARIES = {"clearformer": clearformer, "transformers": transformers, "timm": timm}

if __name__ == "__main__":
    main()
