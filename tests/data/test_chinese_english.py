"""The tools that gather Chinese–English text: what they keep, what they leave out, and the recipes that they write."""

import gzip
import json
import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))
import chinese_english
import mixed_recipes
import open_text

from clearformer.run.recipe import read_recipe
from clearformer.tasks.data_files import check_files

HELD = "我在测试集里。", "I am in the test set."


def packed(path, lines):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress("".join(f"{line}\n" for line in lines).encode()))


def wikipedia(texts):
    return json.dumps({"data": [{"paragraphs": [{"context": text} for text in texts]}]}, ensure_ascii=False)


@pytest.fixture
def data(tmp_path, monkeypatch):
    """Folders of a few lines, as the real ones are laid out."""
    root = tmp_path / "data"
    monkeypatch.setenv("CLEARFORMER_DATA", str(root))
    for part, pairs in (
        ("train", [("我饿了。", "I am hungry."), ("我饿了。", "I am hungry.")]),
        ("val", [HELD]),
        ("test", [HELD]),
    ):
        for side, language in enumerate(("zh", "en")):
            packed(root / f"zh-en/{part}.{language}.gz", [pair[side] for pair in pairs])
    manual = [
        "Run it.\t运行 它。",
        "Use `x` here.\t在这里使用 `x`。",
        "i am in the TEST set\t我在测试集里",
        "Same\tSame",
    ]
    packed(root / "software/kubernetes-docs.en-zh.tsv.gz", manual)
    packed(root / "software/python-docs.en-zh.tsv.gz", ["For example::\t例如::"])
    packed(
        root / "software/gnome-docs-and-games.en-zh.tsv.gz",
        ["wesnoth\tA sword.\t一把剑。", "gnome-user-docs\tPrint.\t打印。"],
    )
    packed(
        root / "bible/web-luther1912-cuv.en-de-zh.tsv.gz", [f"1.1.{n}\tGod spoke.\tGott\t神说{n}。" for n in range(9)]
    )
    words = [
        "# CC-CEDICT",
        "機器 机器 [ji1 qi4] /machine/CL:臺|台[tai2]/",
        "李 李 [Li3] /surname Li/",
        "高 高 [gao1] /high/",
    ]
    packed(root / "dictionaries/cc-cedict.u8.gz", words)
    packed(
        root / "classical-modern-zh/train.tsv.gz",
        ["书\t卒。\t曹昭公班在这一年去世。", "书\t卒。\t短。", "书\t卒\t没有标点的一句话"],
    )
    question = {
        "context": "太短。这是一个足够长的句子。其中有formula_1的句子不要。",
        "qas": [{"question": "这个句子够不够长？"}],
    }
    packed(root / "chinese/cmrc2018/trial.json.gz", [json.dumps({"data": [{"paragraphs": [question]}]})])
    traditional = {"context": "這本著作很有名，大家都讀過。", "qas": []}
    packed(root / "chinese/drcd/dev.json.gz", [json.dumps({"data": [{"paragraphs": [traditional]}]})])
    packed(root / "squad/xquad/xquad.zh.json.gz", [wikipedia(["一句。两句！", "一句。两句。"])])
    packed(root / "squad/xquad/xquad.en.json.gz", [wikipedia(["One. Two!", "Only one."])])
    return root


@pytest.fixture
def gathered(data, tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["chinese_english.py", str(tmp_path / "out")])
    chinese_english.main()
    return tmp_path / "out"


def kept(folder, name):
    sides = [(folder / f"{name}.{language}").read_text(encoding="utf-8").splitlines() for language in ("zh", "en")]
    return list(zip(*sides, strict=True))


def test_each_pair_is_kept_once_and_tidied(gathered):
    assert kept(gathered, "tatoeba") == [("我饿了。", "I am hungry.")]
    assert kept(gathered, "kubernetes") == [("运行它。", "Run it.")]
    assert kept(gathered, "python") == [("例如:", "For example:")]


def test_only_the_part_with_an_open_licence(gathered):
    assert kept(gathered, "gnome") == [("打印。", "Print.")]


def test_a_small_share_of_the_bible(gathered):
    assert [chinese for chinese, _ in kept(gathered, "bible")] == ["神说0。", "神说8。"]


def test_words_with_their_first_meaning_and_no_names_or_single_characters(gathered):
    assert kept(gathered, "dictionary") == [("机器", "machine")]


def test_what_is_held_out_is_in_no_source(gathered, capsys):
    found = "\n".join(
        path.read_text(encoding="utf-8") for path in gathered.glob("*.zh") if not path.stem.startswith("dev")
    )
    assert chinese_english.key(HELD[0]) not in chinese_english.key(found)


def test_the_reasons_are_counted(data, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["chinese_english.py", str(tmp_path / "out")])
    chinese_english.main()
    said = capsys.readouterr().err
    assert "tatoeba: 1 pairs; left out: 1 there before" in said
    for reason in ("1 with markup or code", "1 in the development or test part", "1 without Chinese or English"):
        assert reason in said


def test_sentences_of_an_encyclopaedia_for_the_teacher(gathered):
    found = (gathered / "encyclopaedia.zh").read_text(encoding="utf-8").splitlines()
    assert sorted(found) == ["这个句子够不够长？", "这是一个足够长的句子。"]


def test_a_long_paragraph_is_taken_sentence_by_sentence():
    left, right = "今天天气很好。" * 10, " ".join(["The weather is fine today."] * 10)
    assert chinese_english.shortened((left, right)) == [("今天天气很好。", "The weather is fine today.")] * 10
    assert chinese_english.shortened((left, right + " Really.")) == [(left, right + " Really.")]  # nobody knows which
    assert chinese_english.shortened(("短。", "Short. Really.")) == [("短。", "Short. Really.")]


def test_prose_for_the_teacher_is_whole_sentences(gathered):
    assert (gathered / "modern.zh").read_text(encoding="utf-8") == "曹昭公班在这一年去世。\n"


def test_paragraphs_of_an_encyclopaedia_are_taken_where_both_have_as_many_sentences(data):
    found = chinese_english.parallel_sentences(data / "squad/xquad")
    assert list(found) == [("一句。", "One."), ("两句！", "Two!")]


def test_a_page_of_help_by_number_without_alternatives():
    page = '<p id="par_id1" class="x"><b>Save</b> &amp; close</p><h1 dir="auto" id="hd_id2">Head</h1>'
    page += '<p id="par_id3"><span hidden="true">Cmd</span><span>Ctrl</span>+F2</p>'
    assert list(open_text.marked_paragraphs(page)) == [("par_id1", "Save & close"), ("hd_id2", "Head")]


def test_traditional_characters_by_words_then_by_each_ones_usual_partner(tmp_path):
    rows = ["著 着 [zhe5] /mark/", "睡著 睡着 [shui4 zhao2] /asleep/", "著作 著作 [zhu4 zuo4] /work/"]
    packed(tmp_path / "words.gz", [*rows, "書 书 [shu1] /book/"])
    simplify = chinese_english.Simplifier(tmp_path / "words.gz")
    assert simplify("著作、書和睡著，unchanged") == "著作、书和睡着，unchanged"


def test_made_sentences_keep_their_names_and_numbers_in_both_languages(gathered):
    for chinese, english in kept(gathered, "made")[:300]:
        for word in re.findall(r"[A-Za-zÀ-ž]{5,}|\d+", chinese):
            assert word in english


def test_recipes_for_both_directions_and_each_alone(gathered, monkeypatch):
    (gathered / "tatoeba.teacher.en").write_text("I am hungry.\n", encoding="utf-8")
    (gathered / "modern.teacher.en").write_text("Cao Zhao Gong Ban died in this year.\n", encoding="utf-8")
    monkeypatch.setattr(sys, "argv", ["mixed_recipes.py", str(gathered), "--both", "30", "--each", "120"])
    mixed_recipes.main()
    both, back = (read_recipe(gathered / f"{name}.toml").data for name in ("both", "en-zh"))
    assert both.train_source.count("tatoeba.zh") == both.train_source.count("tatoeba.en") == 8
    assert both.train_target[both.train_source.index("modern-taught.zh")] == "modern-taught.en"
    assert back.train_source.count("tatoeba-taught.en") == 6
    assert "dictionary.en" not in back.train_source
    assert not any(name.endswith(".zh") for name in back.train_source)
    assert (back.source_language, back.target_language) == ("en", "zh")
    for recipe in (both, back):
        check_files(recipe, gathered)
        assert recipe.licence in recipe.attribution
        for owner in ("tatoeba.org", "Kubernetes", "CC-CEDICT", "OPUS-MT", "NiuTrans"):
            assert owner in recipe.attribution


def test_a_teachers_lessons_as_far_as_it_came(tmp_path):
    (tmp_path / "modern.zh").write_text("他走了。\n她来了。\n还没有翻译。\n", encoding="utf-8")
    (tmp_path / "modern.teacher.en").write_text("He left.\n\n", encoding="utf-8")
    assert mixed_recipes.take_lessons(tmp_path, "modern", "modern-taught")
    assert kept(tmp_path, "modern-taught") == [("他走了。", "He left.")]
    assert not mixed_recipes.take_lessons(tmp_path, "tatoeba", "tatoeba-taught")
