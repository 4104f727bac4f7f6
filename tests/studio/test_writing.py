"""What is written, and the tree behind it."""

import base64
import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from clearformer.decoding.hypothesis import Hypothesis
from clearformer.folder.bundle import Bundle
from clearformer.folder.description import find_model
from clearformer.folder.preprocessing import Preprocessing
from clearformer.inference.generation_settings import GenerationConfig
from clearformer.inference.text_generator import TextGenerator
from clearformer.inference.translation_settings import DecodingConfig
from clearformer.inference.translator import Translator
from clearformer.model.build import build
from clearformer.studio.app import Handlers
from clearformer.studio.requests import Input, TextRequest, TranslateRequest, TreeRequest
from clearformer.studio.runs import Runs
from clearformer.studio.shown_model import ShownModel
from clearformer.studio.writing_settings import settings_from
from studio.small_models import CONFIGURATIONS

WORDS = ["two", "dogs", "play", "in", "the", "snow", "a", "man", "reads", "book", "cat", "sleeps", "with", "dog"]


def settings(**given):
    return settings_from(DecodingConfig(), given)


def sentences(count):
    generator = np.random.default_rng(11)
    return [" ".join(generator.choice(WORDS, generator.integers(1, 9))) for _ in range(count)]


def test_what_is_shown_is_what_translate_says(all_handlers):
    handlers = all_handlers["transformer"]
    translator = Translator(handlers.shown_model.bundle)
    for text in sentences(12):
        shown = handlers.writer.write(text, settings())["results"]
        expected = translator.alternatives(text, nbest=4)[0]
        assert [one["text"] for one in shown] == [one.text for one in expected]
        assert [one["score"] for one in shown] == pytest.approx([one.score for one in expected], abs=1e-9)


@pytest.fixture(scope="module")
def choosy(tokenizer):
    """A model whose recipe searched in a way of its own, and whose table has 30 rows that the vocabulary lacks."""
    config = CONFIGURATIONS["transformer"](tokenizer.vocab_size + 30)
    torch.manual_seed(1)
    model = build(config)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))
        model.head.bias[tokenizer.eos_id] += 2.0
        model.head.bias[tokenizer.vocab_size :] += 9.0  # whoever does not ban these rows writes nothing else
    search = {"beam": 3, "penalty": "gnmt", "alpha": 0.6, "stop": "proved"}
    return Bundle(
        config=config,
        model=model.eval(),
        preprocessing=Preprocessing(tokenizer=tokenizer),
        provenance={"decoding": search},
    )


def test_what_is_shown_is_what_the_folder_s_own_search_says(choosy):
    """Beam, penalty and stop as in the folder's recipe, and no row of the table without a piece in the vocabulary."""
    handlers, translator = Handlers(ShownModel(choosy, "choosy"), Runs([])), Translator(choosy)
    assert (translator.usual.beam, translator.usual.penalty) == (3, "gnmt")
    for text in sentences(6):
        shown = handlers.translate(TranslateRequest(text=text))["results"]
        expected = translator.alternatives(text, nbest=3)[0]
        assert [one["ids"] for one in shown] == [list(one.ids) for one in expected]
        assert [one["text"] for one in shown] == [one.text for one in expected]
        assert [one["score"] for one in shown] == pytest.approx([one.score for one in expected], abs=1e-9)
        assert shown[0]["text"] == translator.translate(text)[0].text
        tree = handlers.tree(TreeRequest(text=text))
        assert tree["answer"]["ids"] == list(expected[0].ids)
        assert tree["answer"]["score"] == pytest.approx(expected[0].score, abs=1e-9)


@pytest.mark.timeout(600)
@pytest.mark.slow
def test_the_best_leaf_is_the_answer_for_200_sentences(all_handlers):
    """Edges sum to the reported score: log-probabilities along the path, over the length penalty."""
    handlers = all_handlers["transformer"]
    for text in sentences(200):
        tree = handlers.writer.tree(text, settings(), ())
        answer = handlers.writer.write(text, settings())["results"][0]
        nodes = tree["nodes"]
        path = path_to(nodes, tree["best"])
        said = [node["token"]["id"] for node in path if node["fate"] != "finished" or node["token"]["text"] != "<eos>"]
        assert said == answer["ids"]
        total = sum(node["token_log_prob"] for node in path)
        assert total == pytest.approx(answer["log_prob"], abs=1e-5)
        assert total / path[-1]["divisor"] == pytest.approx(answer["score"], abs=1e-5)
        assert tree["answer"]["text"] == answer["text"]


def path_to(nodes, leaf):
    path = []
    while nodes[leaf]["parent"] is not None:
        path.append(nodes[leaf])
        leaf = nodes[leaf]["parent"]
    return path[::-1]


@pytest.mark.parametrize("name", ["transformer", "llama"])
def test_a_forced_token_begins_every_path(all_handlers, name):
    tree = all_handlers[name].writer.tree("the dog", settings(max_new=6), [9, 12])
    finished = [node for node in tree["nodes"] if node["fate"] in ("finished", "kept") and node["depth"] >= 2]
    assert finished
    for node in finished:
        assert [one["token"]["id"] for one in path_to(tree["nodes"], node["id"])][:2] == [9, 12]


def test_confidence_alignment_and_choices_belong_to_the_tokens(all_handlers):
    shown = all_handlers["transformer"].writer.write("two dogs play", settings())["results"][0]
    weights = np.frombuffer(base64.b64decode(shown["alignment"]["f32"]), "<f4").reshape(shown["alignment"]["shape"])
    assert weights.shape[0] == len(shown["tokens"]) == len(shown["choices"])
    assert np.allclose(weights.sum(-1), 1, atol=1e-5)
    for token, choices in zip(shown["tokens"], shown["choices"], strict=True):
        same = [choice["probability"] for choice in choices if choice["id"] == token["id"]]
        assert same == [] or same[0] == pytest.approx(math.exp(token["log_prob"]), abs=1e-4)


def test_a_calibrated_model_says_how_probably_its_translation_is_good(all_handlers):
    writer = all_handlers["transformer"].writer
    assert writer.write("two dogs play", settings())["results"][0]["confidence"] is None
    said = {"confidence": {"weights": [0.0, 1.0, 0.0, 0.0]}}
    shown = ShownModel(replace(writer.shown_model.bundle, provenance=said), "calibrated")
    [best, *_] = Handlers(shown, Runs([])).writer.write("two dogs play", settings())["results"]
    mean = best["log_prob"] / (len(best["ids"]) + 1)
    assert best["confidence"] == pytest.approx(1 / (1 + math.exp(-mean)))


def test_greedy_is_a_beam_of_one_and_sampling_repeats_with_its_seed(all_handlers):
    writer = all_handlers["transformer"].writer
    greedy = writer.write("a man reads", settings(method="greedy"))["results"][0]["ids"]
    assert greedy == writer.write("a man reads", settings(beam=1))["results"][0]["ids"]
    drawn = [
        writer.write("a man", settings(method="sampling", seed=seed, temperature=2.0))["results"][0]["ids"]
        for seed in (1, 1, 2)
    ]
    assert drawn[0] == drawn[1] != drawn[2]


@pytest.mark.parametrize(
    "given",
    [
        {"method": "greedy"},
        {"method": "greedy", "repetition_penalty": 3.0},
        {"method": "sampling", "seed": 5, "samples": 3},
        {"method": "sampling", "seed": 5, "samples": 3, "stop_text": ["e", "o"]},
        {"method": "sampling", "top_k": 20, "choices": ["yes", "no", "perhaps"]},
        {"method": "greedy", "pattern": "[0-9]{3}-(a|b)"},
        {"method": "greedy", "schema": '{"enum": ["red", "blue"]}'},
    ],
)
def test_a_continuation_is_what_generate_writes(all_handlers, given):
    """Stop texts, samples and forms too, and the tokens shown are those of the text."""
    handlers = all_handlers["llama"]
    shown = handlers.translate(TranslateRequest(text="two dogs", settings={**given, "max_new": 12}))["results"]
    asked = {name: value for name, value in given.items() if name != "method"}
    hot = 0.0 if given["method"] == "greedy" else 1.0
    config = GenerationConfig(**asked, temperature=hot, max_new=12)
    expected = TextGenerator(handlers.shown_model.bundle).continuations("two dogs", config)
    assert [one["text"] for one in shown] == [one.text for one in expected]
    for one, continuation in zip(shown, expected, strict=True):
        assert tuple(one["ids"]) == continuation.tokens[: len(one["ids"])]
        assert one["log_prob"] == pytest.approx(sum(continuation.log_probs), abs=1e-4)


def test_a_beam_keeps_to_a_form_too(all_handlers):
    shown = all_handlers["llama"].writer.write("two dogs", settings(choices=["yes", "no"], max_new=8))["results"]
    assert {one["text"].strip() for one in shown} == {"yes", "no"}


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"pattern": "("}, "pattern"),
        ({"pattern": "a{90}", "max_new": 4}, "and at most 4 may be written"),
        ({"pattern": "a", "choices": ["b"]}, "two forms for one text"),
        ({"stop_text": ["."], "choices": ["b"]}, "would cut off"),
    ],
)
def test_a_form_that_cannot_be_kept_is_refused_in_a_sentence(all_handlers, given, reason):
    with pytest.raises(ValueError, match=reason):
        all_handlers["llama"].translate(TranslateRequest(text="two dogs", settings={"method": "greedy", **given}))


def test_each_family_has_its_task(all_handlers):
    tasks = {name: handlers.writer.task for name, handlers in all_handlers.items()}
    assert tasks == {
        "transformer": "translate",
        "t5": "translate",
        "shaw": "translate",
        "bert": "read",
        "llama": "generate",
        "alibi": "generate",
    }


def test_a_model_that_only_reads_says_what_it_would_put_at_each_place(all_handlers):
    found = all_handlers["bert"].writer.write("two dogs", settings())
    assert found["results"] == []
    assert len(found["readings"]) == len(found["source"])
    with pytest.raises(ValueError, match="writes nothing"):
        all_handlers["bert"].writer.tree("two dogs", settings(), ())


def test_an_alternative_in_full_and_one_that_is_none(all_handlers):
    writer = all_handlers["transformer"].writer
    second = writer.write("two dogs", settings())["results"][1]
    assert writer.result("two dogs", second["ids"], settings())["text"] == second["text"]
    with pytest.raises(ValueError, match="not among the alternatives"):
        writer.result("two dogs", [1, 2, 3], settings())


def test_too_long_a_source_is_refused_before_the_search(all_handlers):
    with pytest.raises(ValueError, match="more than the 256"):
        all_handlers["transformer"].writer.write("ø" * 200, settings())


def test_alternatives_of_the_same_text_say_so(all_handlers, tokenizer):
    """One text can be cut into pieces in several ways, and a search may find more than one of them."""
    writer = all_handlers["transformer"].writer
    [whole] = tokenizer.ids(["dogs"], add_special=False)
    cut = [number for letter in ("d", "o", "g", "s") for number in letter_ids(tokenizer, letter)]
    found = [
        Hypothesis(tokens=tuple(ids), log_prob=-place, score=-place, token_log_probs=(0.0,) * len(ids))
        for place, ids in enumerate([whole, tokenizer.ids(["cat"], add_special=False)[0], cut, whole[:1]])
    ]
    shown = writer.present_all("two dogs", found)
    assert shown[0]["text"] == shown[2]["text"]
    assert shown[0]["ids"] != shown[2]["ids"]
    assert [one["same_text_as"] for one in shown[:3]] == [None, None, 0]


def letter_ids(tokenizer, letter):
    """The ids of a single letter inside a word: those of "x" + letter without the ids of "x"."""
    return tokenizer.ids([f"x{letter}"], add_special=False)[0][len(tokenizer.ids(["x"], add_special=False)[0]) :]


@pytest.fixture(scope="module")
def shipped():
    return Handlers(ShownModel.open(find_model("en-de")), Runs([]))


def test_a_sentence_whose_name_is_led_around_the_model_is_shown_as_the_model_reads_it(shipped):
    text = "I asked Okonkwo."
    found = shipped.translate(TranslateRequest(text=text))
    first = found["results"][0]
    assert found["read_as"] is not None
    assert "Okonkwo" not in found["read_as"]
    assert "".join(token["text"] for token in found["source"]).strip().startswith(found["read_as"])
    assert "Okonkwo" not in first["text"]
    assert first["restored"] == Translator(shipped.shown_model.bundle).translate(text)[0].text
    assert "Okonkwo" in first["restored"]
    assert shipped.trace(Input(text=text))["read_as"] == found["read_as"]
    assert shipped.language(TextRequest(text=text))["read_as"] == found["read_as"]
    again = shipped.translate(TranslateRequest(text=text, ids=first["ids"]))
    assert (again["text"], again["restored"]) == (first["text"], first["restored"])
    tree = shipped.tree(TreeRequest(text=text))
    assert [token["text"] for token in tree["source"]] == [token["text"] for token in found["source"]]


def test_a_sentence_without_rare_names_is_read_as_it_is(shipped):
    found = shipped.translate(TranslateRequest(text="Two dogs play in the snow."))
    assert found["read_as"] is None
    assert {one["restored"] for one in found["results"]} == {None}
