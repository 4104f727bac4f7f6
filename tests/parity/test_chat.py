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
WORDS = [
    "the",
    "quick",
    "brown",
    "fox",
    "jumps",
    "over",
    "a",
    "lazy",
    "dog",
    "while",
    "snow",
    "falls",
    "on",
    "42",
    "old",
    "houses",
    ",",
    "and",
    "nobody",
    "sees",
    "it",
    ".",
]
ANSWER = 16


def conversations(generator):
    """Twenty, of one to five turns, with prompts of up to 1,500 tokens."""
    for number in range(20):
        found = [Message(role="system", content="You answer briefly.")] if number % 3 == 0 else []
        for _ in range(number % 3):
            found.append(Message(role="user", content=generator.choice(QUESTIONS)))
            found.append(Message(role="assistant", content=" ".join(generator.choices(WORDS, k=30))))
        filling = " ".join(generator.choices(WORDS, k=[0, 40, 200, 600, 1250][number % 5]))
        yield [*found, Message(role="user", content=f"{filling} {generator.choice(QUESTIONS)}".strip())]


@pytest.mark.network
@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_twenty_prompts_are_answered_with_the_tokens_that_transformers_chooses():
    from transformers import AutoModelForCausalLM, AutoTokenizer

    folder = weights("smollm2")
    chatter = Chatter(read_checkpoint(folder / FILE).bundle)
    theirs = AutoModelForCausalLM.from_pretrained(str(folder), gguf_file=FILE, dtype=torch.float32).eval()
    speller = AutoTokenizer.from_pretrained(str(folder), gguf_file=FILE)
    lengths = []
    for messages in conversations(random.Random(2017)):
        given = [{"role": one.role, "content": one.content} for one in messages]
        prompt = speller.apply_chat_template(given, add_generation_prompt=True, return_dict=False)
        assert chatter.encode(messages) == prompt
        with torch.inference_mode():
            written = theirs.generate(
                torch.tensor([prompt]), do_sample=False, max_new_tokens=ANSWER, eos_token_id=list(chatter.ends)
            )
        expected = [token for token in written[0, len(prompt) :].tolist() if token not in chatter.ends]
        conversation = chatter.begin(messages[:-1])
        list(conversation.say(messages[-1].content, ChatConfig(max_new=ANSWER)))
        chosen = conversation._stepper.ids[len(prompt) :]
        assert chosen == expected[: len(chosen)]
        assert conversation.last.tokens == len(expected)
        assert conversation.last.text == speller.decode(expected, skip_special_tokens=True)
        lengths.append(len(prompt))
    assert max(lengths) > 1400
    assert max(lengths) <= 1500
