"""What a model does with sentences: does it use them, does it know only its training text, what does it write?

Lengths and repetitions are counted in the model's own pieces, so that every language is counted alike.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from clearformer.diagnosis.finding import Symptom
from clearformer.evaluation.bleu import quick_bleu, tokenisation
from clearformer.foundation.progress import OnProgress, unwatched
from clearformer.inference.translation_settings import DecodingConfig
from clearformer.inference.translator import Translator

IGNORED = 0.25  # nats per token that the right source is worth; a model that uses it gains whole nats
GAP = 1.0  # nats per token between training and development text
REPEATED = 0.05  # of the three-piece sequences, more than people repeat
SHORT, LONG = 0.7, 1.4  # length of the output as a share of the references'
COPIED = 0.10  # of the sentences, more than people leave as they are
SEQUENCE = 3


@dataclass(frozen=True, kw_only=True)
class Pairs:
    """Sentences with translations by people."""

    sources: Sequence[str]
    references: Sequence[str]


@dataclass(frozen=True, kw_only=True)
class Behaviour:
    """Losses are nats per token of the references; shares, of the model's and of people's text, are between 0 and 1."""

    sentences: int
    bleu: float
    loss: float
    loss_of_wrong_sources: float
    training_loss: float | None
    length_ratio: float
    repetition: float
    repetition_of_people: float
    copies: float
    copies_of_people: float


def observe(
    translator: Translator,
    pairs: Pairs,
    *,
    training: Pairs | None = None,
    language: str | None = None,
    tokenise: str | None = None,
    decoding: DecodingConfig | None = None,
    on_progress: OnProgress = unwatched,
) -> Behaviour:
    """Score and translate. training: a sample of the text that the model was trained on, to compare with."""
    shift = max(1, len(pairs.sources) // 2)
    wrong = [*pairs.sources[shift:], *pairs.sources[:shift]]
    found = translator.translate(pairs.sources, decoding, on_progress=on_progress, any_language=True)
    references = translator.target_tokenizer.ids(list(pairs.references), add_special=False)
    written = [one.ids for one in found]
    return Behaviour(
        sentences=len(pairs.sources),
        bleu=quick_bleu([one.text for one in found], pairs.references, tokenise or tokenisation(language)),
        loss=loss_of(translator, pairs.sources, pairs.references),
        loss_of_wrong_sources=loss_of(translator, wrong, pairs.references),
        training_loss=None if training is None else loss_of(translator, training.sources, training.references),
        length_ratio=sum(map(len, written)) / max(1, sum(map(len, references))),
        repetition=repetition(written),
        repetition_of_people=repetition(references),
        copies=copies(pairs.sources, [one.text for one in found]),
        copies_of_people=copies(pairs.sources, pairs.references),
    )


def judge_behaviour(behaviour: Behaviour) -> list[Symptom]:
    """The findings, the most serious first."""
    found = [
        _ignores_the_source(behaviour),
        _overfits(behaviour),
        _repeats(behaviour),
        _wrong_length(behaviour),
        _copies_the_source(behaviour),
    ]
    return [finding for finding in found if finding is not None]


def loss_of(translator: Translator, sources: Sequence[str], references: Sequence[str]) -> float:
    """Mean negative log-probability of a token of the references."""
    log_probs = [value for pair in zip(sources, references, strict=True) for value in translator.score(*pair)]
    return -sum(log_probs) / max(1, len(log_probs))


def repetition(rows: Sequence[Sequence[int]]) -> float:
    """The share of three-piece sequences that stood earlier in the same sentence."""
    total = again = 0
    for row in rows:
        sequences = [tuple(row[start : start + SEQUENCE]) for start in range(len(row) - SEQUENCE + 1)]
        total += len(sequences)
        again += len(sequences) - len(set(sequences))
    return again / max(1, total)


def copies(sources: Sequence[str], texts: Sequence[str]) -> float:
    """The share of texts that equal their source, apart from case and spacing."""
    same = [_bare(source) == _bare(text) for source, text in zip(sources, texts, strict=True)]
    return sum(same) / max(1, len(same))


def _ignores_the_source(seen: Behaviour) -> Symptom | None:
    worth = seen.loss_of_wrong_sources - seen.loss
    if worth >= IGNORED:
        return None
    return Symptom(
        name="ignores-the-source",
        says="the model hardly uses its source: it does as well with the source of another sentence",
        remedy="Check that line n of one file belongs to line n of the other (`clearformer doctor`), or train longer.",
        evidence={
            "loss": round(seen.loss, 4),
            "loss_of_wrong_sources": round(seen.loss_of_wrong_sources, 4),
            "worth_of_the_source": round(worth, 4),
        },
    )


def _overfits(seen: Behaviour) -> Symptom | None:
    if seen.training_loss is None or seen.loss - seen.training_loss <= GAP:
        return None
    return Symptom(
        name="overfits",
        says="the model does far better on its training text than here: it memorised it, or the texts differ in kind",
        remedy="More text helps most; then more dropout, a smaller model, or fewer steps (training.patience).",
        evidence={"loss": round(seen.loss, 4), "training_loss": round(seen.training_loss, 4)},
    )


def _repeats(seen: Behaviour) -> Symptom | None:
    if seen.repetition - seen.repetition_of_people <= REPEATED:
        return None
    return Symptom(
        name="repeats-itself",
        says="the output repeats itself",
        remedy="Train longer or on more text; meanwhile decoding.no_repeat_ngram = 3 hides it.",
        evidence={
            "repetition": round(seen.repetition, 4),
            "repetition_of_people": round(seen.repetition_of_people, 4),
        },
    )


def _wrong_length(seen: Behaviour) -> Symptom | None:
    if SHORT <= seen.length_ratio <= LONG:
        return None
    short = seen.length_ratio < SHORT
    return Symptom(
        name="too-short" if short else "too-long",
        says=f"the output is {'much shorter' if short else 'much longer'} than the references",
        remedy="Check the training pairs for cut or joined sentences (`clearformer doctor`: length_ratio); "
        + ("raise use.alpha." if short else "train longer, or lower use.max_ratio."),
        evidence={"length_ratio": round(seen.length_ratio, 4)},
    )


def _copies_the_source(seen: Behaviour) -> Symptom | None:
    if seen.copies - seen.copies_of_people <= COPIED:
        return None
    return Symptom(
        name="copies-the-source",
        says="sentences are returned untranslated",
        remedy="Remove untranslated pairs from the training text (`clearformer doctor`: copy, identical_files).",
        evidence={"copies": round(seen.copies, 4), "copies_of_people": round(seen.copies_of_people, 4)},
    )


def _bare(text: str) -> str:
    return " ".join(text.casefold().split())
