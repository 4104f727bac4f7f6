"""Tiny random models of the published library, and the questions that every imported family has to answer.

Dropout is zero in all of them, so that training mode can be compared too.
"""

from typing import Any

import torch
import transformers as hf
from safetensors.torch import load_file
from torch import Tensor, nn

from clearformer.folder import bundle
from clearformer.interop.hf.model_types import FAMILIES
from clearformer.interop.importer import read_hugging_face
from clearformer.interop.to_hugging_face import export
from clearformer.model.described import described
from clearformer.model.weights import weights_of

hf.logging.set_verbosity_error()
hf.logging.disable_progress_bar()

VOCAB, DIM, HIDDEN, LAYERS, HEADS, LIMIT, PAD, MELS = 29, 32, 48, 2, 4, 40, 1, 6
BERT = {
    "vocab_size": VOCAB, "hidden_size": DIM, "intermediate_size": HIDDEN, "num_hidden_layers": LAYERS,
    "num_attention_heads": HEADS, "max_position_embeddings": LIMIT, "pad_token_id": PAD, "hidden_dropout_prob": 0.0,
    "attention_probs_dropout_prob": 0.0, "classifier_dropout": 0.0, "num_labels": 3,
}  # fmt: skip
BART = {
    "vocab_size": VOCAB, "d_model": DIM, "encoder_layers": LAYERS, "decoder_layers": 1, "encoder_ffn_dim": HIDDEN,
    "decoder_ffn_dim": HIDDEN, "encoder_attention_heads": HEADS, "decoder_attention_heads": HEADS, "pad_token_id": PAD,
    "max_position_embeddings": LIMIT, "bos_token_id": 0, "eos_token_id": 2, "decoder_start_token_id": 2, "dropout": 0.0,
}  # fmt: skip
LLAMA = {
    "vocab_size": VOCAB, "hidden_size": DIM, "intermediate_size": HIDDEN, "num_hidden_layers": LAYERS,
    "num_attention_heads": HEADS, "max_position_embeddings": LIMIT, "pad_token_id": PAD,
}  # fmt: skip


@torch.no_grad()
def reference(kind: str, config: Any, noise: float = 0.15) -> Any:
    """A model of theirs whose every number differs from its default."""
    torch.manual_seed(7)
    model = getattr(hf, kind)(config).eval()
    for parameter in model.parameters():
        if parameter.requires_grad:  # fixed waves stay what they are
            parameter.add_(noise * torch.randn_like(parameter))
    if getattr(model, "final_logits_bias", None) is not None:
        model.final_logits_bias.normal_()
    return model


def batch(longest: int) -> tuple[Tensor, Tensor]:
    """Sentences of three lengths, padded with PAD, which is no word."""
    tokens = torch.randint(3, VOCAB, (3, longest))
    keep = torch.arange(longest) < torch.tensor([[longest], [longest // 2], [1]])
    return tokens.masked_fill(~keep, PAD), keep


def close(actual: Tensor, expected: Tensor) -> None:
    torch.testing.assert_close(actual, expected, rtol=1e-5, atol=1e-5)


def check(theirs: Any, folder: Any) -> None:
    """Import, compare with padding, in training and step by step; export, open there and compare again."""
    theirs.save_pretrained(folder / "published")
    found = read_hugging_face(folder / "published").bundle
    agree(found.model.eval(), theirs.eval(), found.config)
    agree(found.model.train(), theirs.train(), found.config)
    step_by_step(found.model.eval(), theirs.eval(), found.config)
    bundle.save(found, folder / "ours")
    export(folder / "ours", folder / "back")
    again, report = type(theirs).from_pretrained(folder / "back", output_loading_info=True)
    assert not any(report.values()), f"the library misses something, or does not know it: {report}"
    again.config.pad_token_id = PAD  # without a vocabulary nobody wrote down which one it is
    agree(found.model, again.eval(), found.config)
    returned = read_hugging_face(folder / "back").bundle
    assert described(returned.config) == described(found.config)  # settings without effect are not written down
    before, after = weights_of(found.model), weights_of(returned.model)
    assert before.keys() == after.keys()
    assert all(torch.equal(before[name], after[name]) for name in before), "a round trip changed a weight"
    first, second = (load_file(folder / name / "model.safetensors") for name in ("published", "back"))
    table = FAMILIES[theirs.config.model_type].names(found.config)
    own = table.fixed.keys() | table.filled.keys()  # an export has Whisper's thirty seconds
    kept = second.keys() & first.keys() - own
    moved = 5e-7 if any(rule.plus for rule in table.rules) else 0.0  # one is added to Gemma's norms and taken away
    assert all(torch.allclose(second[name], first[name], rtol=0, atol=moved) for name in kept)


@torch.no_grad()
def agree(mine: nn.Module, theirs: Any, config: Any) -> None:
    """The same numbers to 1e-5 wherever something real stands."""
    torch.manual_seed(11)
    if config.front.kind == "patches":
        pictures = torch.randn(3, config.front.channels, config.front.picture, config.front.picture)
        close(mine(pictures), output(theirs(pictures)))
    elif config.front.kind == "samples":
        agree_on_samples(mine, theirs, config)
    elif config.front.kind == "sound":
        # Theirs takes one length only. What we export has the length of every published Whisper: thirty seconds.
        frames, (target, keep) = torch.randn(3, 2 * theirs.config.max_source_positions, MELS), batch(15)
        expected = theirs(input_features=frames.mT, decoder_input_ids=target, decoder_attention_mask=keep.long())
        close(mine(frames, target, target_keep=keep)[keep], expected.logits[keep])
    elif config.shape == "encoder-decoder":
        (source, source_keep), (target, keep) = batch(20), batch(15)
        expected = theirs(
            input_ids=source,
            attention_mask=source_keep.long(),
            decoder_input_ids=target,
            decoder_attention_mask=keep.long(),
        )
        states = "logits" not in expected
        actual = mine.states if states else mine
        close(actual(source, target, source_keep=source_keep, target_keep=keep)[keep], output(expected)[keep])
    else:
        tokens, keep = batch(20)
        kinds = config.embedding.types
        types = {"types": torch.randint(kinds, tokens.shape)} if kinds > 1 else {}
        extra = {"token_type_ids": types["types"]} if types else {}
        expected = output(theirs(tokens, attention_mask=keep.long(), **extra))
        actual = mine(tokens, keep=keep, **types)
        if config.head.kind == "class":
            close(actual, expected)
        else:
            close(actual[keep], expected[keep])


@torch.no_grad()
def agree_on_samples(mine: nn.Module, theirs: Any, config: Any) -> None:
    """Each recording alone; and filled up, as theirs does it where it was trained with a mask, and as alone where not.

    Their mean over time counts what fills a recording up, if it is given no mask: not a number to agree with.
    """
    sounds = [torch.randn(1, config.samples.reach + count * config.samples.hop) for count in (30, 17, 0)]
    alone = [output(theirs(sound)) for sound in sounds]
    for sound, expected in zip(sounds, alone, strict=True):
        close(mine(sound), expected)
    samples, keep = torch.zeros(3, sounds[0].size(1)), torch.zeros(3, sounds[0].size(1), dtype=torch.bool)
    for row, sound in enumerate(sounds):
        samples[row, : sound.size(1)], keep[row, : sound.size(1)] = sound[0], True
    together = mine(samples, keep=keep)
    masked = output(theirs(samples, attention_mask=keep.long())) if config.samples.norm == "each" else None
    for row, expected in enumerate(alone):
        close(together[row : row + 1, : expected.size(1)], expected)
        if masked is not None:
            close(together[row, : expected.size(1)], masked[row, : expected.size(1)])


@torch.no_grad()
def step_by_step(mine: Any, theirs: Any, config: Any) -> None:
    """With a cache, a token at a time, the decoder says what the reference says at once."""
    torch.manual_seed(13)
    target = torch.randint(3, VOCAB, (2, 9))
    if config.shape == "decoder" and config.head.kind == "language-model":
        cache = mine.start_cache()
        parts = [mine(target[:, [place]], cache=cache) for place in range(9)]
        close(torch.cat(parts, dim=1), theirs(target).logits)
    elif config.front.kind == "sound":
        frames = torch.randn(2, 2 * theirs.config.max_source_positions, MELS)
        memory, cache = mine.encode(frames), mine.start_cache()
        parts = [mine.decode(target[:, [place]], memory, cache=cache) for place in range(9)]
        close(torch.cat(parts, dim=1), theirs(input_features=frames.mT, decoder_input_ids=target).logits)
    elif config.shape == "encoder-decoder" and config.front.kind == "tokens":
        source, keep = batch(12)
        source, keep = source[:2], keep[:2]
        memory, cache = mine.encode(source, keep=keep), mine.start_cache()
        parts = [mine.decode(target[:, [place]], memory, cache=cache) for place in range(9)]
        expected = theirs(input_ids=source, attention_mask=keep.long(), decoder_input_ids=target)
        if "logits" in expected:
            close(torch.cat(parts, dim=1), expected.logits)


def output(found: Any) -> Tensor:
    """Logits, both ends of an answer, or states: whatever the head returns."""
    if "start_logits" in found:
        return torch.stack((found.start_logits, found.end_logits), dim=-1)
    return found.logits if "logits" in found else found.last_hidden_state
