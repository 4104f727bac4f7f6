"""Translators among many languages: the two that somebody names are marked as the published program marks them."""

import pytest
import tokenizers
import torch
import transformers as hf
from tokenizers import models, pre_tokenizers, processors

from clearformer.cli.main import main
from clearformer.folder import bundle
from clearformer.inference.translator import Translator
from clearformer.interop.importer import import_checkpoint, read_checkpoint
from clearformer.interop.language_marks import spoken
from interop.references import BART, reference

WORDS = ["<s>", "<pad>", "</s>", "<unk>", *"abcdefghijklmnop", "eng_Latn", "deu_Latn", "zho_Hans", "zho_Hant"]
SOURCE, TARGET = "eng_Latn", "deu_Latn"


def published(folder, *, words=WORDS, kind="M2M100", end=False):
    """A tiny translator with a vocabulary of words and marks."""
    config = {"M2M100": hf.M2M100Config, "MBart": hf.MBartConfig}[kind]
    reference(f"{kind}ForConditionalGeneration", config(**BART | {"vocab_size": len(words)})).save_pretrained(folder)
    engine = tokenizers.Tokenizer(models.WordLevel({word: n for n, word in enumerate(words)}, unk_token="<unk>"))
    engine.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    mark = next((word for word in words if "_" in word), None)
    if mark:
        engine.add_special_tokens([word for word in words if "_" in word])
        single = f"$A </s> {mark}" if end else f"{mark} $A </s>"
        marks = [(piece, words.index(piece)) for piece in (mark, "</s>")]
        engine.post_processor = processors.TemplateProcessing(single=single, special_tokens=marks)
    spelt = {"eos_token": "</s>", "pad_token": "<pad>", "unk_token": "<unk>", "bos_token": "<s>"}
    hf.PreTrainedTokenizerFast(tokenizer_object=engine, **spelt).save_pretrained(folder)
    (folder / "generation_config.json").unlink(missing_ok=True)
    return folder


@pytest.mark.parametrize("target", [TARGET, "zho_Hans"])
def test_greedy_translations_are_those_of_the_published_program(target, tmp_path):
    folder = published(tmp_path / "theirs")
    found = read_checkpoint(folder, languages=(SOURCE, target)).bundle
    theirs = hf.M2M100ForConditionalGeneration.from_pretrained(folder).eval()
    for text in ("a b c", "p", "d d e f g h a"):
        ids = [WORDS.index(word) for word in (SOURCE, *text.split(), "</s>")]
        options = {"forced_bos_token_id": WORDS.index(target), "do_sample": False, "num_beams": 1, "max_length": 40}
        written = theirs.generate(torch.tensor([ids]), **options)[0].tolist()
        [mine] = Translator(found).translate([text], beam=1, max_extra=60)
        assert [2, *mine.ids, 2][: len(written)] == written  # whole, or as far as theirs writes


def test_marks_stand_where_each_family_puts_them(tmp_path):
    found = read_checkpoint(published(tmp_path / "nllb"), languages=(SOURCE, TARGET)).bundle
    mine = found.preprocessing.markers
    assert (mine.before_source, mine.after_source, mine.forced) == ((20,), (2,), (21,))
    words = [*WORDS[:20], "en_XX", "de_DE"]
    folder = published(tmp_path / "mbart", words=words, kind="MBart", end=True)
    (folder / "tokenizer_config.json").write_text('{"tokenizer_class": "MBartTokenizer", "eos_token": "</s>"}')
    first = read_checkpoint(folder, languages=("en", "de")).bundle.preprocessing.markers
    assert (first.before_source, first.after_source, first.start, first.forced) == ((), (2, 20), 21, ())


def test_the_folder_remembers_between_which_languages(tmp_path):
    made = import_checkpoint(published(tmp_path / "theirs"), tmp_path / "ours", languages=(SOURCE, "German"))
    assert {key: made.provenance[key] for key in ("source_language", "target_language")} == spoken((SOURCE, TARGET))
    again = bundle.load(tmp_path / "ours")
    assert again.preprocessing.markers == made.preprocessing.markers
    assert again.provenance["target_language"] == "de"


@pytest.mark.parametrize(
    ("languages", "sentence"),
    [
        (None, r"translates among 4 languages; say between which two with --from and --to \(deu_Latn, eng_Latn"),
        ((SOURCE, "Chinese"), "has several marks for Chinese; name one of its own: zho_Hans, zho_Hant"),
        ((SOURCE, "xyz_Qqqq"), "has no mark for xyz_Qqqq"),
    ],
)
def test_what_is_open_is_asked_for(languages, sentence, tmp_path):
    with pytest.raises(ValueError, match=sentence):
        read_checkpoint(published(tmp_path / "theirs"), languages=languages)


def test_a_vocabulary_without_marks_takes_no_languages(tmp_path):
    folder = published(tmp_path / "theirs", words=WORDS[:20])
    with pytest.raises(ValueError, match="has no marks of languages"):
        read_checkpoint(folder, languages=("en", "de"))


def test_the_command_wants_both(tmp_path, capsys):
    folder = published(tmp_path / "theirs")
    assert main(["import", str(folder), str(tmp_path / "out"), "--from", SOURCE]) == 2
    assert "give both --from and --to" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
