"""Whole files through the converter: what PyTorch writes comes out equal, what attackers write does nothing."""

import io
import json
import os
import pickle
import struct
import zipfile
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from torch import nn

from clearformer.decoding.greedy import greedy
from clearformer.decoding.rules import Rules
from clearformer.inference.steppers import Seq2SeqStepper, pad_sources
from clearformer.interop import torch_files
from clearformer.interop.imported import assemble
from clearformer.interop.renaming import RenamingTable, Rule, pairs, under
from clearformer.interop.tensor_files import Safetensors, open_weights
from clearformer.model.config import EmbeddingConfig, HeadConfig, NormConfig
from clearformer.model.families import transformer
from clearformer.model.positions import Sinusoidal
from support.registry_weights import weights


def state() -> dict[str, torch.Tensor]:
    """Every way in which a tensor can lie in its storage."""
    torch.manual_seed(1)
    table = torch.randn(6, 4)
    return {
        "plain": table,
        "tied": table,
        "transposed": torch.randn(3, 4).mT,
        "expanded": torch.randn(1, 5).expand(3, 5),
        "half": torch.randn(4).half(),
        "brain": torch.randn(2, 3, 4).bfloat16().permute(2, 0, 1),
        "double": torch.randn(2).double(),
        "single": torch.tensor(3.0),
        "numbers": torch.arange(9)[2:7:2],
        "flags": torch.tensor([True, False]),
        "nothing": torch.zeros(0, 3),
        "parameter": nn.Parameter(torch.randn(2)),
    }


@pytest.mark.parametrize("zipped", [True, False], ids=["since 2020", "before 2020"])
def test_what_pytorch_writes_comes_out_equal(zipped, tmp_path):
    given = state()
    torch.save(given, tmp_path / "m.pt", _use_new_zipfile_serialization=zipped)
    assert torch_files.can_read(tmp_path / "m.pt")
    torch_files.convert(tmp_path / "m.pt", tmp_path / "m.safetensors")
    found = load_file(tmp_path / "m.safetensors")
    assert found.keys() == given.keys()
    for name, value in given.items():
        assert found[name].dtype == value.dtype, name
        assert torch.equal(found[name], value), name


def test_a_module_s_state_and_a_training_script_s_file_are_read(tmp_path):
    module = nn.Linear(3, 2)
    torch.save(module.state_dict(), tmp_path / "a.pt")
    torch.save({"epoch": 3, "state_dict": module.state_dict(), "loss": 0.5}, tmp_path / "b.pt")
    for name in ("a", "b"):
        torch_files.convert(tmp_path / f"{name}.pt", tmp_path / f"{name}.safetensors")
        assert torch.equal(load_file(tmp_path / f"{name}.safetensors")["weight"], module.weight)


def test_parts_that_an_index_names_become_one_file(tmp_path):
    torch.save({"a": torch.ones(2)}, tmp_path / "pytorch_model-00001-of-00002.bin")
    torch.save({"b": torch.zeros(3)}, tmp_path / "pytorch_model-00002-of-00002.bin")
    index = {"weight_map": {"a": "pytorch_model-00001-of-00002.bin", "b": "pytorch_model-00002-of-00002.bin"}}
    (tmp_path / "pytorch_model.bin.index.json").write_text(json.dumps(index))
    with open_weights(tmp_path) as store:
        assert dict(store.shapes) == {"a": (2,), "b": (3,)}
        assert torch.equal(store.read("b"), torch.zeros(3))


@pytest.mark.parametrize("file", ["../../etc/passwd.bin", "/etc/x.bin", "a\\b.bin", "weights.pt"])
def test_an_index_names_files_of_its_own_folder_only(file, tmp_path):
    (tmp_path / "pytorch_model.bin.index.json").write_text(json.dumps({"weight_map": {"a": file}}))
    with pytest.raises(ValueError, match=r"which is not a \.bin file of this folder; refused"):
        torch_files.convert(tmp_path / "pytorch_model.bin.index.json", tmp_path / "out")


# ---- files that mean harm -------------------------------------------------------------------------------------------


class Harm:
    """An object that runs something when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self):
        return os.system, (f"touch {self.path}",)


def archive(members: dict[str, bytes], compression: int = zipfile.ZIP_STORED) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", compression) as file:
        for name, value in members.items():
            file.writestr(name, value)
    return content.getvalue()


def described(
    count: int = 4, shape: tuple[int, ...] = (4,), size: int | None = 16, kind: str = "FloatStorage"
) -> bytes:
    """A file that PyTorch would take for one of its own, with numbers of our choice."""
    torch_names = f"ctorch._utils\n_rebuild_tensor_v2\n((X\x07\0\0\0storagectorch\n{kind}\nX\x01\0\0\x000X\x03\0\0\0cpu"
    dims = b"(" + b"".join(b"\x8a\x08" + struct.pack("<q", length) for length in shape) + b"t"
    ones = b"(" + b"K\x01" * len(shape) + b"t"
    storage = b"\x8a\x08" + struct.pack("<q", count) + b"tQK\x00" + dims + ones + b"\x89}tR"
    description = b"\x80\x02}X\x01\0\0\0w" + torch_names.encode() + storage + b"s."
    return archive({"m/data.pkl": description} | ({} if size is None else {"m/data/0": bytes(size)}))


def hostile(tmp_path: Path) -> dict[str, tuple[bytes, str]]:
    ran = tmp_path / "it-ran"
    good = io.BytesIO()
    torch.save(state(), good)
    old = io.BytesIO()
    torch.save(state(), old, _use_new_zipfile_serialization=False)
    nested = b"\x80\x02" + b"]" * 100_000 + b"a" * 99_999 + b"."
    laughs = b"\x80\x02]q\x00" + b"".join(b"]h%cah%cah%caq%c" % (n, n, n, n + 1) for n in range(40)) + b"."
    return {
        "a command": (pickle.dumps(Harm(ran)), r"would call (posix|os|nt)\.system"),
        "a command among tensors": (
            archive({"m/data.pkl": pickle.dumps({"w": Harm(ran)}, protocol=2)}), r"would call (posix|os|nt)\.system",
        ),
        "a command in a tensor's hooks": (
            archive({"m/data.pkl": b"\x80\x02cposix\nsystem\nX\x04\0\0\0true\x85R."}), r"would call posix\.system",
        ),
        "an import by name": (archive({"m/data.pkl": b"cantigravity\nfly\n)R."}), r"would call antigravity\.fly"),
        "a compressed archive": (archive({"m/data.pkl": b"N."}, zipfile.ZIP_DEFLATED), "it is compressed"),
        "a zip bomb": (
            archive({"m/data.pkl": b"N.", "m/data/0": bytes(50 << 20)}, zipfile.ZIP_DEFLATED), "decompresses to more",
        ),
        "another archive": (archive({"word/document.xml": b"<x/>"}), "not one of PyTorch's"),
        "half an archive": (good.getvalue()[: len(good.getvalue()) // 2], "not a whole archive"),
        "half an old file": (old.getvalue()[: len(old.getvalue()) - 20], "ends early"),
        "an empty file": (b"", "it is empty"),
        "a text": (b"hello, this is no model", "damaged|uses"),
        "a list": (archive({"m/data.pkl": b"]."}), "does not hold a dictionary of tensors"),
        "no tensors": (archive({"m/data.pkl": b"}."}), "holds no tensors"),
        "a missing storage": (described(size=None), "it has no m/data/0"),
        "a storage that is too short": (described(size=8), "has 8 bytes, which is not what the description says"),
        "2^62 numbers": (described(count=1 << 62, shape=(1 << 62,)), "which is not what the description says"),
        "a tensor beyond its storage": (described(shape=(5,)), "reaches beyond its storage"),
        "an unknown storage": (described(kind="QUInt8Storage"), "unknown kind 'QUInt8Storage'"),
        "lists a hundred thousand deep": (archive({"m/data.pkl": nested}), "does not hold a dictionary"),
        "lists that triple forty times": (archive({"m/data.pkl": laughs}), "does not hold a dictionary"),
        "another byte order": (archive({"m/data.pkl": b"N.", "m/byteorder": b"big"}), "big-endian"),
    }  # fmt: skip


NAMES = list(hostile(Path("/nowhere")))


@pytest.mark.timeout(60)
@pytest.mark.parametrize("name", NAMES)
def test_a_hostile_file_is_refused_in_a_sentence_and_nothing_runs(name, tmp_path):
    content, sentence = hostile(tmp_path)[name]
    path = tmp_path / "pytorch_model.bin"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=rf"pytorch_model\.bin: .*(?:{sentence}).*; refused") as refused:
        torch_files.convert(path, tmp_path / "out.safetensors")
    assert "\n" not in str(refused.value)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["pytorch_model.bin"]  # nothing ran, nothing was written


def test_a_file_that_takes_too_long_is_ended(tmp_path, monkeypatch):
    torch.save({"a": torch.ones(1)}, tmp_path / "m.pt")
    sleeper = tmp_path / "sleep.py"
    sleeper.write_text("import time; time.sleep(60)")
    monkeypatch.setattr(torch_files, "PROGRAM", sleeper)
    monkeypatch.setattr(torch_files, "_SECONDS", 0.2)
    with pytest.raises(ValueError, match="takes longer than a file of its size can need; refused"):
        torch_files.convert(tmp_path / "m.pt", tmp_path / "out")


def test_a_file_that_takes_too_much_memory_is_ended(tmp_path, monkeypatch):
    torch.save({"a": torch.ones(1)}, tmp_path / "m.pt")
    glutton = tmp_path / "glutton.py"
    program = torch_files.PROGRAM.read_text(encoding="utf-8")
    glutton.write_text(
        program.replace("    out, *sources = map", "    give_up(0); x = bytearray(1 << 30)\n    out, *sources = map")
    )
    monkeypatch.setattr(torch_files, "PROGRAM", glutton)
    with pytest.raises(ValueError, match="refused"):
        torch_files.convert(tmp_path / "m.pt", tmp_path / "out")


def test_other_files_are_not_taken_for_it(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"PK\x03\x04")
    (tmp_path / "a.bin").write_bytes(b"\x06\0\0\0")
    assert not torch_files.can_read(tmp_path / "a.txt")
    assert not torch_files.can_read(tmp_path / "a.bin")
    assert not torch_files.can_read(tmp_path)
    with pytest.raises(ValueError, match=r"gone\.pt does not exist"):
        torch_files.convert(tmp_path / "gone.pt", tmp_path / "out")


# ---- a real file ----------------------------------------------------------------------------------------------------


def nn_transformer_names() -> RenamingTable:
    """How `torch.nn.Transformer` calls its parts."""

    def attention(ours: str, theirs: str) -> list[Rule]:
        joined = tuple(f"{ours}.{letter}_proj" for letter in "qkv")
        weights_and_bias = [
            Rule(tuple(f"{part}.{last}" for part in joined), f"{theirs}.in_proj_{last}") for last in ("weight", "bias")
        ]
        return [*weights_and_bias, Rule(f"{ours}.out_proj", f"{theirs}.out_proj")]

    ffn = pairs({"ffn.up_proj": "linear1", "ffn.down_proj": "linear2"})
    encoder = [*attention("self_attn", "self_attn"), *ffn]
    encoder += pairs({"self_attn_residual.after": "norm1", "ffn_residual.after": "norm2"})
    decoder = [*attention("self_attn", "self_attn"), *attention("cross_attn", "multihead_attn"), *ffn]
    decoder += pairs(
        {"self_attn_residual.after": "norm1", "cross_attn_residual.after": "norm2", "ffn_residual.after": "norm3"}
    )
    rules = pairs({"encoder.norm": "transformer.encoder.norm", "decoder.norm": "transformer.decoder.norm"})
    rules += under("encoder.layers.*", "transformer.encoder.layers.*", encoder)
    rules += under("decoder.layers.*", "transformer.decoder.layers.*", decoder)
    rules += pairs({"head.table": "output_proj.weight", "head.bias": "output_proj.bias"})
    return RenamingTable(
        [*rules, Rule("encoder.front.embed", "embed.char_embed")],
        aside={"embed.pos_encoding": "waves, which follow from the sizes"},
    )


@pytest.mark.network
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:enable_nested_tensor")
def test_a_published_state_dict_of_torch_nn_transformer_sets_stress_marks(tmp_path):
    """Our model with the converted weights says what PyTorch's own module says, and both know where the stress is."""
    folder = weights("ruaccent")
    torch_files.convert(folder / "acc_model.pt", tmp_path / "model.safetensors")
    vocabulary = json.loads((folder / "vocab.json").read_text(encoding="utf-8"))
    letters = {number: letter for letter, number in vocabulary.items()}
    config = transformer(
        vocab_size=len(vocabulary),
        dim=256,
        hidden_dim=1024,
        layers=4,
        heads=8,
        norm=NormConfig(place="post", final=True),
        embedding=EmbeddingConfig(scale=True, tie="inputs"),
        head=HeadConfig(bias=True),
    )
    store = Safetensors({"model.safetensors": tmp_path / "model.safetensors"})
    ours, aside = assemble(config, nn_transformer_names(), store)
    assert list(aside) == ["embed.pos_encoding"]
    source = [[1, *(vocabulary[letter] for letter in text), 2] for text in ("Мы купили молоко.", "привет мир")]

    theirs = nn.Transformer(256, 8, 4, 4, dim_feedforward=1024, batch_first=True).eval()
    state = load_file(tmp_path / "model.safetensors")
    inner = {
        name.removeprefix("transformer."): value for name, value in state.items() if name.startswith("transformer.")
    }
    theirs.load_state_dict(inner)

    def embed(ids: torch.Tensor) -> torch.Tensor:
        return state["embed.char_embed.weight"][ids] * 16 + Sinusoidal(256).embed(torch.arange(ids.size(1)))[None]

    spoken = []
    for row in source:
        said = [1]
        with torch.inference_mode():
            memory = theirs.encoder(embed(torch.tensor([row])))
            while said[-1] != 2 and len(said) < 40:
                mask = nn.Transformer.generate_square_subsequent_mask(len(said))
                states = theirs.decoder(embed(torch.tensor([said])), memory, tgt_mask=mask)
                said.append(int((states[0, -1] @ state["output_proj.weight"].mT + state["output_proj.bias"]).argmax()))
        [found] = greedy(Seq2SeqStepper(ours, bos=1), pad_sources([row], 0), rules=Rules(eos=2), max_len=40)
        assert [1, *found.tokens, 2] == said
        spoken.append("".join(letters[number] for number in found.tokens))
    assert spoken == ["Мы купи'ли молоко'.", "приве'т мир"]
