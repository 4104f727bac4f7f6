"""SmolLM2 in a conversation, token by token beside transformers, which opens the same file by itself."""

import random

import pytest
import torch

from clearformer.data.readers.turns import Message
from clearformer.inference.chat_settings import ChatConfig
from clearformer.inference.conversation import Chatter
from clearformer.interop.importer import read_checkpoint
from support.registry_weights import weights

FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
QUESTIONS = [
    "What is the capital of France?",
    "Write a haiku about snow.",
    "Explain in one sentence what a Transformer is.",
    "Translate to German: Two dogs play in the snow.",
    "List three primes.",
    "Summarise the text above.",
    "你好！雪是什么颜色的？",
]
FILLING = "the quick brown fox jumps over a lazy dog while snow falls on 42 old houses , and nobody sees it ."
ANSWER = 16
NAMES = {
    "blk.": "layers.", "attn_norm": "input_layernorm", "attn_q": "self_attn.q_proj", "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj", "attn_output": "self_attn.o_proj", "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj", "ffn_down": "mlp.down_proj", "token_embd": "embed_tokens",
    "output_norm": "norm",
}  # fmt: skip


def conversations(generator):
    """Twenty, of one to five turns, with prompts of 25 to 1,514 tokens."""
    for number in range(20):
        found = [Message(role="system", content="You answer briefly.")] if number % 3 == 0 else []
        for _ in range(number % 3):
            found.append(Message(role="user", content=generator.choice(QUESTIONS)))
            found.append(Message(role="assistant", content=" ".join(generator.choices(FILLING.split(), k=30))))
        filling = " ".join(generator.choices(FILLING.split(), k=[0, 40, 200, 600, 1250][number % 5]))
        yield [*found, Message(role="user", content=f"{filling} {generator.choice(QUESTIONS)}".strip())]


def published(path):
    """The model as transformers runs it, with the weights as the format's own package reads them."""
    import gguf
    from transformers import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(
        vocab_size=49152, hidden_size=576, intermediate_size=1536, num_hidden_layers=30, num_attention_heads=9,
        num_key_value_heads=3, max_position_embeddings=8192, rms_norm_eps=1e-5, tie_word_embeddings=True,
        rope_parameters={"rope_type": "default", "rope_theta": 100_000.0},
    )  # fmt: skip
    model = LlamaForCausalLM(config).eval()
    weights = {}
    for tensor in gguf.GGUFReader(path).tensors:
        values = torch.tensor(gguf.quants.dequantize(tensor.data, tensor.tensor_type))
        heads = {"attn_q": 9, "attn_k": 3}.get(tensor.name.split(".")[-2])
        if heads:  # GGUF has the two halves of a head interleaved
            values = values.reshape(heads, 32, 2, 576).transpose(1, 2).reshape(-1, 576)
        weights[_renamed(tensor.name)] = values
    missing, unexpected = model.load_state_dict(weights, strict=False)
    assert (missing, unexpected) == (["lm_head.weight"], [])  # tied to the embedding
    return model


def _renamed(name):
    for theirs, ours in NAMES.items():
        name = name.replace(theirs, ours)
    return f"model.{name}"


@pytest.mark.network
@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_twenty_prompts_are_answered_with_the_tokens_that_transformers_chooses():
    from transformers import AutoTokenizer

    folder = weights("smollm2")
    chatter = Chatter(read_checkpoint(folder / FILE).bundle)
    theirs = published(folder / FILE)
    speller = AutoTokenizer.from_pretrained(str(folder), gguf_file=FILE)
    lengths = []
    for messages in conversations(random.Random(2017)):
        given = [{"role": one.role, "content": one.content} for one in messages]
        prompt = speller.apply_chat_template(given, add_generation_prompt=True, return_dict=False)
        assert chatter.text.encode(messages) == prompt
        with torch.inference_mode():
            written = theirs.generate(
                torch.tensor([prompt]), do_sample=False, max_new_tokens=ANSWER, eos_token_id=list(chatter.text.ends)
            )
        expected = [token for token in written[0, len(prompt) :].tolist() if token not in chatter.text.ends]
        conversation = chatter.begin(messages[:-1])
        list(conversation.say(messages[-1].content, ChatConfig(max_new=ANSWER)))
        chosen = conversation._stepper.ids[len(prompt) :]
        assert chosen == expected[: len(chosen)]
        assert conversation.last.tokens == len(expected)
        whole = speller.decode(expected, skip_special_tokens=True)
        assert conversation.last.text == whole.rstrip("\ufffd")  # half a character at the end is not shown
        lengths.append(len(prompt))
    assert max(lengths) >= 1500
