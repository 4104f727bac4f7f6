"""The class name in `architectures` says what a checkpoint is for; our head for it."""

from clearformer.interop.config_keys import Keys, label_names
from clearformer.model.config import HeadConfig

# Endings, most exact first. "states" is a model without a task.
HEADS = {
    "ForSequenceClassification": "class",
    "ForImageClassification": "class",
    "ForImageClassificationWithTeacher": "class",
    "ForTokenClassification": "tags",
    "ForQuestionAnsweringSimple": "span",
    "ForQuestionAnswering": "span",
    "ForConditionalGeneration": "language-model",
    "ForCausalLM": "language-model",
    "ForMaskedLM": "language-model",
    "ForCTC": "language-model",
    "ForPreTraining": "language-model",
    "LMHeadModel": "language-model",
    "MTModel": "language-model",
    "Model": "states",
}


def head_kind(keys: Keys) -> str:
    """Which of our heads a checkpoint has. If the file does not say, it is a model without a head."""
    named = keys.architecture
    if named is None:
        return "states"
    for ending, kind in HEADS.items():
        if named.endswith(ending):
            return kind
    raise ValueError(f"{keys.where}: the task of {named} is not known; known are {', '.join(HEADS)}")


def refuse_heads(keys: Keys, *supported: str) -> str:
    """The kind of head, if it is one of those that the family's reader knows."""
    kind = head_kind(keys)
    if kind not in supported:
        raise ValueError(
            f"{keys.where}: {keys.architecture} has a head for {kind}, which is not supported for this family"
        )
    return kind


def task_head(keys: Keys, kind: str, *, dropout: float = 0.0, **more: object) -> HeadConfig:
    """The head of a task: class, tags or span. more: how a class is read off the states; what stands before a head."""
    if kind == "class":
        return HeadConfig(kind="class", labels=len(label_names(keys.plain)), dropout=dropout, **more)  # type: ignore[arg-type]
    if kind == "tags":
        own = {name: value for name, value in more.items() if name.startswith("transform")}
        return HeadConfig(kind="tags", labels=len(label_names(keys.plain)), dropout=dropout, **own)  # type: ignore[arg-type]
    if kind == "span":
        return HeadConfig(kind="span")
    raise ValueError(f"{keys.where}: {kind} is not a classification task")


def classifier_dropout(keys: Keys) -> float:
    """The dropout of a decoder's classifier, a key that the published code reads without declaring it."""
    if keys.plain.get("classifier_dropout") is None:
        keys.ignore("classifier_dropout")
        return 0.1
    return keys.rate("classifier_dropout")


def labels_of(config: HeadConfig, names: list[str]) -> dict[str, object]:
    """id2label and label2id for config.json."""
    shown = names if len(names) == config.labels else [f"LABEL_{number}" for number in range(config.labels)]
    return {
        "id2label": {str(n): name for n, name in enumerate(shown)},
        "label2id": {name: n for n, name in enumerate(shown)},
    }
