"""Folders that are broken, or meant to do harm: each is refused with one sentence, and nothing of it is run or written.

The good folder is the same for all; a case is what was done to it, and what the sentence must name.
"""

import io
import json
import os
import pickle
import struct
import zipfile

import numpy as np
import pytest
import torch
import transformers as hf
from safetensors.torch import load_file, save_file

from clearformer.interop.importer import import_checkpoint
from interop.folders import bert_folder, edit_json, gpt2_folder
from interop.references import LLAMA, reference

WHOLE, INDEX = "model.safetensors", "model.safetensors.index.json"


class Boom:
    """Unpickling it would leave a trace."""

    def __reduce__(self):
        return os.mkdir, (os.environ["BOOM"],)


def config(**changes):
    return lambda folder: edit_json(folder / "config.json", lambda plain: plain.update(changes))


def tensors(change):
    def spoil(folder):
        values = load_file(folder / WHOLE)
        change(values)
        save_file(values, folder / WHOLE)

    return spoil


def tokenizer(change):
    return lambda folder: edit_json(folder / "tokenizer.json", change)


def raw(name, data):
    return lambda folder: (folder / name).write_bytes(data)


def truncated(folder):
    path = folder / WHOLE
    path.write_bytes(path.read_bytes()[:-100])


def cut_in_the_header(folder):
    path = folder / WHOLE
    path.write_bytes(path.read_bytes()[:40])


def overlapping(folder):
    """Two tensors that claim the same bytes."""
    header = {
        name: {"dtype": "F32", "shape": [4], "data_offsets": [0, 16]}
        for name in ("embeddings.word_embeddings.weight", "x")
    }
    spelt = json.dumps(header).encode()
    (folder / WHOLE).write_bytes(struct.pack("<Q", len(spelt)) + spelt + bytes(16))


def index(weight_map):
    def spoil(folder):
        (folder / WHOLE).rename(folder / "model-00001-of-00001.safetensors")
        names = list(load_file(folder / "model-00001-of-00001.safetensors"))
        (folder / INDEX).write_text(json.dumps({"weight_map": weight_map(names)}))

    return spoil


def arrays(write):
    def spoil(folder):
        (folder / WHOLE).unlink()
        write(folder / "weights.npz")

    return spoil


def bomb(path):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        buffer = io.BytesIO()
        np.save(buffer, np.zeros(30_000_000, dtype=np.float32))
        archive.writestr("embeddings.word_embeddings.weight.npy", buffer.getvalue())


def objects(path):
    np.savez(path, weight=np.array([Boom()], dtype=object))


def lying_header(path):
    buffer = io.BytesIO()
    np.save(buffer, np.zeros(4, dtype=np.float32))
    data = buffer.getvalue().replace(b"(4,)", b"(9,)")
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("weight.npy", data)


def pickled(folder):
    (folder / WHOLE).unlink()
    (folder / "pytorch_model.bin").write_bytes(pickle.dumps(Boom()))


def nan(values):
    values["pooler.dense.weight"][3, 3] = torch.nan


def reshaped(values):
    values["pooler.dense.weight"] = torch.zeros(16, 17)


def id_of(number):
    return lambda definition: definition["added_tokens"][0].update(id=number)


def pipe(name):
    def spoil(folder):
        (folder / name).unlink(missing_ok=True)
        os.mkfifo(folder / name)

    return spoil


def link(name, target):
    def spoil(folder):
        (folder / name).unlink(missing_ok=True)
        (folder / name).symlink_to(target)

    return spoil


def sparse(name, size):
    def spoil(folder):
        with (folder / name).open("wb") as file:
            file.truncate(size)

    return spoil


def replacements(count):
    """A letter becomes ten of itself, and so does each of those, and so on."""
    one = {"type": "Replace", "pattern": {"String": "z"}, "content": "z" * 10}
    return lambda definition: definition.update(normalizer={"type": "Sequence", "normalizers": [one] * count})


def llama(**changes):
    """Instead of BERT, a Llama with something wrong in its configuration."""

    def spoil(folder):
        theirs = reference("LlamaForCausalLM", hf.LlamaConfig(**LLAMA))
        theirs.save_pretrained(folder)
        edit_json(folder / "config.json", lambda plain: plain.update(changes))

    return spoil


def rope(**values):
    return llama(rope_parameters={"rope_type": "default", "rope_theta": 10_000.0} | values)


CASES = {
    "no config": (lambda folder: (folder / "config.json").unlink(), "config.json does not exist"),
    "config is no JSON": (raw("config.json", b"{"), "config.json is not valid JSON"),
    "config is no object": (raw("config.json", b"[1, 2]"), "must hold a JSON object"),
    "config is not UTF-8": (raw("config.json", b'{"a": "\xff"}'), "is not valid JSON"),
    "config nested too deep": (raw("config.json", b"[" * 100_000), "is not valid JSON"),
    "config asks for remote code": (config(auto_map={"AutoModel": "evil.Model"}), "never runs code from a folder"),
    "config is quantised": (config(quantization_config={"bits": 4}), "quantization_config"),
    "unknown family": (config(model_type="os.system"), "'os.system' is not a known family"),
    "unknown head": (config(architectures=["BertForEvil"]), "BertForEvil"),
    "unknown key": (config(attention_sinks=4), "attention_sinks"),
    "a size that is missing": (config(hidden_size=None), "no hidden_size"),
    "a size that is text": (config(hidden_size="16"), "hidden_size must be a whole number"),
    "a size that is negative": (config(num_hidden_layers=-1), "num_hidden_layers must be a whole number"),
    "a billion layers": (config(num_hidden_layers=10**9), "num_hidden_layers is 1000000000, more than"),
    "more words than any language": (config(vocab_size=2**40), "vocab_size is 1099511627776, more than"),
    "a width that memory lacks": (config(hidden_size=2**25), r"word_embeddings\.weight is 14×16, but config\.json"),
    "heads that do not divide": (config(num_attention_heads=3), "3 heads do not divide"),
    "an epsilon that is none": (config(layer_norm_eps="tiny"), "layer_norm_eps must be a number"),
    "no weights": (lambda folder: (folder / WHOLE).unlink(), "has no weights"),
    "empty weights": (raw(WHOLE, b""), "is not a whole safetensors file"),
    "truncated weights": (truncated, "is not a whole safetensors file"),
    "cut in the header": (cut_in_the_header, "is not a whole safetensors file"),
    "a header of exabytes": (raw(WHOLE, struct.pack("<Q", 2**62) + b"{}"), "is not a whole safetensors file"),
    "tensors over one another": (overlapping, "is not a whole safetensors file"),
    "a wrong shape": (tensors(reshaped), r"pooler\.dense\.weight is 16×17"),
    "a missing tensor": (tensors(lambda t: t.pop("pooler.dense.bias")), r"lack pooler\.dense\.bias"),
    "an extra tensor": (tensors(lambda t: t.update(backdoor=torch.ones(2))), "have backdoor too many"),
    "not a number": (tensors(nan), r"pooler\.dense\.weight holds values that are not finite"),
    "whole numbers for weights": (
        tensors(lambda t: t.update({"pooler.dense.bias": torch.ones(16, dtype=torch.int8)})),
        "quantised",
    ),
    "a tensor under two spellings": (
        tensors(lambda t: t.update({"embeddings.LayerNorm.gamma": torch.ones(16)})),
        "under two spellings",
    ),
    "index out of the folder": (
        index(lambda names: dict.fromkeys(names, "../secret.safetensors")),
        "not a safetensors",
    ),
    "index to an absolute path": (index(lambda names: dict.fromkeys(names, "/etc/passwd")), "'/etc/passwd'"),
    "index to a missing shard": (index(lambda names: dict.fromkeys(names, "b.safetensors")), "is missing"),
    "index without a map": (index(lambda names: None), "no weight_map"),
    "index that disagrees": (
        index(lambda names: dict.fromkeys(names[1:], "model-00001-of-00001.safetensors")),
        "do not agree on",
    ),
    "zip bomb": (arrays(bomb), "decompresses to"),
    "arrays of objects": (arrays(objects), "Python objects"),
    "an array shorter than it says": (arrays(lying_header), "shorter than its header says"),
    "an archive that is none": (arrays(lambda path: path.write_bytes(b"PK\x03\x04 no")), "cannot be read"),
    "a pickle that runs code": (pickled, "pytorch_model.bin"),
    "tokenizer is no JSON": (raw("tokenizer.json", b"\x00\x01"), "is not valid JSON"),
    "tokenizer without a model": (tokenizer(lambda t: t.pop("model")), "no model with a vocabulary"),
    "tokenizer of an unknown kind": (tokenizer(lambda t: t["model"].update(type="Code")), "unknown type 'Code'"),
    "tokenizer with a regex bomb": (
        tokenizer(
            lambda t: t.update(
                pre_tokenizer={
                    "type": "Split",
                    "pattern": {"Regex": "(a+)+$"},
                    "behavior": "Isolated",
                    "invert": False,
                }
            )
        ),
        "could take forever",
    ),
    "tokenizer with a broken regex": (
        tokenizer(
            lambda t: t.update(
                pre_tokenizer={"type": "Split", "pattern": {"Regex": "("}, "behavior": "Isolated", "invert": False}
            )
        ),
        "refuses it",
    ),
    "tokenizer with more words than the model": (
        tokenizer(lambda t: t["model"]["vocab"].update({f"w{n}": 20 + n for n in range(9)})),
        "they do not belong together",
    ),
    "tokenizer with an enormous id": (tokenizer(id_of(2**40)), "a token has the id 1099511627776"),
    "tokenizer with an id of gigabytes": (tokenizer(id_of(2**31)), "a token has the id 2147483648"),
    "tokenizer with a negative id": (tokenizer(lambda t: t["model"]["vocab"].update(two=-1)), "a token has the id -1"),
    "tokenizer that makes gigabytes of a word": (tokenizer(replacements(10)), r"1e\+10 times as long"),
    "config is a pipe": (pipe("config.json"), r"config\.json is a pipe, not a file"),
    "config is an endless device": (link("config.json", "/dev/zero"), r"config\.json is a device, not a file"),
    "config is a folder": (lambda f: [(f / "config.json").unlink(), (f / "config.json").mkdir()], "is a folder, not"),
    "config larger than memory": (sparse("config.json", 1 << 40), "more than the 67,108,864 that such a file"),
    "weights are a pipe": (pipe(WHOLE), r"model\.safetensors is a pipe"),
    "more weights are a pipe": (pipe("other.safetensors"), r"other\.safetensors is a pipe"),
    "tokenizer is a pipe": (pipe("tokenizer.json"), r"tokenizer\.json is a pipe"),
    "tokenizer is an endless device": (link("tokenizer.json", "/dev/zero"), r"tokenizer\.json is a device"),
    "what only transformers would read is a pipe": (pipe("added_tokens.json"), r"added_tokens\.json is a pipe"),
    "a number of 100,000 digits": (raw("config.json", b'{"a": ' + b"9" * 100_000 + b"}"), "more than 4,300 digits"),
    "a number of 400 digits": (config(layer_norm_eps=10**400), "layer_norm_eps must be a number, not 1000"),
    "a negative epsilon": (config(layer_norm_eps=-1e-5), "layer_norm_eps must not be negative, but is -1e-05"),
    "an epsilon that is nan": (
        config(layer_norm_eps=float("nan")),
        "layer_norm_eps must be a number, not nan",
    ),
    "no angle": (rope(rope_theta=0), "rope_theta must be above 0, not 0"),
    "a negative angle": (rope(rope_theta=-10_000.0), "rope_theta must be above 0, not -10000.0"),
    "an angle that is not a number": (rope(rope_theta=float("nan")), "rope_theta must be a number, not nan"),
    "an angle that is text": (rope(rope_theta="x"), "rope_theta must be a number, not 'x'"),
    "an old angle that is text": (llama(rope_theta="x", rope_parameters=None), "rope_theta must be a number, not 'x'"),
    "an old angle that is none": (llama(rope_theta=0, rope_parameters=None), "rope_theta must be above 0, not 0"),
    "a stretch of nothing": (rope(rope_type="linear", factor=0.0), "factor of a linear scaling .* must be above 0"),
    "a stretch that is a word": (rope(rope_type="linear", factor="x"), "factor of a linear scaling .* not 'x'"),
    "tokenizer with a poisoned normaliser": (
        tokenizer(lambda t: t.update(normalizer={"type": "Precompiled", "precompiled_charsmap": "AAAA"})),
        "refuses it",
    ),
    "tokenizer that asks for code": (
        raw("tokenizer_config.json", b'{"auto_map": {"AutoTokenizer": ["evil.T", null]}}'),
        "auto_map asks to run its own code",
    ),
    "labels that are no names": (config(id2label={"x": "y"}, architectures=["BertForTokenClassification"]), "id2label"),
}


@pytest.mark.timeout(60)
@pytest.mark.parametrize("case", CASES)
def test_refused_with_a_sentence(case, tmp_path, monkeypatch):
    monkeypatch.setenv("BOOM", str(tmp_path / "boom"))
    folder, out = tmp_path / "published", tmp_path / "ours"
    bert_folder(folder)
    spoil, message = CASES[case]
    spoil(folder)
    with pytest.raises(ValueError, match=message) as caught:
        import_checkpoint(folder, out)
    assert "\n" not in str(caught.value), "one sentence"
    assert not out.exists(), "nothing is written"
    assert not (tmp_path / "boom").exists(), "code was run"


def test_the_folder_itself_is_good(tmp_path):
    bert_folder(tmp_path / "published")
    made = import_checkpoint(tmp_path / "published", tmp_path / "ours")
    assert made.tokenizer.encode("Two dogs play.").pieces == ("[CLS]", "two", "dogs", "play", ".", "[SEP]")


@pytest.mark.parametrize(
    ("line", "message"), [("a b c\n", "line 2"), ("a\n", "line 2"), ("h e\n", "does not merge two pieces")]
)
def test_merges_that_merge_nothing(line, message, tmp_path):
    gpt2_folder(tmp_path / "published")
    (tmp_path / "published" / "merges.txt").write_text(f"#version: 0.2\n{line}")
    with pytest.raises(ValueError, match=message):
        import_checkpoint(tmp_path / "published", tmp_path / "ours")
