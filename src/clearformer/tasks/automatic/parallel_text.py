"""From two parallel files to a recipe: every choice that a run needs, made from the corpus, each with its reason.

`choose` is a pure function: facts about a corpus in, recipe and reasons out. `from_files` looks at the files first and
writes the split that the recipe names. The sizes follow the recipes that ship, which were tried at their scale; they
are for an ordinary computer, so the largest is small.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clearformer.data.hold_out import DEV, TEST, TRAIN, split_pairs, write_parts
from clearformer.data.readers.parallel import CorpusError, ParallelFiles, Tally, read_pairs
from clearformer.data.survey import Side, Survey
from clearformer.foundation import settings
from clearformer.model.cost import count_cost
from clearformer.tasks.model_section import model_config
from clearformer.tasks.task import Automatic, Choice, Chosen
from clearformer.text.doctor.parallel import PairLimits, Severity, examine
from clearformer.text.lines import read_lines
from clearformer.text.train_tokenizer import TokenizerConfig
from clearformer.training.loop import TrainingConfig
from clearformer.training.optimiser import OptimiserConfig
from clearformer.training.schedule import ScheduleConfig

FEWEST = 100  # pairs; below this there is nothing to learn from and nothing to hold out
USEFUL = 10_000  # pairs from which a translator begins to be of use
MUON_TOKENS = 8  # a batch for each feature of the width, below which Muon's own products cost too much of a step
MUON_RATE = 2.0  # times adam's; on 27,000 captions the loss is 2.67 after 400 steps where adam's rate gives 2.84
HELD_OUT_SHARE, HELD_OUT_LEAST, HELD_OUT_MOST = 20, 20, 1_000  # one pair in twenty, within these limits, for each part

# Scripts without spaces between words: there is no first word to mark, and BLEU has to split them in its own way.
UNSPACED = {"Han/Kana", "Thai", "Lao", "Khmer", "Myanmar"}
BY_SCRIPT = {"Hangul": "ko", "Thai": "th", "Lao": "lo", "Khmer": "km", "Myanmar": "my"}
BY_CHARACTER = {"ja", "ko", "th", "lo", "km", "my"}  # sacreBLEU needs packages of its own to find words in these


@dataclass(frozen=True, kw_only=True)
class Facts:
    """What decides the choices: pairs fit for training, mean characters of a sentence, and the scripts."""

    pairs: int
    source_length: float
    target_length: float
    source_script: str | None = "Latin"
    target_script: str | None = "Latin"
    source_language: str | None = None
    target_language: str | None = None


@dataclass(frozen=True, kw_only=True)
class _Size:
    """What suits corpora of up to so many pairs."""

    up_to: float
    vocab_size: int
    layers: int
    decoder_layers: int
    dim: int
    hidden_dim: int
    dropout: float
    peak: float


# Little text: few pieces, so that each is seen often; a narrow model and much dropout, so that nothing is learned by
# heart.
_SIZES = (
    _Size(up_to=2_000, vocab_size=1_000, layers=2, decoder_layers=2, dim=128, hidden_dim=256, dropout=0.3, peak=3e-3),
    _Size(up_to=10_000, vocab_size=2_000, layers=3, decoder_layers=2, dim=128, hidden_dim=512, dropout=0.3, peak=3e-3),
    _Size(up_to=100_000, vocab_size=6_000, layers=4, decoder_layers=3, dim=160, hidden_dim=480, dropout=0.2, peak=3e-3),
    _Size(
        up_to=1_000_000, vocab_size=8_000, layers=4, decoder_layers=2, dim=256, hidden_dim=640, dropout=0.1, peak=1.5e-3
    ),
    _Size(
        up_to=math.inf, vocab_size=16_000, layers=4, decoder_layers=4, dim=256, hidden_dim=1024, dropout=0.1, peak=1e-3
    ),
)


def recognise(files: Sequence[Path]) -> str | None:
    """Two text files are taken for a text and its translation."""
    if len(files) != 2 or not all(path.is_file() for path in files):
        return None
    return f"parallel text: line n of {files[0].name} belongs to line n of {files[1].name}"


def from_files(files: Sequence[Path], out: Path) -> Chosen:
    """Examine two files, choose, and write the split into the run's folder `out`, beside which its names make sense."""
    source, target = files
    report = examine(source, target)
    for finding in report.findings:
        if finding.kind.severity is Severity.FATAL:
            raise CorpusError(str(finding))
    corpus, limits = ParallelFiles(source=source, target=target), PairLimits()
    survey = Survey.of(read_pairs(corpus, limits, Tally()))
    languages = (guess_language(source, survey.source), guess_language(target, survey.target))
    held_out = hold_out(survey.pairs, f"{source.name} and {target.name}")
    split = split_pairs(survey.source.keys, survey.target.keys, held_out=held_out)
    suffixes = _suffixes(*languages)
    write_parts(read_pairs(corpus, limits, Tally()), split, out / "data", suffixes=suffixes)
    facts = Facts(
        pairs=split.count(TRAIN),
        source_length=survey.source.length,
        target_length=survey.target.length,
        source_script=survey.source.script,
        target_script=survey.target.script,
        source_language=languages[0],
        target_language=languages[1],
    )
    recipe, choices = choose(facts, name=run_name(source, target), suffixes=suffixes)
    held = Choice(
        what="held out",
        value=f"{split.count(DEV):,} for development, {split.count(TEST):,} for the test",
        reason=f"of {survey.pairs:,} pairs; no sentence of theirs is met in training",
    )
    return Chosen(recipe=recipe, choices=[held, *choices], report=report.to_text())


def hold_out(pairs: int, where: str) -> int:
    """How many pairs each of development and test gets; too small a corpus is refused."""
    if pairs < FEWEST:
        raise ValueError(
            f"{where} have {pairs:,} pairs fit for training, but at least {FEWEST} are needed and a translator is of "
            f"use from about {USEFUL:,}; add text, or see how it goes with `clearformer train sample`"
        )
    return min(HELD_OUT_MOST, max(HELD_OUT_LEAST, pairs // HELD_OUT_SHARE))


def choose(
    facts: Facts, *, name: str, suffixes: tuple[str, str] = ("source", "target")
) -> tuple[dict[str, Any], list[Choice]]:
    """A recipe for a corpus of which `facts.pairs` are left for training, and a reason for each choice."""
    size = next(size for size in _SIZES if facts.pairs <= size.up_to)
    spaced = not {facts.source_script, facts.target_script} & UNSPACED
    vocabulary = _choose_vocabulary(size, spaced=spaced)
    training, tokens, passes = _choose_training(size, facts)
    model = _choose_model(size)
    by_character = {"tokenise": "char"} if facts.target_language in BY_CHARACTER else {}
    recipe = {
        "task": "translation",
        "name": name,
        "data": {**_name_files(facts, suffixes), "vocabulary": settings.to_plain(vocabulary)},
        "model": model,
        "training": settings.to_plain(training),
        "scoring": {**by_character, "examples": min(300, HELD_OUT_MOST)},
    }
    parameters = count_cost(model_config(model, {"vocab_size": vocabulary.vocab_size})).total
    return recipe, [
        Choice(
            what="languages",
            value=f"{facts.source_language or '?'} to {facts.target_language or '?'}",
            reason="by file name or script; they decide how BLEU splits words, nothing else",
        ),
        Choice(
            what="vocabulary",
            value=f"up to {vocabulary.vocab_size:,} pieces (BPE) for both languages",
            reason=f"{facts.pairs:,} pairs show each piece often enough"
            + ("" if spaced else "; twice as many as usual, for the characters")
            + ("" if spaced else "; no mark for the first word, as words are not spaced"),
        ),
        Choice(
            what="model",
            value=f"{size.layers}+{size.decoder_layers} layers, {size.dim} wide, "
            f"up to {parameters / 1e6:.1f} M parameters",
            reason="as large as this much text can fill and an ordinary computer can train",
        ),
        Choice(
            what="dropout",
            value=f"{size.dropout}",
            reason="much, because there is little text" if size.dropout > 0.1 else "little, because there is much text",
        ),
        *_training_choices(training, tokens, passes),
    ]


def _training_choices(training: TrainingConfig, tokens: int, passes: int) -> list[Choice]:
    share = 100 * training.schedule.warmup_steps(training.steps) / training.steps
    return [
        Choice(
            what="batch",
            value=f"{training.batch_tokens:,} tokens",
            reason=f"an epoch is about {tokens:,} tokens: enough updates in it, and a computer's cores stay busy",
        ),
        Choice(
            what="steps",
            value=f"{training.steps:,}",
            reason=f"about {passes} passes over the text; the best on the development set is kept",
        ),
        Choice(
            what="learning rate",
            value=f"up to {training.schedule.peak:g} in the first {share:.2g} % of the steps, then down to 0 (cosine)",
            reason="pre-norm needs no long warm-up; narrower models bear higher rates",
        ),
        Choice(
            what="optimiser",
            value=training.optimiser.kind,
            reason="learns more from the same words than adam; batches are large enough for what a step costs"
            if training.optimiser.kind == "muon"
            else "batches are too small for muon, whose steps cost more",
        ),
    ]


def _choose_vocabulary(size: _Size, *, spaced: bool) -> TokenizerConfig:
    return TokenizerConfig(
        kind="bpe", vocab_size=size.vocab_size if spaced else 2 * size.vocab_size, prefix_space=spaced
    )


def _choose_model(size: _Size) -> dict[str, Any]:
    return {
        "preset": "tiny",
        "dim": size.dim,
        "hidden_dim": size.hidden_dim,
        "layers": size.layers,
        "decoder_layers": size.decoder_layers,
        "norm": {"place": "pre"},
        "dropout": {"embedding": size.dropout, "residual": size.dropout},
    }


def _choose_training(size: _Size, facts: Facts) -> tuple[TrainingConfig, int, int]:
    """The training, and what it rests on: tokens in an epoch and passes over the text."""
    tokens = round(facts.pairs * max(_tokens(facts.source_length, facts.source_script),
                                     _tokens(facts.target_length, facts.target_script)))  # fmt: skip
    passes = round(min(100.0, max(4.0, 25 * math.sqrt(30_000 / facts.pairs))))  # little text is read more often
    batch = 2 ** round(math.log2(min(4096, max(512, tokens / 256))))  # small enough for hundreds of updates a pass
    steps = max(200, math.ceil(tokens * passes / batch / 100) * 100)
    often = max(25, steps // 20)
    muon = batch >= MUON_TOKENS * size.dim
    peak = size.peak * (MUON_RATE if muon else 1)
    training = TrainingConfig(
        steps=steps,
        save_every=often,
        validate_every=often,
        log_every=min(50, often),
        batch_tokens=batch,
        schedule=ScheduleConfig(kind="cosine", peak=peak, warmup=min(0.1, 800 / steps)),
        optimiser=OptimiserConfig(kind="muon" if muon else "adam", clip=1.0),
    )
    return training, tokens, passes


def _tokens(length: float, script: str | None) -> float:
    """A guess before there is a vocabulary: a piece is three or four letters, or one or two Chinese characters."""
    return 1 + length / (1.5 if script in UNSPACED else 3.5)


def _name_files(facts: Facts, suffixes: tuple[str, str]) -> dict[str, Any]:
    languages = {"source_language": facts.source_language, "target_language": facts.target_language}
    files = {
        f"{part}_{side}": f"data/{part}.{suffix}"
        for part in ("train", "dev", "test")
        for side, suffix in zip(("source", "target"), suffixes, strict=True)
    }
    return {name: value for name, value in languages.items() if value is not None} | files


def guess_language(path: Path, side: Side) -> str | None:
    """By the end of the file name (a.en, a.zh.gz), else by a script that one language has to itself."""
    if (named := _named_language(path)) is not None:
        return named
    if side.script == "Han/Kana":
        return "ja" if side.kana else "zh"
    return BY_SCRIPT.get(side.script or "")


def run_name(source: Path, target: Path) -> str:
    """corpus.en with corpus.de makes corpus-en-de."""
    named = [language for path in (source, target) if (language := _named_language(path))]
    return "-".join([source.name.partition(".")[0] or "run", *named])


def _named_language(path: Path) -> str | None:
    """The two letters at the end: a.en, a.de.gz, a.zh-CN."""
    found = re.fullmatch(r".*\.([a-z]{2})([-_]\w+)?", path.name.lower().removesuffix(".gz"))
    return found[1] if found else None


def _suffixes(source_language: str | None, target_language: str | None) -> tuple[str, str]:
    if source_language and target_language and source_language != target_language:
        return source_language, target_language
    return "source", "target"


def example(run: Path) -> str:
    """The shortest sentence of the test set that a run holds out."""
    source = settings.read_toml(run / "recipe.toml")["data"]["test_source"]
    return min(read_lines(run / str(source)), key=len)


AUTOMATIC = Automatic(
    recognise=recognise,
    choose=from_files,
    examine=lambda files: examine(files[0], files[1] if len(files) > 1 else None),
    name=lambda files: run_name(*files),
    example=example,
)
