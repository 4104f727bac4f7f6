"""A decoder that begins with zeros: beside the engine itself, out again, and through the library of Hugging Face."""

import ctranslate2
import pytest
import torch
import transformers as hf

from clearformer.decoding.beam import beam_search
from clearformer.decoding.dialects import ctranslate2 as dialect
from clearformer.decoding.rules import Rules
from clearformer.folder import bundle
from clearformer.inference.steppers import Seq2SeqStepper, pad_sources
from clearformer.interop import from_ctranslate2
from clearformer.interop.ctranslate2_start import NEVER
from clearformer.interop.to_ctranslate2 import convert
from clearformer.interop.to_hugging_face import export
from interop import opus
from interop.texts import mixed_texts

LONGEST = 24


@pytest.fixture(scope="module")
def given(tmp_path_factory):
    folder = tmp_path_factory.mktemp("opus") / "model"
    pieces = opus.write(folder)
    return folder, pieces, from_ctranslate2.read(folder).bundle


def found(given_model, ids):
    stepper = Seq2SeqStepper(given_model.model, bos=given_model.preprocessing.framing.start)
    config = dialect(beam=3, nbest=3)
    [best] = beam_search(stepper, pad_sources([ids], 0), rules=Rules(eos=0), config=config, max_len=LONGEST)
    return best


def test_it_writes_what_the_engine_writes(given):
    folder, pieces, ours = given
    engine = ctranslate2.Translator(str(folder), compute_type="float32", intra_threads=1)
    lengths = set()
    for text in mixed_texts(12):
        ids = [*ours.tokenizer.encode(text).ids, 0]
        if len(ids) == 1:  # the engine does not translate an empty text
            continue
        best = found(ours, ids)
        [expected] = engine.translate_batch(
            [[pieces[number] for number in ids[:-1]]],
            beam_size=3, num_hypotheses=3, max_decoding_length=LONGEST, min_decoding_length=0, return_scores=True,
        )  # fmt: skip
        assert [[pieces[number] for number in one.tokens] for one in best] == expected.hypotheses
        assert [one.score for one in best] == pytest.approx(expected.scores, abs=1e-4)
        lengths |= {len(one.tokens) for one in best}
    assert len(lengths) > 3


def test_the_start_is_never_written(given):
    _, pieces, ours = given
    start = ours.markers.start
    assert start == len(pieces)
    assert ours.model.head.bias[start].item() == NEVER
    memory = ours.model.encode(torch.tensor([[5, 6, 0]]))
    assert ours.model.decode(torch.tensor([[start]]), memory).softmax(-1)[0, 0, start].item() == 0.0


def test_it_goes_out_to_the_engine_and_to_the_other_library(given, tmp_path):
    _, _, ours = given
    bundle.save(ours, tmp_path / "ours")
    convert(tmp_path / "ours", tmp_path / "fast")
    again = from_ctranslate2.read(tmp_path / "fast").bundle
    export(tmp_path / "ours", tmp_path / "theirs")
    theirs = hf.MarianMTModel.from_pretrained(tmp_path / "theirs").eval()
    source, target = torch.tensor([[5, 9, 7, 0]]), torch.tensor([[ours.markers.start, 8, 4]])
    with torch.no_grad():
        expected = ours.model(source, target)
        torch.testing.assert_close(again.model(source, target), expected)
        torch.testing.assert_close(
            theirs(input_ids=source, decoder_input_ids=target).logits, expected, rtol=1e-5, atol=1e-4
        )
