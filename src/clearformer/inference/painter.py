"""Classes in, pictures out: one network and three ways to paint, which the model's folder tells apart.

Out of noise along a straight way, from hidden codes with the surest first, or code by code from left to right. A
picture depends on the seed, its class and its number alone: every pass has the same number of pictures, some of which
may be nobody's, so that its company changes nothing.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from clearformer.data.readers.pictures import Pixels
from clearformer.decoding.flow_sampling import guided, sample_flow
from clearformer.decoding.place_sampling import Gumbel, fill_places, write_places
from clearformer.folder.bundle import Bundle
from clearformer.folder.preprocessing import PictureFacts
from clearformer.foundation.progress import OnProgress, unwatched
from clearformer.inference.painting_settings import PaintingConfig, usual_painting
from clearformer.inference.predictor import describe
from clearformer.inference.wrong_use import wrong_use

Way = Literal["flow", "hidden-places", "left-to-right"]
GROUP = 16  # pictures in each pass
STEPS, STEPS_OF_CODES = 20, 12


@dataclass(frozen=True, kw_only=True)
class PaintingStep:
    """The pictures of a group on their way. share: what is done of it, from 0 to 1.

    guesses: out of noise, what the network takes for the clean pictures. hidden: with codes, the places that are not
    there yet, N T; they look like the book's first patch.
    """

    share: float
    pictures: list[Pixels] = field(repr=False)
    guesses: list[Pixels] | None = field(default=None, repr=False)
    hidden: NDArray[np.bool_] | None = field(default=None, repr=False)


OnStep = Callable[[PaintingStep], None]


@dataclass(frozen=True, kw_only=True)
class Painting:
    """A picture that was painted. label: its class; number: among those of its class."""

    label: str
    number: int
    seed: int
    pixels: Pixels = field(repr=False)


@dataclass(frozen=True)
class _Wanted:
    """A picture that is to be painted."""

    kind: int
    number: int


class Painter:
    """Pictures of a class."""

    def __init__(self, bundle: Bundle) -> None:
        front, halves = bundle.config.front, (0.5,) * bundle.config.front.channels
        if bundle.config.shape != "conditioned":
            raise ValueError(wrong_use(bundle.config, "painting", bundle.task))
        self.bundle, self.model = bundle, bundle.model.eval()
        self.codes = bundle.preprocessing.codes
        if (front.kind == "tokens") != (self.codes is not None):
            raise ValueError("this painter reads codes of patches, and its folder has no book of them; train it anew")
        self.facts = bundle.preprocessing.picture or PictureFacts(
            size=front.picture, channels=front.channels, mean=halves, deviation=halves
        )
        self.way: Way = "flow" if self.codes is None else self.codes.order
        self._any = bundle.config.condition.classes
        self.labels = bundle.labels or tuple(str(number) for number in range(self._any))
        self.provenance = bundle.provenance

    def paint(
        self,
        labels: str | Sequence[str] = (),
        config: PaintingConfig | None = None,
        *,
        on_progress: OnProgress = unwatched,
        on_step: OnStep | None = None,
        **changes: Any,
    ) -> list[Painting]:
        """`count` pictures of each class, in this order; of every class if none is named."""
        chosen = replace(config or usual_painting(self.provenance), **changes)
        named = [labels] if isinstance(labels, str) else list(labels) or list(self.labels)
        wanted = [_Wanted(self._kind(label), number) for label in named for number in range(chosen.count)]
        pictures: list[Painting] = []
        for part in _groups(wanted):
            drawn = self._paint(part, chosen, on_step)
            for one, pixels in zip(part, drawn, strict=False):
                label = self.labels[one.kind]
                pictures.append(Painting(label=label, number=one.number, seed=chosen.seed, pixels=pixels))
            on_progress(len(pictures), len(wanted))
        return pictures

    def _kind(self, label: str) -> int:
        if label not in self.labels:
            raise ValueError(f"this model does not paint {label!r}; it paints {', '.join(self.labels)}")
        return self.labels.index(label)

    @torch.inference_mode()
    def _paint(self, part: Sequence[_Wanted], config: PaintingConfig, on_step: OnStep | None) -> list[Pixels]:
        """A group of pictures, filled up with nobody's to GROUP."""
        filled = [*part, *[_Wanted(self._any, 0)] * (GROUP - len(part))]
        seeds = [(config.seed, one.kind, one.number) for one in filled]
        predict = self._predict(torch.tensor([one.kind for one in filled]), config)

        if self.codes is None:
            return self._from_noise(seeds, config, predict, _for_some(len(part), on_step))[: len(part)]
        return self._from_codes(seeds, config, predict, _for_some(len(part), on_step))[: len(part)]

    def _predict(self, kinds: Tensor, config: PaintingConfig) -> Callable[..., Tensor]:
        """The network, told the class as much as guidance says."""
        nothing = torch.full_like(kinds, self._any)

        def predict(*given: Tensor) -> Tensor:
            first, *times = given
            if config.guidance == 0:
                return self.model(first, nothing, *times)  # type: ignore[no-any-return]
            told = self.model(first, kinds, *times)
            untold = None if config.guidance == 1 else self.model(first, nothing, *times)
            return guided(told, untold, config.guidance)

        return predict

    def _from_noise(
        self,
        seeds: Sequence[tuple[int, ...]],
        config: PaintingConfig,
        predict: Callable[..., Tensor],
        show: OnStep,
    ) -> list[Pixels]:
        shape = (self.facts.channels, self.facts.size, self.facts.size)
        drawn = [np.random.default_rng(seed).standard_normal(shape, dtype=np.float32) for seed in seeds]

        def clean(noisy: Tensor, time: float) -> Tensor:
            return predict(noisy, torch.full((len(noisy),), time)).clamp(-1, 1)

        def seen(time: float, noisy: Tensor, wanted: Tensor) -> None:
            show(PaintingStep(share=time, pictures=self._pixels(noisy), guesses=self._pixels(wanted)))

        noise = torch.from_numpy(np.stack(drawn)) * config.temperature
        found = sample_flow(noise, clean, steps=config.steps or STEPS, seen=seen)
        return self._pixels(found)

    def _from_codes(
        self,
        seeds: Sequence[tuple[int, ...]],
        config: PaintingConfig,
        predict: Callable[..., Tensor],
        show: OnStep,
    ) -> list[Pixels]:
        assert self.codes is not None
        count, places = len(self.codes), (self.facts.size // self.codes.patch) ** 2

        def logits(codes: Tensor) -> Tensor:
            return predict(codes)[..., :count].float()  # behind them stands the code of what is hidden

        def seen(codes: Tensor) -> None:
            hidden = codes == count
            share = 1 - float(hidden.float().mean())
            show(PaintingStep(share=share, pictures=self._patches(codes), hidden=hidden.numpy()))

        given: dict[str, Any] = {
            "count": len(seeds), "places": places, "temperature": config.temperature, "seen": seen,
        }  # fmt: skip
        noise = Gumbel(seeds)
        if self.way == "left-to-right":
            return self._patches(write_places(logits, noise, start=count, **given))
        steps = min(config.steps or STEPS_OF_CODES, places)
        return self._patches(fill_places(logits, noise, hidden=count, steps=steps, **given))

    def _pixels(self, drawn: Tensor) -> list[Pixels]:
        """Numbers from -1 to 1 as bytes."""
        mean, deviation = (torch.tensor(values)[:, None, None] for values in (self.facts.mean, self.facts.deviation))
        shares = (drawn.float() * deviation + mean).clamp(0, 1).permute(0, 2, 3, 1)
        return list((shares * 255).round().to(torch.uint8).numpy())

    def _patches(self, codes: Tensor) -> list[Pixels]:
        """Codes as patches of the book; what is still hidden is the first one's."""
        assert self.codes is not None
        return list(self.codes.decode(torch.where(codes < len(self.codes), codes, 0).numpy()))

    def __repr__(self) -> str:
        size = f"{self.facts.size} × {self.facts.size}"
        return describe(self, f"{self.way}, {len(self.labels)} classes, pictures of {size}")


def _for_some(count: int, on_step: OnStep | None) -> OnStep:
    """Tells of the first `count` pictures of a group; the others are nobody's."""

    def show(step: PaintingStep) -> None:
        if on_step is None:
            return
        on_step(
            PaintingStep(
                share=step.share,
                pictures=step.pictures[:count],
                guesses=None if step.guesses is None else step.guesses[:count],
                hidden=None if step.hidden is None else step.hidden[:count],
            )
        )

    return show


def _groups(wanted: Sequence[_Wanted]) -> Iterator[Sequence[_Wanted]]:
    return (wanted[start : start + GROUP] for start in range(0, len(wanted), GROUP))
