"""Line for line: as many translations as sentences, from any kind of input, whatever the batch."""

import json
import os
import pty
import select
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from clearformer.cli.main import main
from clearformer.folder import bundle
from interop.folders import gpt2_folder
from support.toy_models import small


def lines(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[str]:
    assert main(["translate", *arguments]) == 0
    return capsys.readouterr().out.split("\n")[:-1]


def test_sentences_files_and_standard_input_agree(
    capsys: pytest.CaptureFixture[str], model_folder: Path, text_file: Path
):
    sentences = text_file.read_text(encoding="utf-8").split("\n")[:-1]
    model = ["--model", str(model_folder)]
    by_argument = lines(capsys, *sentences, *model)
    assert lines(capsys, "--input", str(text_file), "--lines", *model) == by_argument
    piped = subprocess.run(
        [sys.executable, "-m", "clearformer", "translate", *model],
        input=text_file.read_bytes(),
        capture_output=True,
        check=True,
    )
    assert piped.stdout.decode("utf-8").split("\n")[:-1] == by_argument
    assert len(by_argument) == 4
    assert by_argument[2] == ""  # the empty line keeps its place


def test_whoever_types_has_an_answer_to_every_line(model_folder: Path):
    """A real terminal: the second line is typed when the first has been answered."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "clearformer", "translate", "--model", str(model_folder)]
    with subprocess.Popen(command, stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        os.close(theirs)
        for line in ("a dog .", "two dogs ."):
            os.write(ours, f"{line}\n".encode())
            assert select.select([process.stdout], [], [], 60)[0], "no answer within a minute"
            assert process.stdout.readline().strip()
        os.write(ours, b"\x04")
        assert process.wait(60) == 0
    os.close(ours)


def test_the_batch_size_changes_nothing(capsys: pytest.CaptureFixture[str], model_folder: Path, text_file: Path):
    common = ["--input", str(text_file), "--model", str(model_folder)]
    assert lines(capsys, *common, "--batch", "1") == lines(capsys, *common, "--batch", "64")


def test_a_model_together_with_itself_says_what_it_says_alone(
    capsys: pytest.CaptureFixture[str], model_folder: Path, text_file: Path
):
    common = ["--input", str(text_file), "--model", str(model_folder), "--engine", "torch"]
    assert lines(capsys, *common, "--with", str(model_folder)) == lines(capsys, *common)


def test_a_file_appears_when_it_is_complete(model_folder: Path, text_file: Path, tmp_path: Path):
    output = tmp_path / "out.txt"
    assert main(["translate", "--input", str(text_file), "--output", str(output), "--model", str(model_folder)]) == 0
    assert output.read_text(encoding="utf-8").count("\n") == 4
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.txt", "out.txt"]


def test_a_failed_run_leaves_the_old_file(model_folder: Path, tmp_path: Path):
    output, broken = tmp_path / "out.txt", tmp_path / "broken.txt"
    output.write_text("old\n")
    broken.write_bytes(b"good\n\xff\xfe bad\n")
    assert main(["translate", "--input", str(broken), "--output", str(output), "--model", str(model_folder)]) == 1
    assert output.read_text() == "old\n"


def test_json_has_scores_that_add_up(capsys: pytest.CaptureFixture[str], model_folder: Path):
    model = ["--model", str(model_folder)]
    [line] = lines(capsys, "two dogs", "--json", "--nbest", "3", "--align", *model)
    found = json.loads(line)
    assert len(found["alternatives"]) == 2
    for entry in (found, *found["alternatives"]):
        assert sum(entry["token_log_probs"]) == pytest.approx(entry["log_prob"], abs=1e-4)
        assert len(entry["alignment"]) == len(entry["tokens"])
        assert all(sum(row) == pytest.approx(1, abs=1e-4) for row in entry["alignment"])
    scores = [entry["score"] for entry in (found, *found["alternatives"])]
    assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--input", "nowhere.txt"], "nowhere.txt"),
        (["hello", "--model", "no-such-model"], "no model folder no-such-model"),
        (["word " * 3000], "more than the"),
    ],
)
def test_bad_use_gets_a_sentence(
    capsys: pytest.CaptureFixture[str], model_folder: Path, arguments: list[str], reason: str
):
    text = [] if "--input" in arguments or not arguments[0].startswith("-") else ["hello"]
    model = [] if "--model" in arguments else ["--model", str(model_folder)]
    assert main(["translate", *text, *arguments, *model]) == 1
    message = capsys.readouterr().err
    assert reason in message
    assert message.count("\n") == 1


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--beam", "0"], "--beam must be at least 1, not 0"),
        (["--beam", "99999999999999999999"], "--beam must be at most 1000"),
        (["--nbest", "9"], "--nbest is 9"),
        (["--alpha", "1e308"], "--alpha must be at most 10"),
        (["--alpha", "nan"], "--alpha must be a number, not nan"),
        (["--max-ratio", "inf"], "--max-ratio must be a number, not inf"),
        (["--batch", "0"], "--batch must be at least 1"),
    ],
)
def test_settings_out_of_bounds_are_wrong_usage(
    capsys: pytest.CaptureFixture[str], model_folder: Path, options: list[str], reason: str
):
    assert main(["translate", "hello", *options, "--model", str(model_folder)]) == 2
    message = capsys.readouterr().err
    assert reason in message
    assert message.count("\n") == 1


@pytest.mark.parametrize("engine", ["torch", "ctranslate2"])
def test_a_line_that_is_too_long_is_named_by_file_and_line(
    capsys: pytest.CaptureFixture[str], model_folder: Path, tmp_path: Path, engine: str
):
    """Also when it is not in the first portion that is read."""
    (tmp_path / "in.en").write_text("a dog\n" * 9 + "dog " * 3000 + "\n", encoding="utf-8")
    common = ["translate", "--model", str(model_folder), "--engine", engine, "--batch", "1"]
    assert main([*common, "--input", str(tmp_path / "in.en")]) == 1
    assert f"{tmp_path / 'in.en'}:10 has " in capsys.readouterr().err
    assert main([*common, "a dog", "dog " * 3000]) == 1
    assert "text 2 has " in capsys.readouterr().err


def test_sentences_and_a_file_are_wrong_usage(capsys: pytest.CaptureFixture[str], text_file: Path):
    assert main(["translate", "hello", "--input", str(text_file)]) == 2
    assert "not both" in capsys.readouterr().err


def test_an_output_that_cannot_be_written_is_named_as_it_was_given(
    capsys: pytest.CaptureFixture[str], model_folder: Path, tmp_path: Path
):
    output = tmp_path / "nowhere" / "out.txt"
    assert main(["translate", "hello", "--output", str(output), "--model", str(model_folder)]) == 1
    assert f"{output} cannot be written" in capsys.readouterr().err


def test_the_folder_of_a_run_stands_for_its_model(
    capsys: pytest.CaptureFixture[str], model_folder: Path, tmp_path: Path
):
    (tmp_path / "model").symlink_to(model_folder)
    assert lines(capsys, "two dogs", "--model", str(tmp_path)) == lines(
        capsys, "two dogs", "--model", str(model_folder)
    )


def test_both_engines_say_the_same(capsys: pytest.CaptureFixture[str], tmp_path: Path, text_file: Path):
    from clearformer.folder import bundle

    bundle.save(small(), tmp_path / "model")
    common = ["--input", str(text_file), "--model", str(tmp_path / "model"), "--nbest", "3"]
    answers = [lines(capsys, *common, "--engine", engine) for engine in ("torch", "ctranslate2", "auto")]
    texts = [[line.split("\t")[-1] for line in answer] for answer in answers]
    assert texts[0] == texts[1] == texts[2]
    scores = [[float(line.split("\t")[0]) for line in answer if "\t" in line] for answer in answers]
    assert scores[0] == pytest.approx(scores[1], abs=2e-4)


@pytest.mark.parametrize("verb", ["translate", "score", "distill", "diagnose"])
def test_a_model_that_does_not_translate_is_sent_to_its_verb(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, text_file: Path, verb: str
):
    gpt2_folder(tmp_path / "published")
    model, text = str(tmp_path / "gpt2"), str(text_file)
    assert main(["import", str(tmp_path / "published"), model]) == 0
    arguments = {
        "translate": ["hello", "--model", model],
        "score": ["--model", model, "--source", text, "--target", text],
        "distill": [model, "sample", "--out", str(tmp_path / "run")],
        "diagnose": [model, "--source", text, "--reference", text],
    }
    capsys.readouterr()
    assert main([verb, *arguments[verb]]) == 1
    assert "a decoder that continues texts, not one that translates; use `clearformer generate`" in (
        capsys.readouterr().err
    )


def test_alignments_of_both_engines_agree(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    from clearformer.folder import bundle

    bundle.save(small(), tmp_path / "model")
    common = ["two dog plays in the snow", "--model", str(tmp_path / "model"), "--align"]
    assert lines(capsys, *common, "--engine", "torch") == lines(capsys, *common, "--engine", "ctranslate2")


def test_translating_costs_no_pytorch(tmp_path: Path):
    """Neither on the first run, which converts the folder, nor on the second, which finds that done."""
    from clearformer.folder import bundle

    given = small()
    given.model.head.bias.data[given.tokenizer.eos_id] = 30.0  # ends at once: nothing is handed over
    bundle.save(given, tmp_path / "model")
    code = (
        "import sys; from clearformer.cli.main import main; code = main(sys.argv[1:]); "
        "print(code, *sorted({'torch', 'numpy', 'pydantic', 'rich', 'sacrebleu'} & set(sys.modules)))"
    )
    command = [sys.executable, "-c", code, "translate", "two dogs", "--model", str(tmp_path / "model")]
    first, second = (subprocess.run(command, capture_output=True, text=True, check=True).stdout for _ in range(2))
    assert first.split("\n")[1].split() == ["0", "numpy", "pydantic"]
    assert second.split("\n")[1].split() == ["0"]


def test_a_line_in_another_language_is_left_and_named(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    """Fluent nonsense helps nobody. Such a line keeps its place, untranslated, and stderr says so once."""
    bundle.save(replace(small(), provenance={"source_language": "en", "target_language": "fr"}), tmp_path / "model")
    german = ["the dog", "Ich habe das nicht gesehen, und du auch nicht.", "Wir sind nicht in der Stadt."]
    assert main(["translate", *german, "--model", str(tmp_path / "model")]) == 0
    told = capsys.readouterr()
    assert told.out.splitlines()[1:] == german[1:]
    assert [line for line in told.err.splitlines() if "language" in line or "seems" in line] == [
        "line 2 seems to be in German, but this model reads English; it is left as it is",
        "2 lines in another language were left as they are",
    ]
    assert main(["translate", "the dog is in the house", "--model", str(tmp_path / "model")]) == 0
    assert "seems to be" not in capsys.readouterr().err
    found = json.loads(lines(capsys, *german[:2], "--json", "--model", str(tmp_path / "model"))[1])
    assert found["untranslated"]
    assert found["text"] == german[1]


def test_texts_in_another_language_alone_are_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    """With what would translate them, where that is here: en-de ships."""
    bundle.save(replace(small(), provenance={"source_language": "de", "target_language": "fr"}), tmp_path / "model")
    common = ["translate", "--model", str(tmp_path / "model")]
    assert main([*common, "What are you doing in my house?"]) == 1
    told = capsys.readouterr()
    assert told.out == ""
    assert "text 1 seems to be in English, but this model reads German; --from en --to de reads it" in told.err
    assert main([*common, "What are you doing in my house?", "--any-language"]) == 0
    (tmp_path / "in.lines").write_text("What are you doing in my house?\n\n")
    assert main([*common, "--input", str(tmp_path / "in.lines"), "--output", str(tmp_path / "out")]) == 1
    assert "nothing was translated" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_typed_placeholder_stays_and_a_line_of_a_file_is_data(
    capsys: pytest.CaptureFixture[str], model_folder: Path, tmp_path: Path
):
    typed = "two dogs . see https://example.org/a_b"
    assert "https://example.org/a_b" in lines(capsys, typed, "--model", str(model_folder))[0]
    (tmp_path / "rows.en").write_text(f"{typed}\n", encoding="utf-8")
    model = bundle.load(model_folder)
    from clearformer.inference.translator import Translator

    raw = Translator(model).translate([typed])[0].text
    assert lines(capsys, "--input", str(tmp_path / "rows.en"), "--model", str(model_folder)) == [raw]
