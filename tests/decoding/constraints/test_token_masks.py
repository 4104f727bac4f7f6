"""Whatever chance chooses among the allowed tokens fits the form, also where the limit ends it."""

import json
import re
from random import Random

import pytest
import torch

from clearformer.decoding.constraints.grammar import choices
from clearformer.decoding.constraints.json_schema import schema_grammar
from clearformer.decoding.constraints.regex import whole_match
from clearformer.decoding.constraints.token_masks import ImpossibleError, TokenMasks
from clearformer.decoding.constraints.token_trie import TokenTrie
from clearformer.decoding.rules import Rules
from clearformer.decoding.sampling import sample
from support.random_schemas import fits, random_schema

PIECES = [
    '{"',
    '": ',
    '", "',
    "true",
    "null",
    ', "',
    '": "',
    "name",
    "雪",
    "😀",
    "12",
    "0.",
    "}]",
    '"}',
    "  ",
    "abc",
    "\\n",
]
TOKENS = [*(bytes([byte]) for byte in range(256)), *map(str.encode, PIECES), "雪".encode()[:2], None]
END = len(TOKENS) - 1
TRIE = TokenTrie(TOKENS)


def masks(grammar, limit=200, trie=TRIE, **more):
    return TokenMasks(grammar, trie, end=len(trie.tokens) - 1, size=len(trie.tokens), limit=limit, **more)


def written(form, limit, random, tokens=TOKENS):
    """Tokens chosen by chance among those that are allowed: no weights could be worse."""
    history = []
    while len(history) < limit:
        allowed = form.allowed(history).nonzero().squeeze(1).tolist()
        assert allowed, history
        token = random.choice(allowed)
        if token == len(tokens) - 1:
            break
        history.append(token)
    return b"".join(tokens[token] for token in history)


def fewest(form_of):
    """The smallest limit that is not refused, from what the refusal says."""
    try:
        form_of(1)
    except ImpossibleError as error:
        return int(re.search(r"takes (\d+) tokens", str(error))[1])
    return 1


@pytest.mark.parametrize("part", range(10))
def test_three_hundred_random_schemas_and_every_text_is_valid(part):
    """Values are checked by another reading of the specification. Limits are tight, and as tight as they can be."""
    for seed in range(30 * part, 30 * part + 30):
        random = Random(seed)
        schema = random_schema(random)
        grammar = schema_grammar(schema)
        least = fewest(lambda limit, grammar=grammar: masks(grammar, limit))
        for limit in (least, least + random.choice([1, 3, 30, 150])):
            text = written(masks(grammar, limit), limit, random).decode()
            assert fits(json.loads(text), schema, schema), (seed, limit, text, schema)


@pytest.mark.parametrize("pattern", ["(ab|雪)+c", "[^a]{3,}", ".*", "\\d{4}-\\d\\d", "(yes|no)( please)?", "😀{2,5}"])
def test_random_texts_of_a_pattern(pattern):
    for seed in range(10):
        random, limit = Random(seed), 12
        text = written(masks(whole_match(pattern), limit), limit, random).decode()
        assert re.fullmatch(pattern, text), text


def test_every_choice_can_be_written_in_every_spelling():
    form, random = masks(choices(("true", "nulls", "雪")), 6), Random(0)
    assert {written(form, 6, random).decode() for _ in range(60)} == {"true", "nulls", "雪"}


def test_the_end_is_allowed_exactly_where_the_text_fits():
    form = masks(whole_match("ab?"))
    assert [bool(form.allowed(history)[END]) for history in ((), [97], [97, 98])] == [False, True, True]
    assert form.allowed([97, 98]).sum() == 1


def test_a_form_that_does_not_fit_into_the_limit_is_refused_before_the_first_token():
    masks(whole_match("a{5}"), 5)
    with pytest.raises(ImpossibleError, match="takes 5 tokens, and at most 4"):
        masks(whole_match("a{5}"), 4)
    masks(whole_match("(name){5}"), 5)  # five tokens, though twenty bytes


@pytest.mark.parametrize(
    "form", [whole_match("a[^\\s\\S]"), schema_grammar({"type": "integer", "minimum": 1.2, "maximum": 1.8})]
)
def test_what_nothing_fits_is_refused(form):
    with pytest.raises(ImpossibleError, match="no text fits"):
        masks(form)


def test_a_vocabulary_that_cannot_spell_a_character_is_refused_or_does_without():
    tokens = [b"a", b"b", b"ab", None]
    with pytest.raises(ImpossibleError, match="no token for 'é'"):
        masks(whole_match("aé"), trie=TokenTrie(tokens))
    form = masks(whole_match("(a|é|b){3}"), 3, trie=TokenTrie(tokens))
    assert {written(form, 3, Random(seed), tokens) for seed in range(40)} == {
        bytes(letters) for letters in ((a, b, c) for a in b"ab" for b in b"ab" for c in b"ab")
    }


def test_special_tokens_are_never_text():
    tokens = [b"<", b"e", b">", None]  # the last is spelt <e> by people, and adds nothing to a text
    form = masks(whole_match("<e>"), 3, trie=TokenTrie(tokens))
    assert form.allowed([0, 1, 2]).tolist() == [False, False, False, True]
    assert form.allowed([]).tolist() == [True, False, False, False]


def test_a_space_that_the_vocabulary_takes_off_is_not_counted():
    tokens = [b" a", b"a", b" ", b"b", None]
    form = masks(whole_match("ab"), 3, trie=TokenTrie(tokens), bare=True)
    assert form.allowed([]).tolist() == [True, True, False, False, False]
    assert form.allowed([0]).tolist() == [False, False, False, True, False]


def test_rows_of_one_batch_each_keep_to_the_form():
    class Noise:
        """Logits by chance."""

        def start(self, source):
            return torch.zeros(len(source), dtype=torch.int64), self

        def step(self, tokens, state):
            return torch.randn(len(tokens), len(TOKENS), generator=generator), self

        def select(self, rows):
            return self

    generator = torch.Generator().manual_seed(0)
    rules = Rules(eos=END, constraint=masks(schema_grammar({"enum": ["snow", "rain", 12]}), 9))
    found = sample(Noise(), [0] * 20, rules=rules, max_len=9, seeds=range(20))
    texts = {b"".join(TOKENS[token] for token in one.tokens).decode() for one in found}
    assert texts == {'"snow"', '"rain"', "12"}


def test_states_are_found_again_when_they_were_forgotten():
    form = masks(whole_match("[ab]*c"), 10_000)
    history = [97] * 6000
    for length in range(0, 6000, 500):
        form.allowed(history[:length])
    assert form.allowed(history)[99]
    assert form.fits(b"aabc")
    assert not form.fits(b"aab")
