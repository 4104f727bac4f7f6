"""Small models of pictures and recordings, and files for them."""

import base64
import io
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image

from clearformer.folder.bundle import Bundle
from clearformer.folder.preprocessing import Outcome, PictureFacts, Preprocessing
from clearformer.model.build import build
from clearformer.model.config import FrontConfig, HeadConfig, PositionConfig
from clearformer.model.families import convolution, vit
from inference.test_reconstructor import made as autoencoder
from inference.test_segmenter import made as segmenter

SIZES = {"dim": 24, "hidden_dim": 40, "layers": 2, "heads": 4}
LABELS = ("circle", "cross", "line")


def picture_model(*, channels: int = 1, **front: object) -> Bundle:
    """An untrained classifier of pictures of 12 × 12 in patches of 4 × 4, large enough numbers to tell apart."""
    config = vit(
        front=FrontConfig(kind="patches", picture=12, patch=4, channels=channels, **front),
        head=HeadConfig(kind="class", labels=len(LABELS)),
        **SIZES,
    )
    torch.manual_seed(7)
    model = build(config)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.2 * torch.randn_like(parameter))
    facts = PictureFacts(size=12, channels=channels, mean=(0.4,) * channels, deviation=(0.3,) * channels)
    return Bundle(
        config=config,
        model=model.eval(),
        task="picture-classification",
        preprocessing=Preprocessing(labels=LABELS, picture=facts),
    )


def convolution_model() -> Bundle:
    """An untrained classifier of grey pictures that has convolutions alone."""
    config = convolution(
        dim=16,
        layers=2,
        kernel=3,
        position=PositionConfig(kind="none"),
        front=FrontConfig(kind="patches", picture=12, patch=4, channels=1, stem="convolution", class_token=False),
        head=HeadConfig(kind="class", labels=len(LABELS), pool="weighted"),
    )
    facts = PictureFacts(size=12, channels=1, mean=(0.4,), deviation=(0.3,))
    return Bundle(
        config=config,
        model=build(config).eval(),
        task="picture-classification",
        preprocessing=Preprocessing(labels=LABELS, picture=facts),
    )


def box_model() -> Bundle:
    """An untrained detector of colour pictures of 16 × 16 in patches of 4 × 4, which stretches what it is given."""
    config = vit(
        front=FrontConfig(kind="patches", picture=16, patch=4, channels=3, class_token=False),
        head=HeadConfig(kind="boxes", labels=2, pool="mean"),
        init_std=0.5,
        **SIZES,
    )
    torch.manual_seed(3)
    model = build(config)
    with torch.no_grad():
        model.head.speak.classify.weight.mul_(1.2)  # so that scores differ
        model.head.speak.classify.bias.fill_(3)
    facts = PictureFacts(size=16, channels=3, mean=(0.4,) * 3, deviation=(0.3,) * 3, fit="stretch")
    return Bundle(
        config=config,
        model=model.eval(),
        task="detection",
        preprocessing=Preprocessing(labels=("ball", "cube"), picture=facts, outcome=Outcome(threshold=0.01)),
    )


def code_model() -> Bundle:
    """An untrained autoencoder of colour pictures of 6 × 6, with codes of 5 numbers."""
    return replace(autoencoder(), task="autoencoding")


def mask_model(kind: str) -> Bundle:
    """An untrained segmenter of grey pictures in tiles of 16 × 16: of four channels, or of three classes."""
    return segmenter(kind, 4 if kind == "instances" else 3)


def numbers(packed: dict[str, Any]) -> NDArray[Any]:
    """What a page unpacks."""
    name, kind = next((name, kind) for name, kind in (("f32", "<f4"), ("u16", "<u2"), ("u8", "u1")) if name in packed)
    return np.frombuffer(base64.b64decode(packed[name]), kind).reshape(packed["shape"])


def picture_file(*, width: int = 30, height: int = 20, channels: int = 1, kind: str = "PNG") -> bytes:
    """A file with a picture in it."""
    pixels = np.random.default_rng(5).integers(0, 256, (height, width, channels), dtype=np.uint8)
    written = io.BytesIO()
    Image.fromarray(pixels[..., 0] if channels == 1 else pixels).save(written, kind)
    return written.getvalue()
