"""A pair of networks beside the published program: every layer of both halves, the vectors, and the scores."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from clearformer.folder.bundle import Bundle
from clearformer.interop.value_gaps import DisagreementError, Gap, difference
from clearformer.model.config import ModelConfig
from clearformer.model.trace import trace

_PICTURES = 5


class PairGaps(NamedTuple):
    """gaps: by the name of a value, the scores last; same: whether both give a picture the same text."""

    gaps: dict[str, Gap]
    same: tuple[bool, ...]


@torch.no_grad()
def compare_pair(bundle: Bundle, theirs: Any, texts: Sequence[str]) -> PairGaps:
    """The same texts and random pictures through both programs."""
    config = bundle.config
    tokens, pictures = rows_of(bundle, texts), pictures_of(config, _PICTURES)
    with trace(bundle.model.eval(), only=["*front.output", "*layers.*.output", "*head.output"]) as seen:
        scores = bundle.model(pictures, tokens)
    expected = theirs(input_ids=tokens, pixel_values=pictures, output_hidden_states=True)
    halves = {
        "texts": (config.of_texts, expected.text_model_output.hidden_states, expected.text_embeds),
        "pictures": (config.of_pictures, expected.vision_model_output.hidden_states, expected.image_embeds),
    }
    gaps: dict[str, Gap] = {}
    for name, (half, states, vectors) in halves.items():
        if len(states) != half.layers + 1:
            raise DisagreementError(f"transformers returns {len(states)} states of {name} for {half.layers} layers")
        places = ["front", *(f"layers.{number}" for number in range(half.layers))]
        for place, state in zip(places, states, strict=True):
            gaps[f"{name}.{half.shape}.{place}.output"] = difference(seen[f"{name}.{half.shape}.{place}.output"], state)
        mine = torch.nn.functional.normalize(seen[f"{name}.head.output"], dim=-1)
        gaps[f"{name}.vectors"] = difference(mine, vectors)
    gaps["logits"] = difference(scores, expected.logits_per_image)
    return PairGaps(gaps, tuple((scores.argmax(-1) == expected.logits_per_image.argmax(-1)).tolist()))


def pictures_of(config: ModelConfig, count: int) -> Tensor:
    """Random ones, of the size that a model reads."""
    front = config.of_pictures.front
    shape = (count, front.channels, front.picture, front.picture)
    return torch.randn(*shape, generator=torch.Generator().manual_seed(2017))


def rows_of(bundle: Bundle, texts: Sequence[str]) -> Tensor:
    """Texts as ids, filled up to one length; or random ids where there is no vocabulary. What is too long is cut, and
    keeps its end."""
    half, tokenizer = bundle.config.of_texts, bundle.tokenizer
    longest = half.max_len
    if tokenizer is None:
        return torch.randint(half.vocab_size, (len(texts), longest), generator=torch.Generator().manual_seed(2017))
    found = [list(tokenizer.encode(text).ids) for text in texts]
    rows = [row if len(row) <= longest else [*row[: longest - 1], row[-1]] for row in found]
    width = longest if half.head.pool == "slot" else max(map(len, rows))
    pad = tokenizer.special_ids.get("pad", 0)
    return torch.tensor([row + [pad] * (width - len(row)) for row in rows])
