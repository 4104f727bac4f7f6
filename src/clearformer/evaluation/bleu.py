"""Translation quality by sacreBLEU: BLEU and chrF2 with their signatures and a bootstrap interval."""

from collections.abc import Sequence
from dataclasses import dataclass

from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF

SAMPLES = 1000  # of the bootstrap; sacreBLEU's own default, and its seed


@dataclass(frozen=True, kw_only=True)
class TranslationScore:
    """bleu_low and bleu_high enclose 95 % of the bootstrap's samples."""

    bleu: float
    bleu_low: float
    bleu_high: float
    chrf: float
    signature: str
    chrf_signature: str
    sentences: int


def tokenisation(language: str | None) -> str:
    """sacreBLEU's tokeniser for a language: words where spaces separate them, characters where they do not."""
    return {"zh": "zh", "ja": "ja-mecab", "ko": "ko-mecab"}.get((language or "").split("-")[0].lower(), "13a")


def check_tokeniser(name: str | None) -> None:
    """Refuse a tokeniser that sacreBLEU does not have, before anything is translated."""
    if name is not None and name not in BLEU.TOKENIZERS:
        raise ValueError(f"sacreBLEU has no tokeniser {name!r}; choose one of {', '.join(sorted(BLEU.TOKENIZERS))}")


def score_translations(
    hypotheses: Sequence[str],
    references: Sequence[str],
    *,
    language: str | None = None,
    tokenise: str | None = None,
    lowercase: bool = False,
) -> TranslationScore:
    """Corpus BLEU and chrF2 of one hypothesis and one reference a sentence.

    tokenise: sacreBLEU's name of a tokeniser; "none" for text that is split already. By default the language's own.
    """
    if len(hypotheses) != len(references):
        raise ValueError(f"{len(hypotheses)} translations cannot be compared with {len(references)} references")
    if not hypotheses:
        raise ValueError("there is nothing to score: no sentence was given")
    chosen = tokenise or tokenisation(language)
    bleu = BLEU(tokenize=chosen, lowercase=lowercase, force=chosen == "none")
    chrf = CHRF()
    bleu_result = bleu.corpus_score(list(hypotheses), [list(references)], n_bootstrap=SAMPLES)
    chrf_result = chrf.corpus_score(list(hypotheses), [list(references)])
    spread = getattr(bleu_result, "_ci", 0.0)
    middle = getattr(bleu_result, "_mean", bleu_result.score)
    return TranslationScore(
        bleu=bleu_result.score,
        bleu_low=middle - spread,
        bleu_high=middle + spread,
        chrf=chrf_result.score,
        signature=str(bleu.get_signature()),
        chrf_signature=str(chrf.get_signature()),
        sentences=len(hypotheses),
    )


def sentence_chrf(hypotheses: Sequence[str], references: Sequence[str]) -> list[float]:
    """chrF2 of each sentence by itself."""
    metric = CHRF()
    pairs = zip(hypotheses, references, strict=True)
    return [float(metric.sentence_score(found, [wanted]).score) for found, wanted in pairs]


def quick_bleu(hypotheses: Sequence[str], references: Sequence[str], tokenise: str) -> float:
    """BLEU alone, for a look during training."""
    metric = BLEU(tokenize=tokenise, force=tokenise == "none")
    score: float = metric.corpus_score(list(hypotheses), [list(references)]).score
    return score
