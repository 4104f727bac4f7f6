"""A folder as OPUS-MT models are converted to: pieces without a start, and SentencePiece models beside them."""

import json
from pathlib import Path

from clearformer.folder import bundle
from clearformer.interop.to_ctranslate2 import convert
from clearformer.model.families import marian
from interop.spm import train_marian
from support.toy_models import decided, vocabulary

SIZES = {"dim": 32, "hidden_dim": 48, "layers": 2, "heads": 4, "init_std": 0.3}
THEIRS = {
    "add_source_bos": False, "add_source_eos": True, "bos_token": "<s>", "decoder_start_token": "<s>",
    "eos_token": "</s>", "layer_norm_epsilon": None, "unk_token": "<unk>",
}  # fmt: skip


def write(folder: Path) -> list[str]:
    """model.bin with the switch for zeros, a list of pieces, and source.spm with target.spm; returns the pieces."""
    folder.mkdir()
    ids = train_marian(folder)
    (folder / "vocab.json").unlink()
    pieces = [piece for piece in sorted(ids, key=ids.__getitem__) if piece != "<pad>"]
    given = decided(marian(vocab_size=len(pieces), **SIZES), vocabulary(), ending=-30.0)
    given.model.head.bias.data[:2] = given.model.head.bias.data.new_tensor([5.5, -30.0])  # </s> and <unk>
    bundle.save(given, folder / "aside")
    convert(folder / "aside", folder / "fast")
    data = bytearray((folder / "fast" / "model.bin").read_bytes())
    begin = data.index(b"decoder/start_from_zero_embedding\0") + len(b"decoder/start_from_zero_embedding\0")
    assert data[begin + 6] == 0  # rank, type and length come first
    data[begin + 6] = 1
    (folder / "model.bin").write_bytes(data)
    (folder / "shared_vocabulary.json").write_text(json.dumps(pieces))
    (folder / "config.json").write_text(json.dumps(THEIRS))
    return pieces
