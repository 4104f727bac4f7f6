"""How each family is given a text."""

from dataclasses import replace

import pytest
import torch

from clearformer.folder.bundle import Bundle
from clearformer.inference.text_generator import TextGenerator
from clearformer.model.build import build
from clearformer.model.config import HeadConfig
from clearformer.serving.refusal import Refused
from clearformer.studio.shown_model import MAX_CHARACTERS, MAX_TOKENS, Look, ShownModel, check_length
from model.specimens import PAIRS


def test_each_family_gets_the_markers_that_it_knows(handlers):
    shown_model = handlers.shown_model
    ids = shown_model.read(" the dog ")
    special = shown_model.source_tokenizer.special_ids
    if shown_model.has_target:
        assert ids[-1] == special["eos"]
        assert shown_model.look("the dog", [5, 6]).target == (special["bos"], 5, 6)
    if shown_model.config.shape == "decoder":
        assert ids[0] == special["bos"]
        assert ids[-1] != special["eos"]  # a text that goes on has no end yet


@pytest.mark.parametrize("text", ["the dog", "the dog ", " the\n", "the dog <eos>", "naïve 你好"])
def test_a_language_model_reads_what_generate_reads_to_the_letter(all_handlers, text):
    for name in ("llama", "alibi"):
        shown_model = all_handlers[name].shown_model
        ids = shown_model.read(text)
        assert list(ids) == TextGenerator(shown_model.bundle).encode(text)
        assert shown_model.source_tokenizer.decode(ids) == text


def test_no_text_can_be_continued_but_not_read(all_handlers):
    shown_model = all_handlers["llama"].shown_model
    assert shown_model.read("", blank=True) == (shown_model.source_tokenizer.bos_id,)
    assert len(shown_model.read("  ", blank=True)) > 1
    for name in ("llama", "transformer", "bert"):
        with pytest.raises(Refused, match="nothing to read"):
            all_handlers[name].shown_model.read("  ", blank=name != "llama")


def test_a_start_symbol_that_the_tokenizer_does_not_put_there_is_put_there(bundles):
    """A decoder that writes nothing: Llama's vocabularies often leave the start to the program, GPT-2 has none."""
    bundle = bundles["llama"]
    bundle = replace(bundle, config=replace(bundle.config, head=HeadConfig(kind="states")))
    special = bundle.tokenizer.special_ids

    class Bare:
        special_ids = special

        def ids(self, texts, add_special=True):
            return [[7, 8] for _ in texts]

    assert ShownModel(bundle, "llama")._encode(Bare(), "the dog") == [special["bos"], 7, 8]
    Bare.special_ids = {"bos": 5, "eos": 5}
    assert ShownModel(bundle, "llama")._encode(Bare(), "the dog") == [7, 8]


def test_a_run_is_the_model_s_own_forward_pass(handlers):
    look = handlers.shown_model.look("the dog", ())
    output = handlers.shown_model.run(look)
    inputs = [torch.tensor([look.source]), *([torch.tensor([look.target])] if look.target else [])]
    with torch.no_grad():
        assert torch.equal(output, handlers.shown_model.model(*inputs))


def test_nothing_too_much_and_nonsense_are_refused_by_name(all_handlers):
    shown_model = all_handlers["transformer"].shown_model
    cases = {"empty": "  \n", "characters": "a" * (MAX_CHARACTERS + 1), "tokens": "ø" * (MAX_TOKENS // 2 + 1)}
    for code, text in cases.items():
        with pytest.raises(Refused) as refused:
            shown_model.read(text)
        assert refused.value.code == code
    with pytest.raises(Refused, match="outside the vocabulary"):
        shown_model.look("the dog", [10**6])


def test_without_a_tokenizer_a_text_is_a_row_of_numbers(folders):
    shown_model = ShownModel.open(folders["mute"])
    assert shown_model.name == "mute"
    assert shown_model.read("5, 17 3") == (5, 17, 3)
    assert shown_model.look("5", [7]) == Look((5,), (0, 7))
    for text in ("the dog", "", "-1", "٣", "9" * 30):
        with pytest.raises(Refused, match="write token numbers"):
            shown_model.read(text)
    with pytest.raises(Refused, match="outside the vocabulary of 330"):
        shown_model.read("330")


def test_a_length_at_its_limit_is_allowed():
    check_length(5, 5)
    with pytest.raises(Refused, match="6 tokens, more than the 5"):
        check_length(6, 5)


def test_two_networks_at_once_are_not_shown():
    with pytest.raises(ValueError, match="clip is a pair of networks, and what is shown here is one"):
        ShownModel(Bundle(config=PAIRS["clip"], model=build(PAIRS["clip"])), "clip")
