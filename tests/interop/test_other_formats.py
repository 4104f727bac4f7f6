"""A format that is not opened is named in the refusal, with what to do."""

import struct

import pytest
import torch

from clearformer.interop.importer import read_checkpoint
from clearformer.interop.other_formats import refusal


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("model.onnx", "is an ONNX graph, which is not opened here; import the folder that it was exported from"),
        ("tf_model.h5", "is TensorFlow weights"),
        ("bert_model.ckpt.index", "is a TensorFlow checkpoint"),
        ("saved_model.pb", "is a TensorFlow graph"),
        ("flax_model.msgpack", "is Flax weights"),
    ],
)
def test_a_file_or_a_folder_with_it(name, sentence, tmp_path):
    (tmp_path / name).write_bytes(b"numbers")
    for source in (tmp_path, tmp_path / name):
        with pytest.raises(ValueError, match=sentence):
            read_checkpoint(source)


WHISPER = {"dims": {"n_mels": 80, "n_audio_ctx": 1500}, "model_state_dict": {"encoder.conv1.weight": torch.zeros(2)}}
FAIRSEQ = {"encoder.embed_tokens.weight": torch.zeros(2), "decoder.layers.0.fc1.weight": torch.zeros(2)}
LAYERS = torch.nn.TransformerEncoderLayer(8, 2, 16).state_dict()
OF_PYTORCH = {
    "checkpoint_best.pt": ({"args": None, "model": FAIRSEQ}, "is a checkpoint of fairseq; convert it"),
    "checkpoint_last.pt": ({"cfg": {"a": 1}, "model": FAIRSEQ}, "is a checkpoint of fairseq; convert it"),
    "model.pt": (LAYERS, r"is a state_dict of torch\.nn's own Transformer layers"),
    "epoch=1.ckpt": ({"pytorch-lightning_version": "2", "state_dict": LAYERS}, "is a checkpoint of Lightning"),
    "my-whisper.pt": (WHISPER, "is a Whisper of OpenAI's; give the folder"),
    "other.pth": ({"weight": torch.zeros(2)}, r"holds weights of PyTorch \(a fairseq checkpoint"),
}


@pytest.mark.parametrize("is_old", [False, True])
@pytest.mark.parametrize("name", OF_PYTORCH)
def test_weights_of_pytorch_that_do_not_say_what_they_are(name, is_old, tmp_path):
    content, sentence = OF_PYTORCH[name]
    torch.save(content, tmp_path / name, _use_new_zipfile_serialization=not is_old)
    for source in (tmp_path, tmp_path / name):
        with pytest.raises(ValueError, match=rf"{name} {sentence}"):
            read_checkpoint(source)


def test_weights_that_were_saved_on_another_device_are_named_all_the_same(tmp_path):
    """The device is a word in the list of contents, which is searched and never run."""
    torch.save(LAYERS, tmp_path / "model.pt", _use_new_zipfile_serialization=False)
    content = (tmp_path / "model.pt").read_bytes()
    assert b"cpu" in content
    (tmp_path / "model.pt").write_bytes(content.replace(b"\x03\x00\x00\x00cpu", b"\x06\x00\x00\x00cuda:0"))
    with pytest.raises(ValueError, match=r"is a state_dict of torch\.nn's own"):
        read_checkpoint(tmp_path)


def test_an_archive_that_is_damaged_is_still_refused_in_a_sentence(tmp_path):
    (tmp_path / "model.pt").write_bytes(b"PK\x03\x04" + bytes(100))
    with pytest.raises(ValueError, match=r"model\.pt holds weights of PyTorch"):
        read_checkpoint(tmp_path)


def test_a_model_of_llama2c_without_its_tokenizer(tmp_path):
    """Seven sizes, then as many numbers as they ask for; other bytes are no such model."""
    sizes, numbers = (8, 16, 1, 2, 1, 10, 4), 10 * 8 + (2 * 64 + 2 * 32 + 3 * 128) + 3 * 8 + 4 * 4
    (tmp_path / "model.bin").write_bytes(struct.pack("<7i", *sizes) + bytes(4 * numbers))
    for source in (tmp_path, tmp_path / "model.bin"):
        with pytest.raises(ValueError, match=r"model\.bin is a model of llama2\.c, .*give the folder"):
            read_checkpoint(source)
    (tmp_path / "model.bin").write_bytes(bytes(400))
    assert refusal(tmp_path) is None


@pytest.mark.parametrize("name", ["model.safetensors", "weights.npz"])
def test_tensors_alone_want_their_folder(name, tmp_path):
    (tmp_path / name).write_bytes(b"numbers")
    with pytest.raises(ValueError, match="alone, which is not opened here; give the folder that also holds"):
        read_checkpoint(tmp_path / name)
    assert refusal(tmp_path) is None


def test_an_onnx_export_beside_a_config_json(tmp_path):
    """As hubs of JavaScript have them: the configuration is there, the weights are a graph."""
    (tmp_path / "config.json").write_text('{"model_type": "bert"}')
    (tmp_path / "onnx").mkdir()
    (tmp_path / "onnx" / "model.onnx").write_bytes(b"graph")
    with pytest.raises(ValueError, match="is an ONNX graph"):
        read_checkpoint(tmp_path)


def test_what_nobody_knows_has_no_sentence(tmp_path):
    (tmp_path / "notes.txt").write_text("hello")
    assert refusal(tmp_path) is None
    with pytest.raises(ValueError, match=r"config\.json does not exist"):
        read_checkpoint(tmp_path)
