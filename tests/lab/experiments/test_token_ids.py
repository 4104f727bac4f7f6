"""Numbers of pieces in the published vocabulary."""

import pytest

from clearformer.lab.experiment import DataNeededError, Trial
from clearformer.lab.experiments.token_ids import measure


@pytest.mark.corpora
def test_i_love_nlp(found):
    values, findings = found("token-ids")
    assert values["ids"] == [101, 1045, 2293, 17953, 2361, 102]
    assert values["pieces"] == ["[CLS]", "i", "love", "nl", "##p", "[SEP]"]
    assert findings.verdict == "does not hold"


def test_without_the_vocabulary_it_says_how_to_get_it(monkeypatch, tmp_path):
    monkeypatch.setenv("CLEARFORMER_DATA", str(tmp_path))
    with pytest.raises(DataNeededError, match=r"vocab\.txt.*CLEARFORMER_DATA"):
        measure(Trial(scale="quick", seed=0))
