"""What teachers write: their lines stand beside their sources, and no block is written twice."""

from pathlib import Path

import pytest

from clearformer.inference.translation_settings import DecodingConfig
from clearformer.run.recipe import find_recipe, read_recipe
from clearformer.tasks import lessons
from clearformer.tasks.lessons import add_lessons, with_lessons, write_lessons
from clearformer.tasks.task import LessonPlan, Teachers
from clearformer.tasks.translation import ParallelData


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(lessons, "BLOCK", 3)
    path = tmp_path / "a.en"
    path.write_text("".join(f"line {n}\n" for n in range(8)))
    return path


def shout(texts):
    return [text.upper() for text in texts]


def test_line_n_belongs_to_line_n(source, tmp_path):
    seen = []
    written = write_lessons(source, tmp_path / "lessons" / "0", shout, lambda done, total: seen.append((done, total)))
    assert written.read_text() == source.read_text().upper()
    assert seen == [(3, 8), (6, 8), (8, 8)]


def test_an_interruption_loses_no_block(source, tmp_path):
    asked = []

    def tired(texts):
        asked.append(len(texts))
        if len(asked) == 2:
            raise KeyboardInterrupt
        return shout(texts)

    folder = tmp_path / "lessons" / "0"
    with pytest.raises(KeyboardInterrupt):
        write_lessons(source, folder, tired)
    assert write_lessons(source, folder, tired).read_text() == source.read_text().upper()
    assert asked == [3, 3, 3, 2]  # the first block was not asked for again
    write_lessons(source, folder, tired)
    assert len(asked) == 4  # nor was anything, once all was there


def test_a_line_break_in_a_translation_does_not_shift_the_lines_behind_it(source, tmp_path):
    written = write_lessons(source, tmp_path / "0", lambda texts: [f"{text}\nand more" for text in texts])
    assert written.read_text().splitlines()[7] == "line 7 and more"


def test_the_teacher_is_heard_beside_the_original_or_alone():
    data = ParallelData(train_source="a.en", train_target="a.de", dev_source="b.en", dev_target="b.de")
    both = with_lessons(data, [(Path("/x/a.en"), Path("/run/target.txt"))], alone=False)
    assert both.train_source == ("a.en", "/x/a.en")
    assert both.train_target == ("a.de", "/run/target.txt")
    alone = with_lessons(data, [(Path("/x/a.en"), Path("/run/target.txt"))], alone=True)
    assert (alone.train_source, alone.train_target) == (("/x/a.en",), ("/run/target.txt",))
    assert alone.dev_target == "b.de"


def test_another_teacher_is_refused(tmp_path):
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "manifest.json").write_text(name)
        (tmp_path / name / "config.json").write_text('{"format": 2, "model": {}}')
    lessons._same_teachers(tmp_path / "lessons", [tmp_path / "one"], DecodingConfig(beam=2))
    lessons._same_teachers(tmp_path / "lessons", [tmp_path / "one"], DecodingConfig(beam=2))
    with pytest.raises(ValueError, match="another teacher's lessons"):
        lessons._same_teachers(tmp_path / "lessons", [tmp_path / "two"], DecodingConfig(beam=2))


def test_a_teacher_of_the_other_direction_is_refused_before_it_writes(tmp_path):
    recipe = read_recipe(find_recipe("sample"), ["data.source_language=de", "data.target_language=en"])
    plan = LessonPlan(folder=tmp_path / "no", base=tmp_path, options=recipe.use)
    with pytest.raises(ValueError, match="translates en to de, but lessons from de to en are wanted here"):
        add_lessons(recipe.data, Teachers(together=["en-de"]), plan)
    with pytest.raises(ValueError, match="models of the other direction go behind --back"):
        add_lessons(recipe.data, Teachers(together=["en-de"]), plan)
    assert not (tmp_path / "no").exists()
