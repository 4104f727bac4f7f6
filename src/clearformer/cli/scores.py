"""Scores as people read them: a line each, with its interval where there is one."""

from collections.abc import Iterator, Mapping

NAMES = {
    "ece": "calibration error",
    "macro_f1": "macro F1",
    "micro_f1": "micro F1",
    "bleu": "BLEU",
    "chrf": "chrF2",
    "exact": "exact match",
    "unknown": "unknown words",
    "rouge_1": "ROUGE-1",
    "rouge_2": "ROUGE-2",
    "rouge_l": "ROUGE-L",
    "rouge_l_near_copies": "ROUGE-L of near copies",
    "rouge_l_without": "ROUGE-L without them",
    "rouge_l_against_others": "ROUGE-L against other people's",
    "rouge_l_of_others": "ROUGE-L of other people's",
    "f1": "F1",
    "mse": "squared error per pixel",
    "cas": "accuracy of a judge that learned from them",
    "judge_accuracy": "accuracy of the judge on real pictures",
    "frechet": "Fréchet distance to test pictures",
    "frechet_floor": "that of training pictures",
    "nearest": "to the nearest training picture, median",
    "nearest_of_test": "that of test pictures",
    "psnr": "signal to noise (dB)",
    "pca_mse": "PCA, squared error per pixel",
    "pca_psnr": "PCA, signal to noise (dB)",
    "pca_signature": "PCA",
}
_F1 = ("f1", "macro_f1", "micro_f1", "precision", "recall")
SHARES = {
    "accuracy",
    "cas",
    "judge_accuracy",
    "subset_accuracy",
    "exact",
    "dice",
    "ap50",
    "ece",
    *_F1,
}  # of one: shown in per cent


def show_scores(scores: Mapping[str, float | str]) -> Iterator[str]:
    """One line per score; samples are left out, signatures come last."""
    numbers = {name: value for name, value in scores.items() if not isinstance(value, str)}
    words = {name: value for name, value in scores.items() if isinstance(value, str) and "signature" in name}
    shown = {name: value for name, value in numbers.items() if not name.endswith(("_low", "_high"))}
    names = {name: _name(name, scores.get("unit", "token")) for name in [*shown, *words]}
    width = max(map(len, names.values()), default=0)
    for name, value in shown.items():
        yield f"{names[name]:<{width}}  {_number(name, value)}{_interval(name, numbers)}"
    for name, word in words.items():
        yield f"{names[name]:<{width}}  {word}"


def _name(name: str, unit: float | str) -> str:
    words = NAMES.get(name, name.replace("_", " "))
    return f"{words} per {unit}" if words.endswith("nats") else words


def _number(name: str, value: float) -> str:
    if name.partition(":")[0] in SHARES:  # f1:person is the F1 of one type
        return f"{100 * value:.2f} %"
    return (
        f"{value:,.0f}"
        if float(value).is_integer() and abs(value) >= 10
        else f"{value:.2f}"
        if abs(value) >= 10
        else f"{value:.4f}"
    )


def _interval(name: str, numbers: Mapping[str, float]) -> str:
    low, high = numbers.get(f"{name}_low"), numbers.get(f"{name}_high")
    if low is None or high is None:
        return ""
    return f"   (95 % between {_number(name, low)} and {_number(name, high)})"
