"""This package as users run it: `clearformer train` for training, the translator of a model folder for decoding.

Training is timed from the outside, by the log that every run writes, so that all of it counts: reading shards, making
batches, logging, and whatever processes the program decides to start.
"""

import json
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from importlib import metadata
from pathlib import Path
from typing import Any

import protocol


def main() -> None:
    job = protocol.Job()
    if job.task == "train":
        train(job)
    else:
        decode(job)


def train(job: protocol.Job) -> None:
    """Resume a prepared run in its own folder, and stop it when the time is up."""
    with tempfile.TemporaryDirectory() as aside:
        folder = Path(aside) / "run"
        shutil.copytree(job.folder / "vocabulary", folder / "vocabulary")
        shutil.copytree(job.folder / "shards", folder / "shards")
        recipe = job.folder / "recipe.toml"
        words = ["train", str(recipe), *job.given["changes"], "--out", str(folder), "--resume"]
        with subprocess.Popen([sys.executable, "-m", "clearformer", *words], stderr=subprocess.PIPE) as process:
            try:
                first, last, records = watch(job, process, folder / "metrics.jsonl")
            finally:
                process.send_signal(signal.SIGKILL)  # a turn leaves nothing worth saving
    job.report(
        job.case, "target tokens", last["count"] - first["count"], last["time"] - first["time"],
        version=metadata.version("clearformer"), parameters=parameters(job), updates=last["step"] - first["step"],
        first_loss=records[0]["loss"], last_loss=last["loss"],
    )  # fmt: skip


def watch(job: protocol.Job, process: "subprocess.Popen[bytes]", log: Path) -> tuple[dict[str, Any], ...]:
    """Read the log until it covers the time that was asked for; returns where the clock starts and ends."""
    while process.poll() is None:
        time.sleep(0.1)
        records = steps(log)
        if len(records) > protocol.WARM_UP:
            first, last = records[protocol.WARM_UP - 1], records[-1]
            if last["time"] - first["time"] >= job.seconds:
                return first, last, records
    complaint = process.stderr.read().decode(errors="replace") if process.stderr else ""
    raise RuntimeError(f"clearformer train ended by itself: {complaint.strip()[-300:]}")


def steps(log: Path) -> list[dict[str, Any]]:
    """The training records so far, one per update; an incomplete last line is left for the next read."""
    if not log.exists():
        return []
    lines = log.read_text(encoding="utf-8").split("\n")[:-1]
    return [record for record in map(json.loads, lines) if record["kind"] == "train"]


def parameters(job: protocol.Job) -> int:
    from clearformer.model.cost import count_cost
    from clearformer.run.recipe import read_recipe
    from clearformer.tasks.model_section import model_config

    section = read_recipe(job.folder / "recipe.toml", job.given["changes"]).model
    return count_cost(model_config(section, {"vocab_size": job.vocab_size})).total


def decode(job: protocol.Job) -> None:
    """From text to translation: tokenising and detokenising are included."""
    from clearformer.inference.engines import open_translator

    translator = open_translator(job.model_folder, job.options.get("engine", "torch"), scores="none")
    texts = (job.folder / "sources.txt").read_text(encoding="utf-8").splitlines()
    text_of = {tuple(ids): text for ids, text in zip(job.sources(), texts, strict=True)}

    def translate(sources: list[list[int]], beam: int) -> int:
        found = translator.translate(
            [text_of[tuple(source)] for source in sources], beam=beam, batch=64, any_language=True
        )
        return sum(len(translation.ids) + 1 for translation in found)  # and the end token

    protocol.decode(job, translate, package="clearformer", whole=True)


if __name__ == "__main__":
    main()
