"""Export from the command line: each program gets its folder, and what cannot be is said before anything is written."""

from clearformer.cli.main import main
from clearformer.folder import bundle
from clearformer.folder.bundle import Bundle
from clearformer.model.build import build
from clearformer.model.families import FAMILIES
from interop.folders import bert_folder


def ours(tmp_path):
    bert_folder(tmp_path / "published")
    assert main(["import", str(tmp_path / "published"), str(tmp_path / "ours")]) == 0
    return str(tmp_path / "ours")


def test_there_and_back(tmp_path, capsys):
    model = ours(tmp_path)
    capsys.readouterr()
    assert main(["export", model, str(tmp_path / "theirs"), "--to", "huggingface"]) == 0
    assert capsys.readouterr().out == f"{tmp_path / 'theirs'}\n"
    assert main(["import", str(tmp_path / "theirs"), str(tmp_path / "again")]) == 0
    before, after = ((tmp_path / name / "model.safetensors").read_bytes() for name in ("ours", "again"))
    assert before == after


def test_an_engine_that_does_not_know_the_family_refuses_by_name(tmp_path, capsys):
    config = FAMILIES["gpt2"](vocab_size=40, dim=16, hidden_dim=32, layers=1, heads=2)
    bundle.save(Bundle(config=config, model=build(config)), tmp_path / "gpt2")
    assert main(["export", str(tmp_path / "gpt2"), str(tmp_path / "out"), "--to", "ctranslate2"]) == 1
    assert "ctranslate2" in capsys.readouterr().err.lower()
    assert not (tmp_path / "out").exists()


def test_bits_belong_to_one_target(tmp_path, capsys):
    wanted = ["export", "en-de", str(tmp_path / "out"), "--to", "onnx", "--quantization", "int8"]
    assert main(wanted) == 2
    assert "--quantization is for --to ctranslate2" in capsys.readouterr().err
