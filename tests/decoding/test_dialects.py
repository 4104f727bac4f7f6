"""Parity with Hugging Face `generate` and CTranslate2, run; parity with fairseq, as its source describes it."""

from dataclasses import dataclass

import pytest
import torch

from clearformer.decoding.beam import beam_search
from clearformer.decoding.dialects import ctranslate2, fairseq, hugging_face
from clearformer.decoding.greedy import greedy
from clearformer.decoding.penalty import Average
from clearformer.decoding.rules import Rules
from clearformer.folder import bundle
from clearformer.inference.steppers import Seq2SeqStepper, pad_sources
from clearformer.interop.to_ctranslate2 import convert, token_names
from decoding.steppers import EOS, TableModel, plain_beam_search
from support.toy_models import small, texts

VOCAB, PAD, MAX_NEW = 24, 1, 12


@dataclass
class Rows:
    """Tensors with one row per hypothesis; what the wrapped models remember."""

    tensors: dict

    def select(self, rows):
        return Rows({name: tensor[rows] for name, tensor in self.tensors.items()})


class MarianStepper:
    def __init__(self, model):
        self.model = model

    def start(self, source):
        ids, mask = source
        memory = self.model.get_encoder()(input_ids=ids, attention_mask=mask).last_hidden_state
        first = torch.full((len(ids),), self.model.config.decoder_start_token_id)
        return first, Rows({"memory": memory, "mask": mask, "said": ids.new_empty(len(ids), 0)})

    def step(self, tokens, state):
        kept = state.tensors
        said = torch.cat([kept["said"], tokens.unsqueeze(1)], dim=1)
        logits = self.model(
            encoder_outputs=(kept["memory"],), attention_mask=kept["mask"], decoder_input_ids=said, use_cache=False
        ).logits
        return logits[:, -1], Rows({**kept, "said": said})


class Gpt2Stepper:
    """Left-padded prompts: the mask and the positions live in the state, as the protocol suggests."""

    def __init__(self, model):
        self.model = model

    def start(self, source):
        ids, mask = source
        return ids[:, -1], Rows({"ids": ids[:, :-1], "mask": mask[:, :-1]})

    def step(self, tokens, state):
        ids = torch.cat([state.tensors["ids"], tokens.unsqueeze(1)], dim=1)
        mask = torch.cat([state.tensors["mask"], torch.ones_like(tokens).unsqueeze(1)], dim=1)
        positions = (mask.cumsum(1) - 1).clamp(min=0)
        logits = self.model(input_ids=ids, attention_mask=mask, position_ids=positions, use_cache=False).logits
        return logits[:, -1], Rows({"ids": ids, "mask": mask})


def sharpen(model):
    """Random weights say little; larger ones make decided distributions, and ends within reach."""
    generator = torch.Generator().manual_seed(4)
    for name, weight in model.named_parameters():
        if weight.dim() > 1 and "position" not in name and "wpe" not in name:
            weight.data.normal_(0, 0.35, generator=generator)
    return model.eval()


@pytest.fixture(scope="module")
def marian():
    from transformers import MarianConfig, MarianMTModel

    config = MarianConfig(
        vocab_size=VOCAB,
        d_model=16,
        encoder_layers=1,
        decoder_layers=2,
        encoder_attention_heads=2,
        decoder_attention_heads=2,
        encoder_ffn_dim=32,
        decoder_ffn_dim=32,
        max_position_embeddings=32,
        pad_token_id=PAD,
        eos_token_id=EOS,
        bos_token_id=None,
        decoder_start_token_id=PAD,
        forced_eos_token_id=None,
        scale_embedding=True,
    )
    model = sharpen(MarianMTModel(config))
    model.final_logits_bias[:, EOS] = 3.0
    model.generation_config.forced_eos_token_id = None
    generator = torch.Generator().manual_seed(0)
    ids = torch.randint(2, VOCAB, (12, 7), generator=generator)
    mask = (torch.arange(7) < torch.randint(2, 8, (12, 1), generator=generator)).long()
    return model, MarianStepper(model), (ids.masked_fill(mask == 0, PAD), mask)


@pytest.fixture(scope="module")
def gpt2():
    from transformers import GPT2Config, GPT2LMHeadModel

    config = GPT2Config(
        vocab_size=VOCAB,
        n_embd=16,
        n_layer=2,
        n_head=2,
        n_positions=32,
        pad_token_id=PAD,
        eos_token_id=EOS,
        bos_token_id=None,
        resid_pdrop=0.0,
    )
    model = sharpen(GPT2LMHeadModel(config))
    generator = torch.Generator().manual_seed(1)
    ids = torch.randint(2, VOCAB, (12, 6), generator=generator)
    mask = (torch.arange(6) >= torch.randint(0, 5, (12, 1), generator=generator)).long()
    return model, Gpt2Stepper(model), (ids.masked_fill(mask == 0, PAD), mask)


def generate(model, source, **options):
    """The n-best token lists and scores of Hugging Face's own search."""
    ids, mask = source
    output = model.generate(
        input_ids=ids,
        attention_mask=mask,
        max_new_tokens=MAX_NEW,
        do_sample=False,
        return_dict_in_generate=True,
        output_scores=True,
        **options,
    )
    start = 1 if model.config.is_encoder_decoder else ids.size(1)
    found = []
    for sequence in output.sequences[:, start:].tolist():
        found.append(tuple(sequence[: sequence.index(EOS)] if EOS in sequence else sequence))
    return found, output.get("sequences_scores")


@pytest.mark.parametrize("family", ["marian", "gpt2"])
@pytest.mark.parametrize("early_stopping", [False, True, "never"])
@pytest.mark.parametrize("alpha", [0.0, 0.6, 1.0, 2.0, -1.0])
@pytest.mark.parametrize("beam", [3, 5])
def test_hugging_face_beam_search(family, beam, alpha, early_stopping, request):
    model, stepper, source = request.getfixturevalue(family)
    expected, scores = generate(
        model,
        source,
        num_beams=beam,
        num_return_sequences=beam,
        length_penalty=alpha,
        early_stopping=early_stopping,
    )
    config = hugging_face(beam=beam, nbest=beam, alpha=alpha, early_stopping=early_stopping)
    found = beam_search(stepper, source, rules=Rules(eos=EOS), config=config, max_len=MAX_NEW)
    # A cut-off hypothesis of MAX_NEW tokens may be padded in theirs only by the end, so tokens compare as they are.
    assert [h.tokens for nbest in found for h in nbest] == expected
    assert [h.score for nbest in found for h in nbest] == pytest.approx(scores.tolist(), abs=1e-4)


@pytest.mark.parametrize("family", ["marian", "gpt2"])
def test_hugging_face_beam_one_is_greedy(family, request):
    model, stepper, source = request.getfixturevalue(family)
    expected, _ = generate(model, source, num_beams=1)
    config = hugging_face(beam=1)
    found = beam_search(stepper, source, rules=Rules(eos=EOS), config=config, max_len=MAX_NEW)
    assert [nbest[0].tokens for nbest in found] == expected
    assert [h.tokens for h in greedy(stepper, source, rules=Rules(eos=EOS), max_len=MAX_NEW)] == expected


@pytest.mark.parametrize("family", ["marian", "gpt2"])
def test_hugging_face_rules(family, request):
    model, stepper, source = request.getfixturevalue(family)
    if family == "gpt2":  # its history contains the prompt, ours does not: without repeats the two rules agree
        expected, scores = generate(model, source, num_beams=3, min_new_tokens=4, bad_words_ids=[[7]])
        rules = Rules(eos=EOS, min_len=4, banned=(7,))
    else:
        expected, scores = generate(model, source, num_beams=3, min_new_tokens=4, no_repeat_ngram_size=2)
        rules = Rules(eos=EOS, min_len=4, no_repeat_ngram=2)
    found = beam_search(stepper, source, rules=rules, config=hugging_face(beam=3), max_len=MAX_NEW)
    assert [nbest[0].tokens for nbest in found] == expected
    assert [nbest[0].score for nbest in found] == pytest.approx(scores.tolist(), abs=1e-4)


@pytest.mark.parametrize("family", ["marian", "gpt2"])
def test_the_parity_models_exercise_the_search(family, request):
    """Parity would be cheap if everything ended at once or nothing ever did."""
    _, stepper, source = request.getfixturevalue(family)
    config = hugging_face(beam=5, nbest=5)
    found = beam_search(stepper, source, rules=Rules(eos=EOS), config=config, max_len=MAX_NEW)
    lengths = {len(h.tokens) for nbest in found for h in nbest}
    assert len(lengths) > 4
    assert {h.ended for nbest in found for h in nbest} == {True, False}


MODEL = TableModel(vocab=6, eos_bias=0.5)


def check_against_plain_search(config, penalty, done, *, rules, **options):
    model = MODEL
    for source, found in enumerate(beam_search(model, range(40), rules=rules, config=config, max_len=8)):
        expected = plain_beam_search(
            model, source, beam=config.beam, nbest=config.nbest, max_len=8, penalty=penalty, done=done, **options
        )
        assert [h.tokens for h in found] == [tokens for tokens, _, _ in expected]
        assert [h.score for h in found] == pytest.approx([value for _, _, value in expected])


@pytest.mark.parametrize("alpha", [0.0, 0.6, 1.0, 1.5])
def test_fairseq_as_its_source_describes_it(alpha):
    check_against_plain_search(
        fairseq(beam=3, alpha=alpha, nbest=3),
        Average(alpha),
        lambda finished, *_: len(finished) == 3,
        rules=Rules(eos=EOS),
        force_eos=True,
        first_come=True,
    )


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    """A model of ours, and the same in the program itself."""
    import ctranslate2 as program

    folder = tmp_path_factory.mktemp("dialects")
    given = small()
    bundle.save(given, folder / "model")
    convert(folder / "model", folder / "fast")
    return given, program.Translator(str(folder / "fast"), compute_type="float32", intra_threads=1)


@pytest.mark.parametrize("alpha", [0.0, 0.6, 1.0, -0.5])
@pytest.mark.parametrize("nbest", [1, 4])
def test_ctranslate2_runs_beside_this_search(engine, alpha, nbest):
    """Also cut off at its longest, and with an answer of the end token alone."""
    given, program = engine
    tokenizer, names = given.tokenizer, token_names(given.tokenizer, given.config.vocab_size)
    for text in texts(8):
        ids = [*tokenizer.encode(text).ids, tokenizer.eos_id]
        stepper = Seq2SeqStepper(given.model, bos=given.preprocessing.framing.start)
        config = ctranslate2(beam=4, alpha=alpha, nbest=nbest)
        source = pad_sources([ids], tokenizer.pad_id)
        [found] = beam_search(stepper, source, rules=Rules(eos=tokenizer.eos_id), config=config, max_len=MAX_NEW)
        [expected] = program.translate_batch(
            [[names[number] for number in ids]],
            beam_size=4,
            num_hypotheses=nbest,
            length_penalty=alpha,
            min_decoding_length=0,
            max_decoding_length=MAX_NEW,
            return_scores=True,
        )
        assert [[names[token] for token in one.tokens] for one in found] == expected.hypotheses
        assert [one.score for one in found] == pytest.approx(expected.scores, abs=1e-4)


def test_ctranslate2_without_penalty_stops_when_the_best_has_ended():
    check_against_plain_search(
        ctranslate2(beam=3, alpha=0.0, nbest=2),
        Average(0.0),
        lambda finished, running, length, top_ended: top_ended and len(finished) >= 2,
        rules=Rules(eos=EOS),
        force_eos=False,
    )
