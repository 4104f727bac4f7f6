"""The scores of a language model: how likely a text is, with or without a memory, and a sample of what it writes."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from clearformer.data.readers.texts import read_documents
from clearformer.evaluation.likelihood import summarise
from clearformer.folder.description import ModelFolder
from clearformer.folder.preprocessing import Preprocessing
from clearformer.inference.likelihood_settings import LikelihoodConfig
from clearformer.inference.text_generator import TextGenerator
from clearformer.tasks.task import Judging, Scores, Scoring
from clearformer.text.lines import read_lines
from clearformer.text.running_text import running_ids
from clearformer.text.tokenizer import Tokenizer

SAMPLE_TOKENS = 80
COMPARED = ("nats", "perplexity", "bits_per_byte")  # with a memory and without, side by side


@dataclass(frozen=True, kw_only=True)
class TextScoring(LikelihoodConfig, Scoring):
    """How a model is scored: the stretch that it sees, and what it may remember of the text it has read."""


def score(generator: TextGenerator, held: Sequence[str], judging: Judging) -> Scores:
    """A sample of what it writes; thoroughly, the likelihood of the whole text with a stated stride."""
    if not judging.thorough:
        opening = held[0][:40].splitlines(keepends=True)[0]
        while len(opening) > 1 and len(generator.encode(opening)) >= generator.window:  # a very short context
            opening = opening[: len(opening) // 2]
        written = generator.generate(opening, judging.options, max_new=SAMPLE_TOKENS)
        return {"sample_0": f"{opening}{written}"}
    apart = of_documents(generator.bundle.preprocessing)
    ids = [running_ids(generator.tokenizer, text) for text in held]
    end = [generator.end()] if apart else []  # the end of a document is predicted, too, and counts as a line end
    text = "".join(f"{text}\n" if apart else text for text in held)
    found = generator.likelihoods(
        [[*generator.before_text(), *row, *end] for row in ids], judging.scoring, on_progress=judging.on_progress
    )
    unknown = _unknown(generator.tokenizer, ids, text)
    scores = {**summarise(found.pop(""), text=text), **unknown}
    for name, remembering in found.items():
        summary = summarise(remembering, text=text)
        scores |= {f"{name}_{key}": value for key, value in summary.items() if key.startswith(COMPARED)}
        scores[f"{name}_signature"] = _signature(name, judging.scoring)
    return _without_bits(scores) if unknown else scores


def _without_bits(scores: Scores) -> Scores:
    """Bits per byte are for comparing vocabularies, and a model that may say "unknown" has not told those bytes."""
    told = f"{scores['signature']}; no bits per byte, since unknown words were never spelled"
    return {**{name: value for name, value in scores.items() if "bits_per_byte" not in name}, "signature": told}


def _signature(name: str, config: LikelihoodConfig) -> str:
    """What a model remembered, and how."""
    rates = f"rate {config.dynamic:g}, decay {config.dynamic_decay:g}"
    learning = f"a gradient step on each stretch once it is scored, {rates}"
    pointing = f"the last {config.cache:,} states, theta {config.cache_theta:g}, share {config.cache_share:g}"
    parts = {"dynamic": learning, "cache": pointing}
    return "; ".join(parts[part] for part in name.split("_"))


def _unknown(tokenizer: Tokenizer, rows: Sequence[Sequence[int]], text: str) -> dict[str, float]:
    """How many words are not in the vocabulary: a model need not spell what it may call unknown."""
    unknown = tokenizer.special_ids.get("unk")
    spelled = 0 if unknown is None else text.count(tokenizer.piece(unknown))  # WikiText itself writes <unk>
    count = 0 if unknown is None else sum(row.count(unknown) for row in rows) - spelled
    return {"unknown": float(count)} if count > 0 else {}


def held_out(files: Sequence[Path], folder: ModelFolder) -> list[str]:
    """The text of some files, one after the other; documents, where the model was trained on those."""
    if not of_documents(folder.preprocessing):
        return ["".join(f"{line}\n" for path in files for line in read_lines(path))]
    separator = str(folder.description.provenance.get("separator", ""))
    return [text for path in files for text in read_documents(path, separator=separator) if text.strip()]


def of_documents(preprocessing: Preprocessing) -> bool:
    """Whether a model was trained on documents: then there is a marker before each text."""
    return preprocessing.markers is not None and bool(preprocessing.markers.before_source)
