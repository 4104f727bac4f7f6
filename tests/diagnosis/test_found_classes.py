"""Reports of classifiers, drawn by hand: one that says the same to everything, and those that do not."""

import pytest

from clearformer.diagnosis.found_classes import FoundClass, judge_classes, measure_classes, read_classes
from clearformer.foundation import storage


def classes(*rows):
    return [FoundClass(name=f"c{number}", count=count, found=found) for number, (count, found) in enumerate(rows)]


@pytest.mark.parametrize(
    ("rows", "name"),
    [
        ([(50, 100), (50, 0)], "one-class"),
        ([(40, 95), (30, 5), (30, 0)], "one-class"),
        ([(50, 0), (50, 0)], "one-class"),
        ([(95, 100), (5, 0)], "classes-never-found"),  # so are the examples themselves
        ([(50, 52), (45, 48), (5, 0)], "classes-never-found"),
        ([(50, 60), (50, 40)], None),
        ([(50, 100), (0, 0)], None),  # a class without examples cannot be missed
        ([(9, 9)], None),
    ],
)
def test_what_is_found_tells(rows, name):
    assert [one.name for one in judge_classes(classes(*rows))] == [name] * (name is not None)


def test_the_report_of_a_run_is_read(tmp_path):
    assert read_classes(tmp_path) == []
    storage.write_json(tmp_path / "report.json", {"part": "dev", "classes": [{"name": "a", "count": 3, "found": 0}]})
    assert measure_classes(read_classes(tmp_path)) == {"classes": 1, "classes_never_found": 1}
    assert measure_classes([]) == {}
