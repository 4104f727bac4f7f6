"""Zero configuration: sensible choices at every scale, each with a reason, and files that the recipe then finds."""

import tomllib
from pathlib import Path

import pytest

from clearformer.data.readers.parallel import CorpusError, Pair
from clearformer.data.survey import Survey
from clearformer.foundation import settings
from clearformer.model.cost import count_cost
from clearformer.run.recipe import parse_recipe
from clearformer.tasks.automatic.parallel_text import (
    Facts,
    choose,
    example,
    from_files,
    guess_language,
    hold_out,
    recognise,
    run_name,
)
from clearformer.tasks.model_section import model_config

SCALES = (100, 200, 2_000, 5_000, 30_000, 200_000, 1_000_000, 5_000_000, 40_000_000)


def facts(pairs, **others):
    return Facts(**{"pairs": pairs, "source_length": 50.0, "target_length": 60.0, **others})


def chosen(pairs, **others):
    return parse_recipe(choose(facts(pairs, **others), name="made")[0], "made")


def parameters(recipe):
    return count_cost(model_config(recipe.model, {"vocab_size": recipe.data.vocabulary.vocab_size})).total


@pytest.mark.parametrize("pairs", SCALES)
def test_every_scale_has_a_recipe_that_reads_back(pairs):
    plain, choices = choose(facts(pairs), name="made")
    recipe = parse_recipe(tomllib.loads(settings.to_toml(plain)), "made")
    assert recipe == chosen(pairs)
    assert {choice.what for choice in choices} >= {"vocabulary", "model", "dropout", "batch", "steps", "learning rate"}
    assert all(choice.value and choice.reason for choice in choices)
    assert recipe.training.batch_tokens >= recipe.data.max_length  # or the longest sentence would fit no batch
    assert recipe.training.schedule.warmup < 1  # a share, so that --minutes and training.steps scale it


def test_more_text_means_a_larger_model_less_dropout_and_fewer_passes():
    recipes = [chosen(pairs) for pairs in SCALES]
    sizes = [parameters(recipe) for recipe in recipes]
    assert sizes == sorted(sizes)
    dropout = [recipe.model["dropout"]["residual"] for recipe in recipes]
    assert dropout == sorted(dropout, reverse=True)
    passes = [
        recipe.training.steps * recipe.training.batch_tokens / n for n, recipe in zip(SCALES, recipes, strict=True)
    ]
    assert passes == sorted(passes, reverse=True)
    assert max(sizes) < 20e6  # an ordinary computer has to train it


def test_choices_are_a_function_of_the_facts():
    assert choose(facts(5_000), name="made") == choose(facts(5_000), name="made")


def test_chinese_has_no_mark_for_first_words_and_more_room_for_characters():
    chinese, german = chosen(30_000, target_script="Han/Kana"), chosen(30_000)
    assert not chinese.data.vocabulary.prefix_space
    assert german.data.vocabulary.prefix_space
    assert chinese.data.vocabulary.vocab_size == 2 * german.data.vocabulary.vocab_size


@pytest.mark.parametrize(("language", "tokenise"), [("de", None), ("zh", None), ("ja", "char"), (None, None)])
def test_bleu_splits_words_in_a_way_that_needs_no_other_package(language, tokenise):
    assert chosen(5_000, target_language=language).scoring.tokenise == tokenise


@pytest.mark.parametrize(("pairs", "each"), [(100, 20), (400, 20), (5_000, 250), (30_000, 1_000), (10**7, 1_000)])
def test_one_pair_in_twenty_is_held_out_within_limits(pairs, each):
    assert hold_out(pairs, "a and b") == each


def test_too_little_text_is_refused_with_a_way_out():
    with pytest.raises(ValueError, match=r"a and b have 99 pairs .* at least 100 .* `clearformer train sample`"):
        hold_out(99, "a and b")


@pytest.mark.parametrize(
    ("file", "text", "language"),
    [
        ("a.en", "x", "en"),
        ("europarl.de-en.de", "x", "de"),
        ("a.zh.gz", "x", "zh"),
        ("a.zh_CN", "x", "zh"),
        ("a.txt", "你好，世界", "zh"),
        ("a.txt", "こんにちは世界", "ja"),
        ("a.txt", "안녕하세요", "ko"),
        ("a.txt", "hello", None),  # many languages are written in Latin letters
        ("hello", "hello", None),
    ],
)
def test_the_language_is_guessed_by_name_then_by_script(file, text, language):
    assert guess_language(Path(file), Survey.of([Pair(text, "", 1)]).source) == language


def test_a_run_is_named_after_its_files():
    assert run_name(Path("here/my.en.gz"), Path("there/my.de")) == "my-en-de"
    assert run_name(Path("source.txt"), Path("target.txt")) == "source"


@pytest.fixture
def files(tmp_path):
    """150 pairs, one of which is blank on one side, and ten of which come twice."""
    rows = [(f"number {n} is here", f"Nummer {n} ist hier") for n in range(139)]
    rows = [*rows, *rows[:10], ("", "allein")]
    source, target = tmp_path / "my.en", tmp_path / "my.de"
    source.write_text("".join(f"{row[0]}\n" for row in rows))
    target.write_text("".join(f"{row[1]}\n" for row in rows))
    return source, target


def lines(path):
    return path.read_text(encoding="utf-8").splitlines()


def test_files_become_a_split_and_a_recipe_that_names_it(files, tmp_path):
    found = from_files(files, tmp_path / "run")
    recipe = parse_recipe(found.recipe, "made")
    data = recipe.data
    assert (data.source_language, data.target_language, recipe.name) == ("en", "de", "my-en-de")
    parts = {}
    for part in ("train", "dev", "test"):
        sources, targets = (lines(tmp_path / "run" / getattr(data, f"{part}_{side}")) for side in ("source", "target"))
        assert [line.split()[1] for line in sources] == [
            line.split()[1] for line in targets
        ]  # still beside its partner
        parts[part] = sources
    assert sum(map(len, parts.values())) == 149
    assert len(parts["dev"]) == len(parts["test"]) == 20
    assert not set(parts["train"]) & {*parts["dev"], *parts["test"]}
    assert not set(parts["dev"]) & set(parts["test"])
    assert "149 of 150" in found.report
    assert "left out: 1 blank_source" in found.report


def test_the_split_is_the_same_every_time(files, tmp_path):
    for out in ("one", "two"):
        from_files(files, tmp_path / out)
    assert lines(tmp_path / "one/data/test.en") == lines(tmp_path / "two/data/test.en")


def test_files_that_cannot_be_trained_on_stop_with_the_doctors_words(files, tmp_path):
    source, target = files
    target.write_text("one line\n")
    with pytest.raises(CorpusError, match=r"my\.en.*the two files do not have the same number of lines"):
        from_files([source, target], tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_two_files_are_taken_for_parallel_text(files, tmp_path):
    assert recognise(files) == "parallel text: line n of my.en belongs to line n of my.de"
    assert recognise(files[:1]) is None
    assert recognise([tmp_path, tmp_path]) is None


def test_the_example_to_try_is_of_the_test_set(files, tmp_path):
    found = from_files(files, tmp_path / "run")
    (tmp_path / "run" / "recipe.toml").write_text(settings.to_toml(found.recipe))
    assert example(tmp_path / "run") in lines(tmp_path / "run" / "data" / "test.en")
