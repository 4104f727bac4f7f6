"""Small trained models in formats of their own give the outputs that were published with them."""

import json
import math
import os
import shutil
from pathlib import Path

import pytest
import torch

from clearformer.inference.text_generator import TextGenerator
from clearformer.inference.translation_settings import DecodingConfig
from clearformer.inference.translator import Translator
from clearformer.interop.importer import read_checkpoint
from clearformer.interop.plain_folders import recognise
from clearformer.model.trace import trace

pytestmark = pytest.mark.corpora
CLOSE = 2e-5


@pytest.fixture(scope="module")
def pretrained():
    return Path(os.environ["CLEARFORMER_DATA"]) / "pretrained"


def golden(folder):
    return json.loads((folder / "golden.json").read_text(encoding="utf-8"))


def test_the_published_story_comes_out_word_for_word(pretrained):
    folder = pretrained / "stories260K"
    expected = golden(folder)
    generator = TextGenerator(read_checkpoint(folder).bundle)
    with torch.inference_mode():
        first = generator.model(torch.tensor([expected["start"]]))[0, -1]
    wanted = torch.tensor(expected["logits_after_bos"])
    torch.testing.assert_close(first[: len(wanted)], wanted, atol=1e-4, rtol=1e-4)
    ids = expected["greedy_ids"]
    written = [choice.token for choice in generator.choices(ids[:1], max_new=len(ids) - 1)]
    assert [*ids[:1], *written][: len(ids)] == ids


def never_empty(translator, source):
    """What a total gains when the engine forbids an empty answer: the first step's other tokens share its chance."""
    [ids] = translator.encode([source], DecodingConfig())
    with torch.inference_mode():
        first = translator.model(torch.tensor([ids]), torch.tensor([[translator.markers.start]]))[0, 0].log_softmax(-1)
    return -math.log1p(-math.exp(float(first[translator.target_tokenizer.eos_id])))


def test_names_are_spelt_as_the_engine_spelt_them(pretrained):
    folder = pretrained / "transliteration-ar-en"
    translator = Translator(read_checkpoint(folder).bundle)
    for item in golden(folder)["items"]:
        gain = never_empty(translator, item["source"])
        [greedy] = translator.translate(item["source"], beam=1)
        assert greedy.text == item["greedy"]
        assert greedy.score + gain / (len(greedy.ids) + 1) == pytest.approx(item["greedy_score"], abs=CLOSE)
        [found] = translator.alternatives(item["source"], beam=4, nbest=4)
        assert [one.text for one in found] == [text for text, _ in item["beam4"]]
        scores = [one.score + gain / (len(one.ids) + 1) for one in found]
        assert scores == pytest.approx([score for _, score in item["beam4"]], abs=CLOSE)


ATOMS = r"\[[^\]]+\]|Br|Cl|>>|%[0-9]{2}|."  # how the published program cuts a reaction


def test_a_vocabulary_of_whole_tokens_reads_text_with_the_pattern_that_cuts_it(pretrained):
    folder = pretrained / "albert-rxn"
    expected = golden(folder)
    tokenizer = read_checkpoint(folder, split=ATOMS).bundle.tokenizer
    read = tokenizer.encode(expected["reaction"])
    assert (list(read.ids), list(read.pieces)) == (expected["ids"], expected["tokens"])
    assert tokenizer.decode(read.ids) == expected["reaction"]
    assert read_checkpoint(folder).bundle.tokenizer is None, "without it nobody can know"


@pytest.mark.parametrize(("split", "told"), [("(a+)+$", "take forever"), ("(", "is not a pattern")])
def test_a_pattern_that_harms_is_refused(pretrained, split, told):
    with pytest.raises(ValueError, match=told):
        read_checkpoint(pretrained / "albert-rxn", split=split)


def test_a_head_of_the_chemists_model_links_the_atoms_of_a_product_to_those_they_were(pretrained):
    """CC(C)S + Fc1cccnc1F >> CC(C)Sc1ncccc1F: the sulphur, the nitrogen and the fluorine that stays come from one place
    each, and the first three carbons from the thiol."""
    folder = pretrained / "albert-rxn"
    bundle, expected = read_checkpoint(folder, split=ATOMS).bundle, golden(folder)
    tokens = expected["tokens"]
    with trace(bundle.model, ["encoder.layers.10.self_attn.weights"]) as seen, torch.inference_mode():
        bundle.model(torch.tensor([expected["ids"]]))
    weights = seen["encoder.layers.10.self_attn.weights"][0, 5]
    middle = tokens.index(">>")
    atoms = [place for place, token in enumerate(tokens) if token[0].isalpha() or token.startswith("[O")]
    before = [place for place in atoms if place < middle]
    came_from = {place: max(before, key=lambda b: float(weights[place, b])) for place in atoms if place > middle}
    assert [tokens[place] for place in came_from] == [tokens[origin] for origin in came_from.values()]
    sulphur, nitrogen = tokens.index("S", middle), tokens.index("n", middle)
    assert came_from[sulphur] == tokens.index("S")
    assert came_from[nitrogen] == tokens.index("n")


def test_reactions_are_read_as_the_chemists_model_reads_them(pretrained):
    folder = pretrained / "albert-rxn"
    expected = golden(folder)
    model = read_checkpoint(folder).bundle.model
    tokens = torch.tensor([expected["ids"]])
    with torch.inference_mode():
        states, logits = model.encode(tokens).states, model(tokens)
    torch.testing.assert_close(states[0, 0, :8], torch.tensor(expected["last_hidden_cls_first8"]), atol=2e-4, rtol=1e-4)
    assert logits[0].argmax(-1).tolist() == expected["argmax_all"]


def test_a_file_that_ends_early_is_refused(pretrained, tmp_path):
    shutil.copytree(pretrained / "stories260K", tmp_path / "short")
    file = tmp_path / "short" / "stories260K.bin"
    file.write_bytes(file.read_bytes()[:-100])
    reader = recognise(tmp_path / "short")
    assert reader is not None
    with pytest.raises(ValueError, match="its sizes ask for"):
        reader(tmp_path / "short")
