"""One small corpus and one trained tokenizer a kind, shared by the tests of this folder."""

import pytest

from clearformer.text.tokenizer import Tokenizer
from clearformer.text.train_tokenizer import train

SENTENCES = [
    "Two dogs play in the snow.",
    "Two young men play football while the others watch.",
    "The dog plays while the man watches the snow.",
    "Zwei Hunde spielen im Schnee.",
    "Der Mann sieht den Hunden beim Spielen zu.",
    "l'homme n'a pas vu les chiens dans la neige",
    "don't you see the dogs?",
    "a man doesn &apos;t see the dog .",
    "机器学习很有意思。",
    "我喜欢机器学习，也喜欢狗。",
    "Привет, мир! Собаки играют в снегу.",
    "In 1984 there were 1,984 dogs 😀 and 12 cats 😀.",
] * 5

KINDS = ("bpe", "unigram", "character", "byte", "wordpiece")
LOSSLESS = ("bpe", "unigram", "character", "byte")


@pytest.fixture(scope="session")
def sentences() -> list[str]:
    return list(SENTENCES)


@pytest.fixture(scope="session")
def trained() -> dict[str, Tokenizer]:
    return {kind: train(kind, SENTENCES, 420) for kind in KINDS}
