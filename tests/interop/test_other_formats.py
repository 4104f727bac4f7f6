"""A format that is not opened is named in the refusal, with what to do."""

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


def test_weights_of_pytorch_that_do_not_say_what_they_are(tmp_path):
    torch.save({"args": None, "model": {"encoder.weight": torch.zeros(2)}}, tmp_path / "checkpoint_best.pt")
    for source in (tmp_path, tmp_path / "checkpoint_best.pt"):
        with pytest.raises(ValueError, match=r"checkpoint_best\.pt holds weights of PyTorch \(a fairseq checkpoint"):
            read_checkpoint(source)


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
