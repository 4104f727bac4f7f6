"""Does the text fit the vocabulary, and is the development set really unseen?"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from clearformer.data.readers.parallel import JoinedFiles
from clearformer.diagnosis.finding import Symptom
from clearformer.tasks.translation import ParallelPaths
from clearformer.text.doctor.findings import Kind
from clearformer.text.doctor.overlap import examine_overlap
from clearformer.text.lines import read_quietly
from clearformer.text.tokenizer import Tokenizer
from clearformer.text.vocabulary import ALL_BYTES

SPELLED = 0.02  # of the pieces: text like the training text has fewer rare characters than this
SPLINTERED = 1.5  # times as many pieces per character as in the training text
OVERLAP = 0.01  # of the development pairs


@dataclass(frozen=True, kw_only=True)
class Fit:
    """How well a vocabulary fits a text. spelled: share of pieces that are single bytes or unknown."""

    side: str
    spelled: float
    pieces_per_character: float
    pieces_per_character_in_training: float | None
    strangers: tuple[str, ...]  # characters that the vocabulary does not have, the most frequent first


def measure_fit(side: str, tokenizer: Tokenizer, texts: Sequence[str], training: Sequence[str] | None) -> Fit:
    """Split the texts into pieces and count."""
    spare = {*ALL_BYTES, *(spelling for spelling in (tokenizer.special.unk,) if spelling)}
    pieces = [piece for found in tokenizer.encode_batch(texts, add_special=False) for piece in found.pieces]
    return Fit(
        side=side,
        spelled=sum(piece in spare for piece in pieces) / max(1, len(pieces)),
        pieces_per_character=_density(tokenizer, texts),
        pieces_per_character_in_training=None if training is None else _density(tokenizer, training),
        strangers=tuple(_strangers(tokenizer, texts, spare)),
    )


def judge_fit(fit: Fit) -> list[Symptom]:
    """Missing pieces, or a text of another kind than the vocabulary was learned from."""
    found = []
    if fit.spelled > SPELLED:
        found.append(
            Symptom(
                name="missing-pieces",
                says=f"the {fit.side} text has characters that the vocabulary lacks and the model has hardly seen",
                remedy="Check that this is the right language; train on text that has them, with a larger vocabulary.",
                evidence={"share_of_pieces": round(fit.spelled, 4), "characters": " ".join(fit.strangers[:10])},
            )
        )
    usual = fit.pieces_per_character_in_training
    if usual is not None and fit.pieces_per_character > SPLINTERED * usual:
        found.append(
            Symptom(
                name="vocabulary-mismatch",
                says=f"the {fit.side} text falls into many more pieces than the training text did",
                remedy="Give text as in training (language, case, splitting of words), or train on such text.",
                evidence={
                    "pieces_per_character": round(fit.pieces_per_character, 4),
                    "in_training": round(usual, 4),
                },
            )
        )
    return found


def judge_tables(*, rows: int, pieces: int, side: str) -> list[Symptom]:
    """A model has as many embeddings as its vocabulary has pieces, or one of the two is another model's."""
    if rows == pieces:
        return []
    return [
        Symptom(
            name="vocabulary-mismatch",
            says=f"the model was built for another {side} vocabulary than the one in its folder",
            remedy="Put back the tokenizer that the model was trained with.",
            evidence={"rows_of_the_model": rows, "pieces_of_the_vocabulary": pieces},
        )
    ]


def judge_overlap(files: ParallelPaths) -> list[Symptom]:
    """Pairs of the development set that training has seen."""
    seen = _seen_in_training(files.train, files)
    total = max(1, sum(1 for _ in read_quietly(files.dev_source)))
    if seen <= OVERLAP * total:
        return []
    return [
        Symptom(
            name="dev-overlaps-training",
            says="pairs of the development set are also in the training text, so its scores measure memorising",
            remedy="Remove them from the training text; `clearformer doctor --test` names the lines.",
            evidence={"pairs_in_both": seen, "development_pairs": total},
        )
    ]


def _seen_in_training(train: JoinedFiles, files: ParallelPaths) -> int:
    reports = [
        examine_overlap((part.source, part.target), (files.dev_source, files.dev_target), examples=1)
        for part in train.parts
    ]
    return sum(report.counts.get(Kind.OVERLAP, 0) for report in reports)


def _density(tokenizer: Tokenizer, texts: Sequence[str]) -> float:
    pieces = sum(map(len, tokenizer.ids(texts, add_special=False)))
    return pieces / max(1, sum(map(len, texts)))


def _strangers(tokenizer: Tokenizer, texts: Sequence[str], spare: set[str]) -> list[str]:
    counts = Counter(character for text in texts for character in text)
    by_frequency = sorted(counts, key=lambda character: (-counts[character], character))
    return [
        character
        for character in by_frequency
        if spare.intersection(tokenizer.encode(character, add_special=False).pieces)
    ]
