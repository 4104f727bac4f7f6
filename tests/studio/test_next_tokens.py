"""What comes next: the page's numbers are the model's, and everything that cannot be shown is refused by name."""

import base64

import numpy as np
import pytest
import torch

from clearformer.folder.bundle import Bundle
from clearformer.inference.logit_parts import logit_parts
from clearformer.inference.text_generator import TextGenerator
from clearformer.model.build import build
from clearformer.model.families import gpt2, transformer_xl
from clearformer.serving.admission import LeftError
from clearformer.serving.refusal import Refused
from clearformer.studio.app import Handlers
from clearformer.studio.next_tokens import MAX_TOKENS
from clearformer.studio.requests import LensRequest, NextRequest, PartsRequest
from clearformer.studio.runs import Runs
from clearformer.studio.shown_model import ShownModel
from studio.small_models import SIZES

TEXT = "two dogs play in the snow"
DECODERS = ["llama", "alibi"]


def own_logits(handlers, text):
    """T V, without a word of the studio."""
    writer = TextGenerator(handlers.shown_model.bundle)
    with torch.inference_mode():
        return writer.model(torch.tensor([writer.encode(text)]))[0]


@pytest.mark.parametrize("name", DECODERS)
def test_the_likeliest_are_the_model_s_and_surprises_are_what_evaluate_counts(all_handlers, name):
    handlers = all_handlers[name]
    found = handlers.next(NextRequest(text=TEXT))
    shares = own_logits(handlers, TEXT)[-1].softmax(-1)
    best = shares.sort(descending=True, stable=True)
    assert [one["id"] for one in found["likeliest"]] == best.indices[:10].tolist()
    assert [one["probability"] for one in found["likeliest"]] == pytest.approx(best.values[:10].tolist(), rel=1e-4)
    assert found["entropy"] == pytest.approx(float(torch.distributions.Categorical(shares).entropy()), rel=1e-4)
    writer = TextGenerator(handlers.shown_model.bundle)
    nats = writer.likelihood(writer.encode(TEXT)).blocks
    assert found["tokens"][0]["surprise"] is None
    expected = [one for block in nats for one in block]
    assert [one["surprise"] for one in found["tokens"][1:]] == pytest.approx(expected, abs=1e-4)


def test_ranks_are_places_in_the_distribution(all_handlers):
    handlers = all_handlers["llama"]
    logits, found = own_logits(handlers, TEXT), handlers.next(NextRequest(text=TEXT))
    for place, token in enumerate(found["tokens"][1:]):
        order = logits[place].argsort(descending=True).tolist()
        assert order[token["rank"] - 1] == token["id"]


def test_a_place_in_the_middle_is_a_shorter_text_s_end(all_handlers):
    """By causality, what comes later changes nothing."""
    handlers = all_handlers["llama"]
    middle = handlers.next(NextRequest(text=TEXT, place=3))["likeliest"]
    ids = handlers.shown_model.read(TEXT)[:4]
    shorter = handlers.shown_model.source_tokenizer.decode(ids)
    assert handlers.shown_model.read(shorter) == ids
    end = handlers.next(NextRequest(text=shorter))["likeliest"]
    assert [one["id"] for one in middle] == [one["id"] for one in end]
    assert [one["adds"] for one in middle] == [one["adds"] for one in end]


def test_what_a_token_adds_is_what_decoding_adds(all_handlers):
    handlers = all_handlers["llama"]
    tokenizer = handlers.shown_model.source_tokenizer
    typed = 0
    for text in ("two dogs", "a", "naïve 你"):
        for one in handlers.next(NextRequest(text=text))["likeliest"]:
            joined = tokenizer.decode([*handlers.shown_model.read(text), one["id"]])
            if one["adds"] is None:  # a part of a character, or a special token
                assert joined == text or "\ufffd" in joined
            else:
                typed += 1
                assert joined == text + one["adds"]
    assert typed > 5


def test_no_text_is_the_start_of_one(all_handlers):
    found = all_handlers["llama"].next(NextRequest(text=""))
    assert [token["text"] for token in found["tokens"]] == ["<bos>"]
    assert len(found["likeliest"]) == 10


@pytest.mark.parametrize("name", DECODERS)
def test_the_last_layer_says_what_the_model_says_exactly(all_handlers, name):
    handlers = all_handlers[name]
    lens, own = handlers.lens(LensRequest(text=TEXT)), handlers.next(NextRequest(text=TEXT))
    assert len(lens["layers"]) == SIZES["layers"] + 1
    last = lens["layers"][-1]
    assert last["likeliest"] == own["likeliest"][:5]
    assert last["rank"] == 1
    assert lens["token"]["id"] == own["likeliest"][0]["id"]
    assert last["probability"] == pytest.approx(own["likeliest"][0]["probability"], rel=1e-6)


def test_another_token_can_be_followed(all_handlers):
    handlers = all_handlers["llama"]
    third = handlers.next(NextRequest(text=TEXT))["likeliest"][2]
    lens = handlers.lens(LensRequest(text=TEXT, token=third["id"]))
    assert lens["layers"][-1]["rank"] == 3
    assert lens["layers"][-1]["probability"] == pytest.approx(third["probability"], rel=1e-5)


@pytest.mark.parametrize("name", DECODERS)
def test_parts_are_the_library_s_and_add_up(all_handlers, name):
    handlers = all_handlers[name]
    found = handlers.parts(PartsRequest(text=TEXT, place=2, token=9, against=12))
    logits = own_logits(handlers, TEXT)[2]
    assert found["logit"] == pytest.approx(float(logits[9] - logits[12]), abs=1e-4)
    assert found["total"] == pytest.approx(found["logit"], abs=1e-4)
    expected = logit_parts(handlers.shown_model.model, handlers.shown_model.read(TEXT), 9, against=12, position=2)
    heads = np.frombuffer(base64.b64decode(found["heads"]["f32"]), "<f4").reshape(found["heads"]["shape"])
    assert np.allclose(heads, expected.heads, atol=1e-6)


def test_three_questions_about_a_text_are_one_pass(all_handlers, monkeypatch):
    handlers = Handlers(all_handlers["llama"].shown_model, Runs([]))
    passes = []
    run = handlers.shown_model.run
    monkeypatch.setattr(handlers.shown_model, "run", lambda look: passes.append(look) or run(look))
    handlers.next(NextRequest(text=TEXT))
    handlers.lens(LensRequest(text=TEXT, place=2))
    handlers.parts(PartsRequest(text=TEXT, token=5))
    assert len(passes) == 1


def test_nothing_is_computed_for_somebody_who_has_left(all_handlers, monkeypatch):
    handlers = Handlers(all_handlers["llama"].shown_model, Runs([]))
    monkeypatch.setattr(handlers.shown_model, "run", lambda look: pytest.fail("the model ran"))
    with pytest.raises(LeftError):
        handlers.next(NextRequest(text=TEXT), left=lambda: True)


def handlers_of(config, tokenizer):
    torch.manual_seed(0)
    bundle: Bundle = Bundle(config=config, model=build(config).eval(), preprocessing=tokenizer, provenance={})
    return Handlers(ShownModel(bundle, "made"), Runs([]))


def test_post_norm_has_a_lens_but_no_sum(bundles):
    config = transformer_xl(vocab_size=bundles["llama"].config.vocab_size, **SIZES)
    handlers = handlers_of(config, bundles["llama"].preprocessing)
    assert len(handlers.lens(LensRequest(text=TEXT))["layers"]) == SIZES["layers"] + 1
    with pytest.raises(Refused) as refused:
        handlers.parts(PartsRequest(text=TEXT))
    assert refused.value.code == "nosum"


def test_what_cannot_be_shown_is_refused_by_name(all_handlers, bundles):
    llama = all_handlers["llama"]
    size = llama.shown_model.config.vocab_size
    cases = [
        ("nodecoder", lambda: all_handlers["transformer"].next(NextRequest(text=TEXT))),
        ("nodecoder", lambda: all_handlers["bert"].lens(LensRequest(text=TEXT))),
        ("place", lambda: llama.next(NextRequest(text="the", place=50))),
        ("vocabulary", lambda: llama.lens(LensRequest(text=TEXT, token=size))),
        ("vocabulary", lambda: llama.parts(PartsRequest(text=TEXT, token=1, against=size))),
        ("tokens", lambda: llama.next(NextRequest(text="ø" * MAX_TOKENS))),
    ]
    for code, ask in cases:
        with pytest.raises(Refused) as refused:
            ask()
        assert refused.value.code == code


def test_a_text_may_fill_all_positions_but_not_more(bundles, tokenizer):
    handlers = handlers_of(gpt2(vocab_size=tokenizer.vocab_size, max_len=8, **SIZES), bundles["llama"].preprocessing)
    fits = tokenizer.decode(tokenizer.encode("a b c d e f g h i", add_special=False).ids[:7])
    assert len(handlers.shown_model.read(fits)) == 8  # with the start token
    assert len(handlers.next(NextRequest(text=fits))["likeliest"]) == 10
    with pytest.raises(Refused) as refused:
        handlers.next(NextRequest(text=fits + " dog dog"))
    assert refused.value.code == "positions"
