"""A published model that labels frames, from its folder to every use: the text is that of the published program."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers as hf

import clearformer as cf
from clearformer.cli.main import main
from clearformer.folder import bundle as bundles
from clearformer.inference.sound_frames import frames_of
from clearformer.interop.importer import import_checkpoint
from clearformer.interop.to_hugging_face import export
from clearformer.run.recipe import begun_with, read_recipe
from clearformer.run.train import train
from clearformer.studio.app import Handlers
from clearformer.studio.requests import PieceRequest, SoundAttentionRequest
from clearformer.studio.runs import Runs
from clearformer.studio.shown_model import ShownModel
from clearformer.training.metrics_log import read_records
from flows.tiny_tasks import TINY
from interop.references import reference
from studio.small_pictures import numbers
from support.spoken import say, write_wave

RATE = 8000
PIECES = ["<pad>", "<s>", "</s>", "<unk>", "|", *"DOREMI"]
SIZES = {
    "vocab_size": len(PIECES), "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2,
    "num_attention_heads": 4, "conv_dim": (12, 10, 14), "conv_stride": (10, 4, 4), "conv_kernel": (20, 8, 4),
    "num_conv_pos_embeddings": 6, "num_conv_pos_embedding_groups": 4,
}  # fmt: skip


def publish(folder: Path, kind: str = "Wav2Vec2ForCTC", norm: str = "group") -> Path:
    """A folder as the library writes it, with random weights; its letters are made likelier, so that it says some."""
    model = reference(kind, hf.Wav2Vec2Config(**SIZES, feat_extract_norm=norm), noise=0.4)
    if kind.endswith("CTC"):
        model.lm_head.weight.data *= 4
        model.lm_head.bias.data[:4] -= 3
    model.save_pretrained(folder)
    (folder / "vocab.json").write_text(json.dumps({piece: number for number, piece in enumerate(PIECES)}))
    hf.Wav2Vec2Processor(
        hf.Wav2Vec2FeatureExtractor(sampling_rate=RATE, return_attention_mask=norm == "layer"),
        hf.Wav2Vec2CTCTokenizer(folder / "vocab.json"),
    ).save_pretrained(folder)
    return folder


@pytest.fixture(scope="module", params=["group", "layer"])
def published(request, tmp_path_factory):
    """(the published folder, ours)."""
    folder = tmp_path_factory.mktemp(request.param)
    publish(folder / "published", norm=request.param)
    import_checkpoint(folder / "published", folder / "ours")
    return folder / "published", folder / "ours"


@torch.no_grad()
def their_text(folder, sound):
    processor = hf.AutoProcessor.from_pretrained(folder)
    ready = processor(sound, sampling_rate=RATE, return_tensors="pt")
    labels = hf.Wav2Vec2ForCTC.from_pretrained(folder).eval()(ready["input_values"]).logits.argmax(-1)
    said = processor.tokenizer.decode(labels[0], skip_special_tokens=False)
    for mark in PIECES[1:4]:
        said = said.replace(mark, "")
    return said.strip()


def test_the_text_is_that_of_the_published_program(published, tmp_path):
    theirs, ours = published
    model, sounds = cf.load(ours), [say("do re mi do", 1), say("re", 2), say("mi mi", 3)]
    together = [one.text for one in model.transcribe(sounds)]
    assert together == [their_text(theirs, sound) for sound in sounds]
    assert any(together)
    assert together == [one.text for sound in sounds for one in model.transcribe(sound)]
    export(ours, tmp_path / "back")
    assert their_text(tmp_path / "back", sounds[0]) == together[0]


def test_any_recording_is_read_or_refused_in_a_sentence(published, tmp_path, capsys):
    _, ours = published
    model = cf.load(ours)
    for count in (0, 1, 239, 240, 241):  # one state is made of 240 samples
        [found] = model.transcribe(np.full(count, 0.1, dtype=np.float32))
        assert found.text == found.text.strip()
    with pytest.raises(ValueError, match="one channel here"):
        model.transcribe(np.zeros((8, 500), dtype=np.float32))
    [long] = model.transcribe(np.random.default_rng(1).normal(0, 0.1, 70 * RATE).astype(np.float32))
    assert len(long.segments) > 2  # thirty seconds at a time
    path = write_wave(tmp_path / "said.wav", say("do re mi", 4))
    assert main(["transcribe", str(path), "--model", str(ours), "--beam", "4", "--words", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert all(0 <= word["start"] <= word["end"] for one in told["segments"] for word in one["words"])


def test_it_is_looked_into(published, capsys):
    _, ours = published
    model, sound = cf.load(ours), say("do re", 1)
    with cf.trace(model) as seen:
        model.transcribe(sound)
    states = (len(sound) - 240) // 160 + 1
    assert seen["encoder.front.heard"].shape == (1, states, 14)
    assert seen["encoder.layers.1.self_attn.weights"].shape == (1, 4, states, states)
    assert main(["inspect", str(ours)]) == 0
    assert "wav2vec2" in capsys.readouterr().out


def test_the_page_of_sound_shows_it(published, tmp_path):
    _, ours = published
    sound = say("do re mi do", 1)
    path = write_wave(tmp_path / "said.wav", sound)
    senses = Handlers(ShownModel(bundles.load(ours), "labels"), Runs([])).senses
    found = senses.sound(path.read_bytes())
    told = senses.sound_piece(PieceRequest(sound=found["sound"], piece=0))
    states = numbers(told["labels"]["shares"]).shape[1]
    assert states == (len(sound) - 240) // 160 + 1
    assert abs(len(numbers(told["frames"])) - 2 * states) <= 4  # two frames of the spectrum for each state
    asked = SoundAttentionRequest(sound=found["sound"], piece=0, layer=1, head=0, token=0)
    assert numbers(senses.sound_attention(asked)["weights"]).shape == (4, states)


def begun(folder: Path, kind: str, *changes: str, capitals: bool = True) -> Path:
    """A few steps from a published model, with transcripts in capitals, as its vocabulary has them."""
    publish(folder / "published", kind)
    import_checkpoint(folder / "published", folder / "ours")
    few = ("training.steps=4", "training.save_every=4", "training.validate_every=4", *changes)
    recipe = read_recipe(TINY["transcription"](folder), few)
    head, *rows = (folder / "spoken.tsv").read_text().splitlines()
    parts = [row.split("\t") for row in rows]
    rows = ["\t".join((name, text.upper() if capitals else text, by)) for name, text, by in parts]
    (folder / "spoken.tsv").write_text("\n".join([head, *rows, ""]))
    return train(begun_with(recipe, folder / "ours"), folder / "out", base=folder)


@pytest.mark.parametrize(
    ("kind", "rank"), [("Wav2Vec2ForCTC", 0), ("Wav2Vec2ForCTC", 2), ("Wav2Vec2Model", 0)], ids=str
)
def test_it_is_trained_further(kind, rank, tmp_path):
    made = cf.load(begun(tmp_path, kind, f"training.tuning.rank={rank}"))
    start = bundles.load(tmp_path / "ours").config
    assert (made.bundle.config.front.kind, made.bundle.config.samples) == ("samples", start.samples)
    sound = say("do re", 9)
    assert frames_of(sound, made.facts).shape == (len(sound),)
    assert isinstance(made.transcribe(sound)[0].text, str)
    losses = [one["loss"] for one in read_records(tmp_path / "out" / "metrics.jsonl") if one["kind"] == "train"]
    assert losses
    assert np.isfinite(losses).all()
    if not rank:
        export(tmp_path / "out" / "model", tmp_path / "back")
        assert their_text(tmp_path / "back", sound) == made.transcribe(sound)[0].text


def test_transcripts_that_its_vocabulary_cannot_write_are_refused(tmp_path):
    with pytest.raises(ValueError, match="most letters of the transcripts; write the transcripts in capitals"):
        begun(tmp_path, "Wav2Vec2ForCTC", capitals=False)
