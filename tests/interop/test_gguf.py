"""GGUF: a real small language model against a plain reference, vocabularies, and files that mean harm."""

import struct
import tracemalloc
from pathlib import Path

import gguf as package
import numpy as np
import pytest
import torch

from clearformer.folder import bundle
from clearformer.interop import gguf, gguf_vocabulary
from clearformer.interop.importer import read_checkpoint
from clearformer.model.build import build
from clearformer.model.config import AttentionConfig, EmbeddingConfig, PositionConfig
from clearformer.model.families import llama
from clearformer.model.weights import weights_of
from support.registry_weights import weights

VOCAB, DIM, HIDDEN, HEADS, GROUPS = 96, 64, 128, 4, 2
PIECES = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(16)), "▁", "a", "b", "▁a", "ab", "▁ab"]
PIECES += [f"piece{number}" for number in range(VOCAB - len(PIECES))]


def tensors() -> dict[str, np.ndarray]:
    generator = np.random.default_rng(3)
    shapes = {"token_embd.weight": (VOCAB, DIM), "output_norm.weight": (DIM,)}
    for layer in range(2):
        shapes |= {
            f"blk.{layer}.attn_norm.weight": (DIM,),
            f"blk.{layer}.attn_q.weight": (DIM, DIM),
            f"blk.{layer}.attn_k.weight": (DIM // HEADS * GROUPS, DIM),
            f"blk.{layer}.attn_v.weight": (DIM // HEADS * GROUPS, DIM),
            f"blk.{layer}.attn_output.weight": (DIM, DIM),
            f"blk.{layer}.ffn_norm.weight": (DIM,),
            f"blk.{layer}.ffn_gate.weight": (HIDDEN, DIM),
            f"blk.{layer}.ffn_up.weight": (HIDDEN, DIM),
            f"blk.{layer}.ffn_down.weight": (DIM, HIDDEN),
        }
    return {name: generator.normal(0, 0.2, shape).astype(np.float32) for name, shape in shapes.items()}


def write(path: Path, *, kind: str | None = None, arch: str = "llama", vocabulary=True, changes=(), drop=()) -> Path:
    """A small file by the package's own writer. kind: the quantisation of the matrices."""
    out = package.GGUFWriter(path, arch)
    numbers = {
        "add_context_length": 256,
        "add_embedding_length": DIM,
        "add_block_count": 2,
        "add_feed_forward_length": HIDDEN,
        "add_head_count": HEADS,
        "add_head_count_kv": GROUPS,
        "add_layer_norm_rms_eps": 1e-5,
        "add_rope_freq_base": 500.0,
    } | dict(changes)
    for method, value in numbers.items():
        getattr(out, method)(value)
    if vocabulary:
        out.add_tokenizer_model("llama")
        out.add_token_list(PIECES)
        out.add_token_scores([-float(number) for number in range(VOCAB)])
        out.add_token_types([2, 3, 3, *[6] * 16, *[1] * (VOCAB - 19)])
        out.add_bos_token_id(1)
        out.add_eos_token_id(2)
        out.add_unk_token_id(0)
    for name, value in tensors().items():
        if name in drop:
            continue
        if kind is not None and value.ndim == 2:
            type_ = package.GGMLQuantizationType[kind]
            out.add_tensor(name, package.quants.quantize(value, type_), raw_dtype=type_)
        else:
            out.add_tensor(name, value)
    out.write_header_to_file()
    out.write_kv_data_to_file()
    out.write_tensors_to_file()
    out.close()
    return path


class PlainLlama:
    """A language model in NumPy from the package's own reader: rows of a matrix, one layer after another."""

    def __init__(self, path: Path) -> None:
        read = package.GGUFReader(path)
        self.tensors = {
            tensor.name: package.quants.dequantize(tensor.data, tensor.tensor_type).reshape(tensor.shape[::-1])
            for tensor in read.tensors
        }
        fact = {name: field.parts[field.data[0]][0] for name, field in read.fields.items() if name.startswith("llama.")}
        self.layers, self.heads = int(fact["llama.block_count"]), int(fact["llama.attention.head_count"])
        self.groups, self.base = int(fact["llama.attention.head_count_kv"]), float(fact["llama.rope.freq_base"])
        self.eps = float(fact["llama.attention.layer_norm_rms_epsilon"])

    def logits(self, ids: list[int]) -> np.ndarray:
        t = self.tensors
        x = t["token_embd.weight"][ids]
        for layer in range(self.layers):
            part = lambda name, layer=layer: t[f"blk.{layer}.{name}.weight"]  # noqa: E731
            y = self.norm(x, part("attn_norm"))
            x = (
                x
                + self.attend(y @ part("attn_q").T, y @ part("attn_k").T, y @ part("attn_v").T) @ part("attn_output").T
            )
            y = self.norm(x, part("ffn_norm"))
            gate = y @ part("ffn_gate").T
            x = x + (gate / (1 + np.exp(-gate)) * (y @ part("ffn_up").T)) @ part("ffn_down").T
        return self.norm(x, t["output_norm.weight"]) @ t.get("output.weight", t["token_embd.weight"]).T

    def norm(self, x, weight):
        return x / np.sqrt((x**2).mean(-1, keepdims=True) + self.eps) * weight

    def attend(self, q, k, v):
        length = len(q)
        q, k, v = (part.reshape(length, -1, q.shape[1] // self.heads).transpose(1, 0, 2) for part in (q, k, v))
        k, v = (np.repeat(part, self.heads // self.groups, axis=0) for part in (k, v))
        scores = self.turn(q) @ self.turn(k).transpose(0, 2, 1) / np.sqrt(q.shape[-1])
        scores = np.where(np.tri(length, dtype=bool), scores, -np.inf)
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        weights /= weights.sum(-1, keepdims=True)
        return (weights @ v).transpose(1, 0, 2).reshape(length, -1)

    def turn(self, x):
        """Neighbouring features as a complex number, turned by its angle."""
        width = x.shape[-1]
        angles = np.arange(x.shape[1])[:, None] * self.base ** (-np.arange(0, width, 2) / width)
        turned = (x[..., 0::2] + 1j * x[..., 1::2]) * np.exp(1j * angles)
        return np.stack((turned.real, turned.imag), axis=-1).reshape(x.shape)


@pytest.mark.parametrize("kind", [None, "F16", "BF16", "Q8_0", "Q4_0", "Q5_1"])
def test_a_small_model_says_what_the_plain_reference_says(kind, tmp_path):
    path = write(tmp_path / "m.gguf", kind=kind)
    found = gguf.read(path)
    assert found.aside == {}
    ids = [1, 20, 5, 77, 30, 30, 2]
    with torch.inference_mode():
        ours = found.bundle.model(torch.tensor([ids]))[0].numpy()
    np.testing.assert_allclose(ours, PlainLlama(path).logits(ids), atol=2e-5, rtol=1e-4)


def blocks(kind: package.GGMLQuantizationType) -> np.ndarray:
    """Three rows of two blocks of hostile bytes, whose scales are numbers all the same."""
    _, each = package.GGML_QUANT_SIZES[kind]
    return np.random.default_rng(int(kind)).integers(0, 60, (3, 2 * each), dtype=np.uint8)


@pytest.mark.parametrize("kind", list(package.GGMLQuantizationType), ids=lambda kind: kind.name)
def test_every_quantisation_is_read_as_the_package_reads_it_or_refused_by_name(kind, tmp_path):
    rows = blocks(kind)
    out = package.GGUFWriter(tmp_path / "m.gguf", "llama")
    out.add_tensor("t", rows, raw_dtype=kind)
    out.write_header_to_file()
    out.write_kv_data_to_file()
    out.write_tensors_to_file()
    out.close()
    try:
        expected = package.quants.dequantize(rows, kind)
    except NotImplementedError:
        with pytest.raises(ValueError, match=f"t is stored as {kind.name}, which the gguf package does not convert"):
            gguf.File(tmp_path / "m.gguf").read("t")
        return
    found = gguf.File(tmp_path / "m.gguf").read("t")
    assert found.dtype == {"F16": torch.float16, "BF16": torch.bfloat16}.get(kind.name, torch.float32)
    np.testing.assert_array_equal(found.float().numpy(), expected)


def test_full_precision_is_read_as_it_is(tmp_path):
    found = gguf.read(write(tmp_path / "m.gguf")).bundle
    written = tensors()
    ours = weights_of(found.model)
    assert np.array_equal(ours["decoder.layers.1.ffn.gate_proj.weight"], written["blk.1.ffn_gate.weight"])
    expected = llama(
        vocab_size=VOCAB,
        dim=DIM,
        hidden_dim=HIDDEN,
        layers=2,
        max_len=256,
        attention=AttentionConfig(heads=HEADS, kv_heads=GROUPS, bias=False),
        position=PositionConfig(kind="rotary", pairs="neighbours", base=500.0),
        embedding=EmbeddingConfig(tie="all"),
    )
    assert weights_of(build(expected)).keys() == ours.keys()
    assert (found.config.attention, found.config.position) == (expected.attention, expected.position)


def test_the_vocabulary_inside_is_used(tmp_path):
    found = read_checkpoint(write(tmp_path / "m.gguf")).bundle
    assert gguf.can_read(tmp_path / "m.gguf")
    tokenizer = found.tokenizer
    assert [tokenizer.piece(number) for number in tokenizer.ids(["ab"], add_special=False)[0]] == ["▁ab"]
    assert tokenizer.decode(tokenizer.ids(["ab ab"], add_special=False)[0]) == "ab ab"
    assert (tokenizer.bos_id, tokenizer.eos_id, tokenizer.unk_id) == (1, 2, 0)
    bundle.save(found, tmp_path / "again")
    assert bundle.load(tmp_path / "again").tokenizer == tokenizer


def test_without_a_vocabulary_the_model_reads_ids(tmp_path):
    found = gguf.read(write(tmp_path / "m.gguf", vocabulary=False))
    assert found.bundle.tokenizer is None
    assert "no vocabulary" in found.notes[0]


@pytest.mark.network
@pytest.mark.slow
@pytest.mark.timeout(900)
def test_smollm2_knows_the_capital_of_france():
    """The same greedy tokens as the reference above, which has the weights from the package's own reader."""
    path = weights("smollm2") / "SmolLM2-135M-Instruct.Q4_1.gguf"
    found = gguf.read(path)
    model, tokenizer = found.bundle.model, found.bundle.tokenizer
    assert found.notes == ()
    assert "im_start" in found.bundle.preprocessing.chat_template
    prompt = tokenizer.ids(["The capital of France is"], add_special=False)[0]
    said, cache = list(prompt), model.start_cache()
    fed = prompt
    with torch.inference_mode():
        for _ in range(8):
            said.append(int(model(torch.tensor([fed]), cache=cache)[0, -1].argmax()))
            fed = said[-1:]
    assert tokenizer.decode(said[len(prompt) :]).startswith(" Paris")
    plain = PlainLlama(path).logits(said[:-1])  # read at once: each row predicts the next token
    assert plain[len(prompt) - 1 :].argmax(-1).tolist() == said[len(prompt) :]


@pytest.mark.network
@pytest.mark.slow
def test_smollm2_cuts_text_as_its_publishers_do():
    from transformers import AutoTokenizer

    path = weights("smollm2") / "SmolLM2-135M-Instruct.Q4_1.gguf"
    file = gguf.File(path)
    ours, _ = gguf_vocabulary.read(file, 49152)
    theirs = AutoTokenizer.from_pretrained(str(path.parent), gguf_file=path.name)
    for text in (
        "Hello world, it's",
        "  two  spaces\n\nnew line",
        "日本語 ünï 🙂",
        "<|im_start|>user\nHi<|im_end|>",
        "",
    ):
        assert ours.ids([text], add_special=False)[0] == theirs(text, add_special_tokens=False).input_ids
        assert ours.decode(ours.ids([text], add_special=False)[0], skip_special=False) == text


# ---- files that mean harm -------------------------------------------------------------------------------------------


def text(word: str) -> bytes:
    return struct.pack("<Q", len(word)) + word.encode()


def fact(name: str, kind: int, content: bytes) -> bytes:
    return text(name) + struct.pack("<I", kind) + content


def entry(name: str, shape: tuple[int, ...], kind: int = 0, place: int = 0) -> bytes:
    dims = b"".join(struct.pack("<Q", size) for size in shape)
    return text(name) + struct.pack("<I", len(shape)) + dims + struct.pack("<IQ", kind, place)


def header(*parts: bytes, tensors: int = 0, facts: int = 0, version: int = 3) -> bytes:
    return b"GGUF" + struct.pack("<IQQ", version, tensors, facts) + b"".join(parts)


LLAMA = fact("general.architecture", 8, text("llama"))
HOSTILE = {
    "empty": (b"", "ends in the middle of its first word"),
    "another format": (b"PK\x03\x04" + bytes(60), "is not a GGUF file"),
    "an older version": (header(version=1), "is of version 1 of GGUF"),
    "2^64 tensors": (header(tensors=2**64 - 1), "says that it holds 18,446,744,073,709,551,615 tensors"),
    "2^62 facts": (header(facts=2**62), "says that it holds 4,611,686,018,427,387,904 facts"),
    "a name beyond the file": (header(struct.pack("<Q", 2**40) + bytes(30), facts=1), "1,099,511,627,776 characters"),
    "a name that is not text": (header(struct.pack("<Q", 2) + b"\xff\xfe" + bytes(20), facts=1), "is not text"),
    "a fact of an unknown kind": (header(fact("a", 99, bytes(20)), facts=1), "a is of the unknown kind 99"),
    "a fact twice": (header(LLAMA, LLAMA, facts=2), "has general.architecture twice"),
    "a list of 2^60 numbers": (
        header(fact("a", 9, struct.pack("<IQ", 4, 2**60) + bytes(20)), facts=1), "numbers of a, more than it has room",
    ),
    "a list of 2^60 texts": (
        header(fact("a", 9, struct.pack("<IQ", 8, 2**60) + bytes(20)), facts=1), "texts of a, more than it has room",
    ),
    "lists in lists": (header(fact("a", 9, struct.pack("<IQ", 9, 1) + bytes(20)), facts=1), "a list of lists"),
    "a thousand dimensions": (
        header(text("t") + struct.pack("<I", 1000) + bytes(40), tensors=1), "t has 1000 dimensions",
    ),
    "a tensor of 2^80 numbers": (header(entry("t", (2**40, 2**40)), tensors=1), "t lies outside the file"),
    "a tensor behind the end": (header(entry("t", (4,), place=1 << 40), tensors=1), "t lies outside the file"),
    "a tensor that is not in step": (header(entry("t", (4,), place=3), bytes(99), tensors=1), "t lies outside"),
    "an unknown type": (header(entry("t", (4,), kind=250), tensors=1), "t is of the unknown type 250"),
    "rows that do not divide": (header(entry("t", (5,), kind=2), tensors=1), "do not divide into blocks of 32"),
    "a tensor twice": (header(entry("t", (1,)), entry("t", (1,)), bytes(64), tensors=2), "has t twice"),
    "an alignment of nothing": (
        header(fact("general.alignment", 4, struct.pack("<I", 0)), entry("t", (1,)), bytes(64), tensors=1, facts=1),
        "general.alignment is 0",
    ),
    "another architecture": (header(fact("general.architecture", 8, text("mamba")), facts=1), "holds a 'mamba'; read"),
    "nothing but a name": (header(LLAMA, facts=1), "has no embedding_length"),
}  # fmt: skip


@pytest.mark.timeout(10)
@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_is_refused_in_a_sentence_at_once(name, tmp_path):
    content, sentence = HOSTILE[name]
    path = tmp_path / "m.gguf"
    path.write_bytes(content)
    gguf._package()  # importing it is not what the file costs
    tracemalloc.start()
    with pytest.raises(ValueError, match=rf"m\.gguf.*{sentence}") as refused:
        gguf.read(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2 * len(content) + (1 << 20)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("choices", "sentence"),
    [
        ({"changes": {"add_block_count": 400}}, "says that it has 400 layers, but holds the tensors of 2"),
        ({"changes": {"add_embedding_length": 1 << 25}}, "asks for"),
        ({"changes": {"add_expert_count": 8}}, "expert_count is 8, and only 0 is supported"),
        ({"changes": {"add_rope_scaling_type": package.RopeScalingType.YARN}}, "'yarn', and only 'none' is supported"),
        (
            {"changes": {"add_sliding_window": 4}},
            "has attention.sliding_window, which the reader for gguf does not know",
        ),
        ({"drop": ("blk.1.ffn_up.weight",)}, r"lack blk\.1\.ffn_up\.weight"),
        ({"drop": ("token_embd.weight",)}, r"has no matrix token_embd\.weight"),
    ],
)
def test_settings_and_tensors_that_do_not_fit_are_named(choices, sentence, tmp_path):
    with pytest.raises(ValueError, match=sentence):
        gguf.read(write(tmp_path / "m.gguf", **choices))


def test_a_file_that_ends_early_is_refused(tmp_path):
    path = write(tmp_path / "m.gguf")
    content = path.read_bytes()
    for share in (0.01, 0.5, 0.999):
        path.write_bytes(content[: int(len(content) * share)])
        with pytest.raises(ValueError, match=r"ends in the middle of|lies outside the file|more than it has room for"):
            gguf.read(path)
