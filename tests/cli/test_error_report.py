"""Reports on a terminal: columns stand under one another also in Chinese, and nothing is left out silently."""

from rich.cells import cell_len

from clearformer.cli.error_report import show_report
from clearformer.evaluation.report import ErrorReport, Mistake, confuse, score_by_class


def shown(wanted, found, mistakes=(), mistaken=0):
    report = ErrorReport(
        scores={},
        classes=score_by_class(found, wanted),
        confusion=confuse(zip(wanted, found, strict=True)),
        mistakes=mistakes,
        mistaken=mistaken,
    )
    return list(show_report(report))


def test_columns_are_aligned_by_cells():
    lines = shown(["体育", "sport", "体育", "a very long name of a class"], ["体育", "体育", "sport", "sport"])
    start = next(place for place, line in enumerate(lines) if line.startswith("true"))
    assert len({cell_len(line) for line in lines[start : start + 4]}) == 1
    classes = lines[1:5]
    assert len({cell_len(line) for line in classes}) == 1


def test_twelve_classes_are_shown_and_the_rest_is_counted():
    labels = [f"class {number:02}" for number in range(20) for _ in range(30 - number)]
    lines = shown(labels, labels)
    assert sum("and 8 rarer classes, which report.json has" in line for line in lines) == 2
    assert any(line.startswith("class 11") for line in lines)
    assert not any(line.startswith("class 12") for line in lines)


def test_a_report_without_anything_wrong_says_so():
    assert list(show_report(ErrorReport(scores={}))) == ["nothing was wrong"]


def test_a_mistake_has_its_place_and_a_shortened_text():
    mistake = Mistake(text="电影" * 100, wanted="好", found="坏", probability=0.987, place="评论.csv:812")
    *_, first, second = shown(["好"], ["坏"], [mistake], 25)
    assert "98.7 %  坏 instead of 好" in first
    assert second.strip().startswith("评论.csv:812: 电影")
    assert cell_len(second) < 100
    assert second.endswith("…")
    assert any("25 mistakes; the 1 that the model was surest of" in line for line in shown(["a"], ["b"], [mistake], 25))


def test_control_characters_do_not_reach_the_terminal():
    mistake = Mistake(text="a\x1b[31mred\x00", wanted="a\nb", found="\x07", probability=0.5)
    for line in shown(["a"], ["b"], [mistake], 1):
        assert line.isprintable()
