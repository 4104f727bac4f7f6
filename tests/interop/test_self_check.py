"""A model by itself: what is whole passes, and each kind of damage is found by the check that is meant for it."""

from dataclasses import replace
from itertools import pairwise

import pytest
import torch
from tokenizers import Tokenizer as Engine
from tokenizers import models, pre_tokenizers
from torch import nn

from clearformer.cli.import_ import rows
from clearformer.cli.main import main
from clearformer.folder.bundle import Bundle
from clearformer.folder.preprocessing import Preprocessing
from clearformer.interop.certificate import certify
from clearformer.interop.importer import import_checkpoint, read_hugging_face
from clearformer.interop.self_check import PROSE, SMALLEST, check_itself
from clearformer.model.config import HeadConfig
from clearformer.model.families import FAMILIES
from clearformer.text.special import SpecialTokens
from clearformer.text.tokenizer import Tokenizer
from interop.folders import SIZES, gpt2_folder, model_of, write

KINDS = {
    "gpt2": HeadConfig(),
    "bert": HeadConfig(kind="class", labels=3, pooler=True),
    "transformer": HeadConfig(),
    "llama": HeadConfig(),
}


class Damaged(nn.Module):
    """A model whose answers are spoiled in one way."""

    def __init__(self, model: nn.Module, spoil) -> None:
        super().__init__()
        self.model, self.spoil = model, spoil

    def forward(self, tokens, *, keep=None, cache=None):
        given = {name: value for name, value in (("keep", keep), ("cache", cache)) if value is not None}
        return self.spoil(self.model(tokens, **given), tokens, **given)

    def start_cache(self):
        return self.model.start_cache()


def made(family: str = "gpt2", **sizes) -> Bundle:
    torch.manual_seed(3)
    head = KINDS.get(family, HeadConfig())
    config = FAMILIES[family](**{"vocab_size": 40, **SIZES, **sizes}, head=head)
    return Bundle(config=config, model=model_of(config))


@pytest.mark.parametrize("family", KINDS)
def test_a_whole_model_keeps_its_promises(family):
    found = check_itself(made(family))
    assert not found.fault
    assert found.padding < 1e-4
    assert (found.cached_steps is None) == (family == "bert")
    assert "perplexity" not in found.as_json()  # without a vocabulary no text can be read


def sees_ahead(answer, tokens, **_):
    return answer + 0.01 * tokens[:, -1:, None]


def counts_slots(answer, tokens, keep=None, **_):
    return answer if keep is None else answer + 0.01 * tokens.size(1)


def forgets(answer, tokens, cache=None, **_):
    return answer if cache is None else answer * 1.01


def breaks(answer, *_, **__):
    return answer / 0


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (sees_ahead, "a later token changes what it says of an earlier one"),
        (counts_slots, "padding changes what it says of a text"),
        (forgets, "it says something else token by token"),
        (breaks, "not a number"),
    ],
)
def test_each_damage_is_found_by_its_check(spoil, sentence):
    bundle = made()
    assert sentence in check_itself(replace(bundle, model=Damaged(bundle.model, spoil))).fault


class Knows(nn.Module):
    """A language model that learned the built-in texts by heart: token by token, from the one before."""

    def __init__(self, rows, size: int) -> None:
        super().__init__()
        table = torch.zeros(size, size)
        for row in rows:
            for one, following in pairwise(row):
                table[one, following] = 9.0
        self.table = nn.Parameter(table)

    def forward(self, tokens, *, keep=None, cache=None):
        return self.table[tokens]

    def start_cache(self):
        return object()


def reader() -> Bundle:
    """A model with a vocabulary that is large enough to tell prose from chance."""
    letters = [*sorted(pre_tokenizers.ByteLevel.alphabet()), *(f"<{number}>" for number in range(SMALLEST))]
    engine = Engine(models.BPE(vocab={letter: number for number, letter in enumerate(letters)}, merges=[]))
    engine.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer = Tokenizer.from_engine(engine, kind="bpe", special=SpecialTokens())
    config = FAMILIES["gpt2"](vocab_size=len(letters), **(SIZES | {"max_len": 256}))
    model = Knows([tokenizer.encode(text).ids for text in PROSE[:1]], len(letters))
    return Bundle(config=config, model=model, preprocessing=Preprocessing(tokenizer=tokenizer))


def test_a_model_that_reads_finds_prose_likely():
    found = check_itself(reader())
    assert not found.fault
    assert 1 < found.perplexity < 30


def test_a_model_whose_vocabulary_was_moved_does_not():
    bundle = reader()
    with torch.no_grad():
        bundle.model.table.copy_(bundle.model.table.roll(1, 1) * 3)
    found = check_itself(bundle)
    assert "say --not-prose" in found.fault
    assert found.perplexity > bundle.config.vocab_size
    assert not check_itself(bundle, prose=False).fault


def test_an_import_fails_with_one_sentence_and_can_be_told_otherwise(tmp_path, monkeypatch, capsys):
    """A folder without transformers: an untrained model over a large vocabulary."""
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    gpt2_folder(tmp_path / "theirs")
    torch.manual_seed(1)
    config = FAMILIES["gpt2"](vocab_size=1500, **SIZES)
    write(tmp_path / "theirs", "gpt2", "GPT2LMHeadModel", config)
    with pytest.raises(ValueError, match=r"plain sentences have a perplexity of [\d,]+ or more .*; nothing written$"):
        import_checkpoint(tmp_path / "theirs", tmp_path / "ours")
    assert not (tmp_path / "ours").exists()
    assert main(["import", str(tmp_path / "theirs"), str(tmp_path / "ours"), "--not-prose"]) == 0
    told = capsys.readouterr().out
    assert "not checked: transformers is not installed" in told
    assert "cached steps" in told


def test_the_certificate_says_what_was_checked(tmp_path, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    gpt2_folder(tmp_path)
    plain = certify(read_hugging_face(tmp_path).bundle, tmp_path).as_json()
    assert plain["self_check"].keys() == {"finite", "future", "padding", "cached_steps", "perplexity"}
    assert {"values", "future changes the past", "cached steps"} <= {name for name, _ in rows(plain)}
