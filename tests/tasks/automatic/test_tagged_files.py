"""From a CoNLL file to a recipe: what it is taken for, what is held out, and what the doctor says."""

import pytest

from clearformer.data.readers.conll import ConllError, read_conll
from clearformer.run.automatic import choose, examine, recognise
from clearformer.run.recipe import read_recipe
from clearformer.tasks.automatic import tagged_files
from tasks.test_word_tags import ZH_NAMES, ZH_WORDS, write_conll


def test_a_file_is_recognised_by_its_ending_and_read(tmp_path):
    write_conll(tmp_path / "names.conll", 30)
    found = recognise([tmp_path / "names.conll"])
    assert found.task.name == "tagging"
    assert found.words == "words with tags: LOC, PER"
    (tmp_path / "notes.txt").write_text("plain text\n")
    assert tagged_files.recognise([tmp_path / "notes.txt"]) is None


def test_choices_make_a_recipe_that_reads(tmp_path):
    write_conll(tmp_path / "names.conll", 100)
    chosen = choose([tmp_path / "names.conll"], tmp_path / "run")
    recipe = read_recipe(tmp_path / "run" / "recipe.toml")
    assert recipe.task == "tagging"
    assert recipe.data.words == "spaced"
    whats = [choice.what for choice in chosen.choices]
    assert whats == ["held out", "entities", "vocabulary", "length", "model", "steps", "start"]
    parts = {name: list(read_conll(tmp_path / "run" / "data" / f"{name}.conll")) for name in ("train", "dev", "test")}
    whole = [(row.words, row.tags) for row in read_conll(tmp_path / "names.conll")]
    kept = [(row.words, row.tags) for rows in parts.values() for row in rows]
    assert sorted(kept) == sorted(whole)
    sentences = [{row.words for row in rows} for rows in parts.values()]
    assert not (sentences[0] & sentences[1] | sentences[0] & sentences[2] | sentences[1] & sentences[2])
    assert 0 < len(parts["dev"]) < 20
    assert tagged_files.example(tmp_path / "run")


def test_chinese_gets_characters(tmp_path):
    write_conll(tmp_path / "zh.bio", 60, names=ZH_NAMES, words=ZH_WORDS, apart=list)
    choose([tmp_path / "zh.bio"], tmp_path / "run")
    recipe = read_recipe(tmp_path / "run" / "recipe.toml")
    assert recipe.data.words == "characters"
    assert recipe.data.vocabulary.kind == "character"
    assert " " not in tagged_files.example(tmp_path / "run")


def test_repairs_are_among_the_choices(tmp_path):
    write_conll(tmp_path / "names.conll", 30)
    with (tmp_path / "names.conll").open("a") as file:
        file.write("\nRome\tI-LOC\n")
    chosen = choose([tmp_path / "names.conll"], tmp_path / "run")
    assert [choice.value for choice in chosen.choices if choice.what == "repaired"] == ["1 lines"]
    report = examine([tmp_path / "names.conll"])
    assert report.findings["a line that had to be repaired"][0].startswith(str(tmp_path / "names.conll"))


@pytest.mark.parametrize(
    ("text", "told"), [("a\tO\n\n" * 10, "has 10 sentences, but at least 20"), ("a\tO\n\n" * 30, "has no entities")]
)
def test_too_little_is_refused(tmp_path, text, told):
    (tmp_path / "few.conll").write_text(text)
    with pytest.raises(ConllError, match=told):
        choose([tmp_path / "few.conll"], tmp_path / "run")
