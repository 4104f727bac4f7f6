"""The promise: text goes in, the same text comes out; and a vocabulary that is not the model's is refused."""

import json
import os
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import tokenizers
from hypothesis import example, given, settings
from hypothesis import strategies as st

from clearformer.text.special import SENTENCE, SpecialTokens
from clearformer.text.tokenizer import MAX_CHARACTERS, Tokenizer, describe_difference
from clearformer.text.train_tokenizer import train
from support.toy_chat import MARKS, chat_tokenizer

KINDS = ("bpe", "unigram", "character", "byte", "wordpiece")
LOSSLESS = ("bpe", "unigram", "character", "byte")

# Everything that has ever made a tokenizer lose text, mixed with whatever hypothesis thinks of.
SPACES = [" ", "  ", "\t", "\n", "\r\n", "\x00", "\x01", "\x0b", "\x85", "\u2028", "\u00a0", "\u3000", "\ufeff"]
MARKERS = [
    "▁",
    "Ġ",
    "##",
    "<",
    ">",
    "<pad>",
    "<bos>",
    "<eos>",
    "<unk>",
    "[CLS]",
    "<0x41>",
    "<0xE6>",
    "&apos;",
    "\ufffd",
]
SCRIPTS = [
    "机器学习",
    "한국어",
    "Привет",
    "مرحبا",
    "हिन्दी",
    "ภาษาไทย",
    "e\u0301",
    "é",
    "ﬁ",
    "İ",
    "ß",
    "👩‍👩‍👧",
    "🇩🇪",
    "𝔘",
]
ORDINARY = ["the", " dogs", "Two", "l'homme", "don’t", "1984", "...", "@-@"]
NASTY = st.sampled_from([*SPACES, *MARKERS, *SCRIPTS, *ORDINARY])
TEXTS = st.one_of(
    st.text(max_size=40),
    st.lists(NASTY, max_size=12).map("".join),
    st.lists(st.one_of(NASTY, st.text(max_size=3)), max_size=12).map("".join),
).filter(lambda text: not any("\ud800" <= character <= "\udfff" for character in text))


@pytest.mark.parametrize("kind", LOSSLESS)
@given(text=TEXTS)
@example(text="")
@example(text=" ")
@example(text="  two  spaces  ")
@example(text="<bos> <eos><0xE6><unk>")
@example(text="a man doesn &apos;t see @-@ it .\n")
@settings(max_examples=150, deadline=None)
def test_decoding_what_was_encoded_gives_the_text_back(trained, kind, text):
    tokenizer = trained[kind]
    assert tokenizer.decode(tokenizer.encode(text).ids) == text
    assert tokenizer.decode(tokenizer.encode(text, add_special=False).ids) == text


@pytest.mark.parametrize("kind", LOSSLESS)
@given(text=TEXTS)
@settings(max_examples=100, deadline=None)
def test_text_never_becomes_a_special_token(trained, kind, text):
    tokenizer = trained[kind]
    assert not set(tokenizer.encode(text, add_special=False).ids) & set(tokenizer.special_ids.values())


def test_trained_wordpiece_reads_a_special_spelling_as_text(trained):
    tokenizer = trained["wordpiece"]
    ids = tokenizer.encode("see [MASK] and [SEP]", add_special=False).ids
    assert not {tokenizer.special_id(role) for role in ("mask", "sep", "cls", "pad")} & set(ids)


@pytest.mark.parametrize("kind", KINDS)
@given(batch=st.lists(TEXTS, max_size=5), add_special=st.booleans())
@settings(max_examples=25, deadline=None)
def test_a_batch_is_its_texts_one_by_one(trained, kind, batch, add_special):
    tokenizer = trained[kind]
    alone = [tokenizer.encode(text, add_special) for text in batch]
    assert tokenizer.encode_batch(batch, add_special) == alone
    assert tokenizer.ids(batch, add_special) == [list(encoding.ids) for encoding in alone]
    assert tokenizer.decode_batch(tokenizer.ids(batch)) == [tokenizer.decode(row) for row in tokenizer.ids(batch)]


@pytest.mark.parametrize("kind", KINDS)
def test_pieces_and_ids_are_two_names_for_one_thing(trained, kind):
    tokenizer = trained[kind]
    encoding = tokenizer.encode("Two dogs, 两只狗!")
    assert tuple(tokenizer.piece(number) for number in encoding.ids) == encoding.pieces
    assert tuple(tokenizer.id(piece) for piece in encoding.pieces) == encoding.ids
    assert len(encoding) == len(encoding.ids) == len(encoding.offsets)


@pytest.mark.parametrize("kind", LOSSLESS)
def test_offsets_cover_the_text_from_left_to_right(trained, kind):
    text = "Two dogs, 两只狗 😀!"
    encoding = trained[kind].encode(text, add_special=False)
    covered = 0
    for start, end in encoding.offsets:
        assert start <= covered <= end or start == covered
        covered = max(covered, end)
    assert covered == len(text)


def test_sentences_stand_between_their_markers(trained):
    assert trained["bpe"].encode("dogs").pieces[0] == "<bos>"
    assert trained["bpe"].encode("dogs").pieces[-1] == "<eos>"
    assert trained["wordpiece"].encode("dogs").pieces[0] == "[CLS]"
    assert trained["wordpiece"].encode("dogs").pieces[-1] == "[SEP]"
    assert trained["bpe"].encode("").ids == (1, 2)


def test_skipping_special_tokens_is_a_choice(trained):
    tokenizer = trained["bpe"]
    ids = tokenizer.encode("dogs").ids
    assert tokenizer.decode(ids) == "dogs"
    assert tokenizer.decode(ids, skip_special=False) == "<bos> dogs<eos>"


def test_half_a_character_decodes_to_the_replacement_sign_and_not_to_an_error(trained):
    tokenizer = trained["byte"]
    first_byte, *_ = tokenizer.encode("机", add_special=False).ids
    assert tokenizer.decode([first_byte]) == "\ufffd"


def test_special_roles_have_ids(trained):
    tokenizer = trained["bpe"]
    assert (tokenizer.pad_id, tokenizer.bos_id, tokenizer.eos_id, tokenizer.unk_id) == (0, 1, 2, 3)
    with pytest.raises(KeyError, match="has no 'cls' token; it has pad, bos, eos, unk"):
        tokenizer.special_id("cls")


# --- refused with a sentence -----------------------------------------------------------------------------------------


def test_ids_outside_the_vocabulary_are_refused(trained):
    size = trained["byte"].vocab_size
    for wrong in (-1, size, 10**9):
        with pytest.raises(ValueError, match=f"id {wrong} is outside this vocabulary of {size} pieces"):
            trained["byte"].decode([5, wrong])


def test_an_absurdly_long_text_is_refused_instead_of_worked_on(trained):
    with pytest.raises(ValueError, match="1,000,001 characters is more than the 1,000,000"):
        trained["bpe"].encode("a" * (MAX_CHARACTERS + 1))


def test_half_a_surrogate_pair_is_refused_at_its_place(trained):
    for call in (trained["bpe"].encode, lambda text: trained["bpe"].ids([text])):
        with pytest.raises(ValueError, match=r"surrogate pair at character 2 \('\\ud83d'\)"):
            call("ab\ud83d")


def test_unknown_pieces_kinds_and_roles_are_named(trained):
    with pytest.raises(KeyError, match="'Katzenklo' is not a piece"):
        trained["bpe"].id("Katzenklo")
    definition = trained["byte"]._definition
    with pytest.raises(ValueError, match="unknown kind of tokenizer 'words'"):
        Tokenizer(definition, kind="words", special=SENTENCE)
    with pytest.raises(ValueError, match="no piece '<s>', which was named as its 'bos' token"):
        Tokenizer(definition, kind="byte", special=SpecialTokens(bos="<s>"))


# --- on disk ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_save_and_load_is_identity(trained, kind, tmp_path):
    tokenizer = trained[kind]
    path = tmp_path / "tokenizer.json"
    tokenizer.save(path)
    facts = json.loads(json.dumps(tokenizer.facts()))  # the way it travels: through config.json
    loaded = Tokenizer.load(path, facts)
    assert loaded == tokenizer
    assert loaded.special == tokenizer.special
    assert loaded.facts() == tokenizer.facts()
    text = "Two dogs <eos> 狗 😀"
    assert loaded.encode(text) == tokenizer.encode(text)
    loaded.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == path.read_bytes()


@pytest.mark.parametrize("kind", KINDS)
def test_the_saved_file_opens_with_the_plain_library(trained, kind, tmp_path):
    trained[kind].save(tmp_path / "tokenizer.json")
    plain = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    assert tuple(plain.encode("Two dogs play.").ids) == trained[kind].encode("Two dogs play.").ids


def test_a_changed_piece_is_refused_and_named(trained, tmp_path):
    tokenizer = trained["bpe"]
    path = tmp_path / "tokenizer.json"
    definition = json.loads(tokenizer._definition)
    number = definition["model"]["vocab"].pop("ß", None) or definition["model"]["vocab"].pop("Z")
    definition["model"]["vocab"]["Ω"] = number
    path.write_text(json.dumps(definition), encoding="utf-8")
    with pytest.raises(ValueError, match=r"(?s)not the tokenizer this model was trained with.*among ids.*'Ω'") as error:
        Tokenizer.load(path, tokenizer.facts())
    first = int(str(error.value).split("among ids ")[1].split(" ")[0])
    assert first <= number < first + 16


def test_another_vocabulary_is_refused_with_both_sizes(trained, tmp_path):
    trained["byte"].save(tmp_path / "tokenizer.json")
    with pytest.raises(ValueError, match=r"it has 260 pieces instead of \d+"):
        Tokenizer.load(tmp_path / "tokenizer.json", trained["bpe"].facts())


def test_changed_roles_are_refused(trained, tmp_path):
    trained["bpe"].save(tmp_path / "tokenizer.json")
    facts = trained["bpe"].facts()
    facts["special"] = {**facts["special"], "bos": "<eos>"}
    with pytest.raises(ValueError, match="the special roles or the kind differ"):
        Tokenizer.load(tmp_path / "tokenizer.json", facts)


def test_files_that_are_not_tokenizers_are_refused_with_their_name(trained, tmp_path):
    facts = trained["bpe"].facts()
    hostile = ["", "{", "[]", "{}", '{"model": {}}', '{"model": {"vocab": {"a": 999999999999}}}', "null"]
    for content in hostile:
        path = tmp_path / "tokenizer.json"
        path.write_text(content)
        with pytest.raises(ValueError, match=r"tokenizer\.json is not a tokenizer\.json"):
            Tokenizer.load(path, facts)
    trained["bpe"].save(path)
    del facts["fingerprint"], facts["outline"]
    with pytest.raises(ValueError, match="lack fingerprint, outline"):
        Tokenizer.load(path, facts)


def test_a_difference_is_described_piece_by_piece(trained):
    one = train("character", ["aé" * 3])
    two = train("character", ["aü" * 3])
    said = describe_difference(one, two)
    assert "is 'é' against 'ü'" in said
    assert "only in the first: 'é'" in said
    assert "only in the second: 'ü'" in said
    assert describe_difference(one, train("character", ["aé" * 3])) == ""
    assert "kind is 'bpe' against 'byte'" in describe_difference(trained["bpe"], trained["byte"])


# --- many threads, many processes ------------------------------------------------------------------------------------


def test_a_tokenizer_travels_to_another_process(trained):
    for tokenizer in trained.values():
        copy = pickle.loads(pickle.dumps(tokenizer))
        assert copy == tokenizer
        assert copy.encode("<eos> dogs") == tokenizer.encode("<eos> dogs")


def test_threads_may_share_a_tokenizer(trained, sentences):
    tokenizer = trained["bpe"]
    expected = tokenizer.encode_batch(sentences)
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(tokenizer.encode, sentences)) == expected


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_fork_after_a_batch_is_silent_and_works(tmp_path):
    script = tmp_path / "fork.py"
    script.write_text(
        "import os, sys\n"
        "from clearformer.text.train_tokenizer import train\n"
        "tokenizer = train('bpe', ['two dogs play'] * 50, 260)\n"
        "expected = tokenizer.ids(['two dogs'] * 64)\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    os._exit(0 if tokenizer.ids(['two dogs'] * 64) == expected else 3)\n"
        "sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))\n"
    )
    environment = {name: value for name, value in os.environ.items() if name != "TOKENIZERS_PARALLELISM"}
    done = subprocess.run(
        [sys.executable, str(script)], env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""


def test_importing_text_does_not_import_torch():
    modules = "clearformer.text.train_tokenizer, clearformer.text.doctor.parallel"
    code = f"import sys, {modules}; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_unused_numbers_have_no_piece(tmp_path):
    definition = json.loads(train("byte", [])._definition)
    definition["model"]["vocab"]["<0x7F>"] = 300
    tokenizer = Tokenizer(json.dumps(definition), kind="byte", special=SENTENCE)
    assert tokenizer.vocab_size == 301
    with pytest.raises(KeyError, match="id 290 is not used"):
        tokenizer.piece(290)


def test_a_missing_file_is_named(trained):
    with pytest.raises(FileNotFoundError, match=r"nowhere\.json"):
        Tokenizer.load(Path("nowhere.json"), trained["bpe"].facts())


def test_marks_are_the_special_pieces_that_a_text_can_spell():
    tokenizer = chat_tokenizer()
    assert tokenizer.marks() == {mark: tokenizer.id(mark) for mark in MARKS}
    kept = Tokenizer(tokenizer.definition, kind=tokenizer.kind, special=tokenizer.special)
    assert kept.marks() == {}  # there, text stays text
