"""Published folders of CLIP and SigLIP, tiny and whole: random weights, a vocabulary, and how pictures are prepared."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import transformers as hf
from tokenizers import pre_tokenizers, trainers
from transformers.models.clip.image_processing_pil_clip import CLIPImageProcessorPil
from transformers.models.siglip.image_processing_pil_siglip import SiglipImageProcessorPil

from clearformer.interop.pair_vocabularies import clip_engine
from interop import spm
from interop.references import reference
from interop.texts import PARTS, mixed_texts

HALF = {"hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 2, "num_attention_heads": 2}
SEEN = HALF | {"image_size": 12, "patch_size": 4}
LIMIT = 48  # tokens of a text
FAMILIES = ("clip", "siglip")
END, START = "<|endoftext|>", "<|startoftext|>"


@cache
def clip_words() -> tuple[dict[str, int], list[tuple[str, str]]]:
    """CLIP's kind of vocabulary, learned from a few texts: pieces with their ids, and merges."""
    engine = clip_engine({}, [], END)
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    trainer = trainers.BpeTrainer(
        vocab_size=700, end_of_word_suffix="</w>", initial_alphabet=letters, show_progress=False
    )
    engine.train_from_iterator(mixed_texts(200) + PARTS + ["a photo of a cat", "a photo of a dog"] * 9, trainer)
    model = json.loads(engine.to_str())["model"]
    ids: dict[str, int] = model["vocab"]
    for piece in (*(f"{letter}</w>" for letter in letters), START, END):
        ids.setdefault(piece, len(ids))
    return ids, [tuple(merge.split(" ")) if isinstance(merge, str) else tuple(merge) for merge in model["merges"]]


def clip_vocabulary(folder: Path) -> Any:
    """vocab.json and merges.txt; returns the published tokenizer of the same."""
    ids, merges = clip_words()
    (folder / "vocab.json").write_text(json.dumps(ids))
    (folder / "merges.txt").write_text("#version: 0.2\n" + "".join(f"{left} {right}\n" for left, right in merges))
    return hf.CLIPTokenizer(vocab=dict(ids), merges=list(merges))


def siglip_vocabulary(folder: Path) -> Any:
    """spiece.model; returns the published tokenizer of the same."""
    spm.train(folder / "spiece.model", pad_id=0, eos_id=1, unk_id=2, bos_id=-1)
    return hf.SiglipTokenizer(str(folder / "spiece.model"))


def clip(folder: Path, **text: Any) -> Any:
    """A published folder of CLIP; returns its model. text: what its table of texts says besides."""
    folder.mkdir(parents=True)
    theirs = clip_vocabulary(folder)
    read = (
        HALF | {"vocab_size": len(theirs), "max_position_embeddings": LIMIT, "eos_token_id": theirs.eos_token_id} | text
    )
    made = reference("CLIPModel", hf.CLIPConfig(text_config=read, vision_config=SEEN, projection_dim=10), noise=0.3)
    made.save_pretrained(folder)
    CLIPImageProcessorPil(size={"shortest_edge": 14}, crop_size={"height": 12, "width": 12}).save_pretrained(folder)
    return made


def siglip(folder: Path) -> Any:
    """A published folder of SigLIP; returns its model."""
    folder.mkdir(parents=True)
    theirs = siglip_vocabulary(folder)
    read = HALF | {"vocab_size": theirs.vocab_size, "max_position_embeddings": LIMIT, "projection_size": 16}
    made = reference("SiglipModel", hf.SiglipConfig(text_config=read, vision_config=SEEN), noise=0.3)
    made.save_pretrained(folder)
    SiglipImageProcessorPil(size={"height": 12, "width": 12}).save_pretrained(folder)
    return made


def published(family: str, folder: Path) -> Any:
    """The folder of either family, with its tokenizer for the published program beside the others; and its model."""
    return {"clip": clip, "siglip": siglip}[family](folder)
