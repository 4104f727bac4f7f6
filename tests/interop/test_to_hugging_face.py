"""Models trained here open in transformers: the same logits, the same beams, or a refusal by name."""

import warnings

import pytest
import torch
import transformers as hf

from clearformer.decoding.beam import beam_search
from clearformer.decoding.dialects import hugging_face
from clearformer.decoding.rules import Rules
from clearformer.folder import bundle
from clearformer.folder.description import find_model
from clearformer.folder.preprocessing import Preprocessing
from clearformer.inference.steppers import Seq2SeqStepper, pad_sources
from clearformer.inference.translation_settings import DecodingConfig
from clearformer.inference.translator import Translator
from clearformer.interop.importer import read_checkpoint
from clearformer.interop.to_hugging_face import architecture, export
from clearformer.model.config import FrontConfig, HeadConfig, NormConfig, PositionConfig
from clearformer.model.families import FAMILIES
from clearformer.model.weights import weights_of
from clearformer.text.train_tokenizer import train
from interop.folders import SIZES, bert_folder, gpt2_folder, model_of

hf.logging.set_verbosity_error()
hf.logging.disable_progress_bar()

SENTENCES = ["Two dogs play in the snow.", "A man reads a book.", "the snow", "Birds sing at night, dogs do not."]


@pytest.fixture(scope="module")
def tokenizer():
    return train("bpe", SENTENCES * 5, vocab_size=360)


def translator(folder, tokenizer, **choices):
    """A model of the 2017 paper as our recipes make it."""
    torch.manual_seed(5)
    config = FAMILIES["transformer"](vocab_size=tokenizer.vocab_size, **SIZES | {"max_len": 128} | choices)
    bundle.save(
        bundle.Bundle(config=config, model=model_of(config), preprocessing=Preprocessing(tokenizer=tokenizer)), folder
    )
    return Translator(bundle.load(folder))


def beams(ours, sources):
    """Our search with the settings of theirs."""
    known = ours.target_tokenizer
    found = beam_search(
        Seq2SeqStepper(ours.model, bos=known.bos_id),
        pad_sources(sources, known.pad_id),
        rules=Rules(eos=known.eos_id, banned=(known.pad_id, known.bos_id, known.unk_id)),
        config=hugging_face(beam=4),
        max_len=12,
    )
    return [list(best[0].tokens) for best in found]


def their_beams(theirs, batch):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rows = theirs.generate(**batch, num_beams=4, max_new_tokens=12, length_penalty=1.0)
    special = {theirs.config.pad_token_id, theirs.config.eos_token_id, theirs.config.decoder_start_token_id}
    return [[token for token in row if token not in special] for row in rows[:, 1:].tolist()]


@torch.no_grad()
@pytest.mark.parametrize(
    ("place", "opened_as"), [("post", "MarianMTModel"), ("pre", "PegasusForConditionalGeneration")]
)
def test_a_translator_opens_there(place, opened_as, tmp_path, tokenizer):
    ours = translator(tmp_path / "ours", tokenizer, norm=NormConfig(place=place))
    export(tmp_path / "ours", tmp_path / "theirs")
    theirs, report = hf.AutoModelForSeq2SeqLM.from_pretrained(tmp_path / "theirs", output_loading_info=True)
    assert not any(report.values()), f"nothing is newly initialised: {report}"
    assert type(theirs).__name__ == opened_as
    sources = ours.encode(SENTENCES, DecodingConfig())
    batch = hf.AutoTokenizer.from_pretrained(tmp_path / "theirs")(
        SENTENCES, padding=True, return_tensors="pt", return_token_type_ids=False
    )
    keep = batch.attention_mask.bool()
    assert [row[real].tolist() for row, real in zip(batch.input_ids, keep, strict=True)] == sources
    target = torch.randint(4, tokenizer.vocab_size, (4, 7))
    expected = theirs(**batch, decoder_input_ids=target).logits
    torch.testing.assert_close(ours.model(batch.input_ids, target, source_keep=keep), expected, rtol=1e-5, atol=1e-5)
    assert beams(ours, sources) == their_beams(theirs, batch)


@pytest.mark.slow
def test_the_model_that_ships_translates_the_same_in_their_program(tmp_path):
    folder = find_model("en-de")
    export(folder, tmp_path / "out")
    theirs = hf.AutoModelForSeq2SeqLM.from_pretrained(tmp_path / "out").eval()
    tokenizer = hf.AutoTokenizer.from_pretrained(tmp_path / "out")
    ours = Translator(bundle.load(folder))
    for text in ("Two dogs play in the snow.", "Where is the train station?"):
        ids = theirs.generate(**tokenizer(text, return_tensors="pt", return_token_type_ids=False), num_beams=1)
        found = ours.translate(text, beam=1)[0]
        assert [token for token in ids[0].tolist()[1:] if token != ours.target_tokenizer.eos_id] == list(found.ids)


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"position": PositionConfig(kind="rotary")}, r"Marian cannot express .*position\.kind = 'rotary'"),
        ({"norm": NormConfig(eps=1e-6)}, r"norm\.eps = 1e-06 \(it has 1e-05\)"),
        ({"kv_heads": 1}, r"attention\.kv_heads = 1"),
        ({"gated": True}, "gated = True"),
    ],
)
def test_what_they_cannot_say_is_named_before_anything_is_written(choices, message, tmp_path, tokenizer):
    translator(tmp_path / "ours", tokenizer, **choices)
    with pytest.raises(ValueError, match=message):
        export(tmp_path / "ours", tmp_path / "theirs")
    assert not (tmp_path / "theirs").exists()


@pytest.mark.parametrize("family", ["lstm", "convolution", "transformer-xl"])
def test_families_that_they_do_not_have_are_refused_by_name(family, tmp_path):
    config = FAMILIES[family](vocab_size=9, **SIZES)
    bundle.save(bundle.Bundle(config=config, model=model_of(config)), tmp_path / "ours")
    with pytest.raises(ValueError, match=f"{family} is not a family that transformers opens"):
        export(tmp_path / "ours", tmp_path / "theirs")
    assert not (tmp_path / "theirs").exists()


@torch.no_grad()
@pytest.mark.parametrize("make", [gpt2_folder, bert_folder])
def test_there_and_back_with_a_vocabulary(make, tmp_path):
    make(tmp_path / "published")
    first = read_checkpoint(tmp_path / "published").bundle
    bundle.save(first, tmp_path / "ours")
    export(tmp_path / "ours", tmp_path / "back")
    second = read_checkpoint(tmp_path / "back").bundle
    before, after = weights_of(first.model), weights_of(second.model)
    assert all(torch.equal(before[name], after[name]) for name in before)
    text = "two dogs in the snow"
    assert second.tokenizer.encode(text).ids == first.tokenizer.encode(text).ids
    theirs = hf.AutoTokenizer.from_pretrained(tmp_path / "back")
    assert theirs(text)["input_ids"] == list(first.tokenizer.encode(text).ids)


@torch.no_grad()
def test_pictures_open_there(tmp_path):
    config = FAMILIES["vit"](
        dim=16,
        hidden_dim=24,
        layers=2,
        heads=2,
        front=FrontConfig(kind="patches", picture=8, patch=4),
        head=HeadConfig(kind="class", labels=2),
    )
    model = model_of(config)
    bundle.save(
        bundle.Bundle(config=config, model=model, preprocessing=Preprocessing(labels=("cat", "dog"))), tmp_path / "ours"
    )
    export(tmp_path / "ours", tmp_path / "theirs")
    theirs = hf.AutoModelForImageClassification.from_pretrained(tmp_path / "theirs")
    assert theirs.config.id2label == {0: "cat", 1: "dog"}
    pictures = torch.randn(2, 3, 8, 8)
    torch.testing.assert_close(model(pictures), theirs(pictures).logits, rtol=1e-5, atol=1e-5)


def test_the_class_that_opens_it():
    sizes = {"vocab_size": 9, **SIZES}
    assert architecture(FAMILIES["bart"](**sizes, norm=NormConfig(place="pre"))) == "MBartForConditionalGeneration"
    assert architecture(FAMILIES["bert"](**sizes, head=HeadConfig(kind="span"))) == "BertForQuestionAnswering"
    assert architecture(FAMILIES["gpt2"](**sizes)) == "GPT2LMHeadModel"
