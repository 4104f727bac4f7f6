"""Small imported BERTs with a head each."""

from pathlib import Path

from clearformer.cli.main import main
from clearformer.model.config import HeadConfig
from interop.folders import bert_folder

ARCHITECTURES = {
    "class": "BertForSequenceClassification",
    "tags": "BertForTokenClassification",
    "span": "BertForQuestionAnswering",
}
NAMES = {"id2label": {"0": "calm", "1": "wild", "2": "odd"}, "label2id": {"calm": 0, "wild": 1, "odd": 2}}


def reader(folder: Path, kind: str) -> str:
    """Import a random BERT with this head; returns its model folder."""
    head = HeadConfig(kind="class", labels=3, pooler=True) if kind == "class" else HeadConfig(kind=kind, labels=3)
    head = HeadConfig(kind="span") if kind == "span" else head
    bert_folder(folder / "published", head, ARCHITECTURES[kind], **({} if kind == "span" else NAMES))
    assert main(["import", str(folder / "published"), str(folder / "ours")]) == 0
    return str(folder / "ours")
