"""From a folder of pictures with boxes to a recipe: layouts and parts are found, choices have reasons."""

import json
import shutil
import tomllib
from pathlib import Path

import pytest

from clearformer.data.readers.box_files import read_boxed
from clearformer.data.readers.boxes import BoxError
from clearformer.foundation import settings
from clearformer.run import automatic
from clearformer.run.recipe import parse_recipe
from clearformer.tasks.automatic.boxed_folders import choose, examine, example, find_parts, recognise, run_name
from support.toy_boxes import draw_many, write_coco, write_voc


@pytest.fixture
def coco(tmp_path):
    write_coco(tmp_path / "cells", draw_many(40))
    return tmp_path / "cells"


def test_both_layouts_are_recognised_and_other_folders_are_not(coco, tmp_path):
    voc = write_voc(tmp_path / "voc", draw_many(20))
    assert recognise([coco]) == recognise([coco / "boxes.json"]) == "pictures with boxes (COCO JSON)"
    assert recognise([voc]) == "pictures with boxes (VOC XML) in train, dev, test"
    assert recognise([coco / "images"]) is None
    assert recognise([coco, coco]) is None
    assert automatic.recognise([coco]).task.name == automatic.recognise([voc]).task.name == "detection"


def test_parts_are_found_by_their_usual_names(coco, tmp_path):
    voc = write_voc(tmp_path / "voc", draw_many(20))
    assert {part: path.rpartition("/")[2] for part, path in find_parts(voc).items()} == {
        "train": "train.txt", "dev": "val.txt", "test": "test.txt",
    }  # fmt: skip
    whole = tmp_path / "parts"
    for part in ("train", "valid", "test"):
        shutil.copytree(coco, whole / part)
    assert list(find_parts(whole)) == ["train", "dev", "test"]
    assert automatic.recognise([whole]).task.name == "detection"  # and not pictures of three classes


def test_an_archive_is_like_a_folder(coco, tmp_path):
    voc = write_voc(tmp_path / "voc", draw_many(20))
    for place in (voc, coco):
        packed = Path(shutil.make_archive(str(tmp_path / f"{place.name}-packed"), "gztar", place.parent, place.name))
        assert recognise([packed]) == recognise([place])
        assert list(find_parts(packed)) == list(find_parts(place))
        found = choose([packed], tmp_path / "run").recipe["data"]
        assert [len(read_boxed(found[part])) > 0 for part in ("train", "dev", "test")] == [True] * 3
    broken = tmp_path / "broken.zip"
    broken.write_bytes(b"PK nothing")
    assert recognise([broken]) is None


def test_everything_is_chosen_with_a_reason(coco, tmp_path):
    chosen = choose([coco], tmp_path / "run")
    recipe = parse_recipe(tomllib.loads(settings.to_toml(chosen.recipe)), "made")
    assert recipe.task == "detection"
    assert recipe.name == "cells" == run_name([coco])
    assert recipe.data.size % recipe.model["front"]["patch"] == 0
    assert all(choice.value and choice.reason for choice in chosen.choices)
    parts = [read_boxed(getattr(recipe.data, part)) for part in ("train", "dev", "test")]
    assert sum(map(len, parts)) == 40
    assert all(parts)
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "recipe.toml").write_text(settings.to_toml(chosen.recipe))
    assert example(tmp_path / "run") in [one.path for one in parts[2]]


def test_what_cannot_be_trained_on_is_refused_with_the_doctor_s_words(coco, tmp_path):
    (coco / "images" / "001.png").unlink()
    assert examine([coco]).fatal
    with pytest.raises(BoxError, match="its picture is missing"):
        choose([coco], tmp_path / "run")


def test_too_few_pictures_for_parts_are_refused(tmp_path):
    write_coco(tmp_path, draw_many(2))
    with pytest.raises(BoxError, match="give more pictures"):
        choose([tmp_path], tmp_path / "run")


def test_the_doctor_compares_the_parts(tmp_path):
    voc = write_voc(tmp_path / "voc", draw_many(20))
    shutil.copy(voc / "JPEGImages" / "p000.jpg", voc / "JPEGImages" / "p019.jpg")
    told = json.loads(examine([voc]).to_json())
    assert [one["kind"] for one in told["findings"]].count("copy") == 1
    assert "which is in the part train and not in test" in str(told["findings"])


def test_every_annotation_that_cannot_be_read_is_named_at_once(tmp_path):
    voc = write_voc(tmp_path / "voc", draw_many(20))
    for name in ("p001", "p002"):
        path = voc / "Annotations" / f"{name}.xml"
        path.write_text(path.read_text()[:60])
    report = examine([voc])
    named = [one for one in report.findings if one.kind == "annotation"]
    assert [Path(one.place).stem for one in named] == ["p001", "p002"]
    assert all(one.fatal and one.what.startswith("is no whole XML file") for one in named)
    assert report.pictures["train"] == 14  # the others are looked at as well
    with pytest.raises(BoxError, match=r"p001\.xml: is no whole XML file"):
        choose([voc], tmp_path)
