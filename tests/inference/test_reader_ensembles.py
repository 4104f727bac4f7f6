"""Several models that read as one: a model with itself is that model, and the order of members changes nothing."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from clearformer.folder.bundle import Bundle
from clearformer.folder.preprocessing import Outcome
from clearformer.inference.answer_finder import Answerer
from clearformer.inference.reader_ensembles import (
    AnswererEnsemble,
    ClassifierEnsemble,
    TaggerEnsemble,
    answerer_of,
    classifier_of,
    tagger_of,
)
from clearformer.inference.reading_settings import AnswerConfig, ReadingConfig
from clearformer.inference.text_readers import Classifier
from clearformer.inference.word_tagger import Tagger
from clearformer.model.config import HeadConfig
from support.toy_models import texts, vocabulary
from support.toy_readers import HEADS, bert, reader

CLASS, TAGS, SPAN = HEADS["class of the mean"], HEADS["tags"], HEADS["span"]
LONG = " ".join(texts(20))
CONTEXTS = [" ".join(texts(n)) for n in (1, 2, 3, 12)]


def shaken(made: Bundle, seed: int) -> Bundle:
    """A relative of the model, with noise of its own."""
    torch.manual_seed(seed)
    for weight in made.model.parameters():
        weight.data += 0.2 * torch.randn_like(weight)
    return made


def members(head: HeadConfig, count: int = 3, **provenance: Any) -> list[Bundle]:
    return [shaken(reader(head=head, **provenance), seed) for seed in range(count)]


def with_outcome(made: Bundle, **changes: Any) -> Bundle:
    return replace(made, preprocessing=replace(made.preprocessing, outcome=Outcome(**changes)))


def with_labels(made: Bundle, labels: Sequence[str]) -> Bundle:
    return replace(made, preprocessing=replace(made.preprocessing, labels=tuple(labels)))


def other_words(made: Bundle) -> Bundle:
    """The same kind of model over another vocabulary."""
    return replace(made, preprocessing=replace(made.preprocessing, tokenizer=vocabulary(275)))


# --- classes


def test_a_classifier_with_itself_is_the_classifier():
    one = with_outcome(members(CLASS, 1)[0], temperature=1.7)
    for given in (texts(5), [LONG], [("a pair", "of texts")], []):
        assert np.array(ClassifierEnsemble([one, one]).results(given)) == pytest.approx(
            np.array(Classifier(one).results(given)), abs=1e-12
        )


def test_classes_are_the_mean_of_the_members_each_with_its_own_temperature():
    some = [with_outcome(one, temperature=1.0 + n) for n, one in enumerate(members(CLASS))]
    together = ClassifierEnsemble(some).classify(texts(4))
    each = [Classifier(one).classify(texts(4)) for one in some]
    for row, found in enumerate(together):
        for label, share in found.scores.items():
            assert share == pytest.approx(np.mean([one[row].scores[label] for one in each]))
        assert found.label == max(found.scores, key=found.scores.__getitem__)


@pytest.mark.parametrize("kind", ["one", "several"])
def test_the_order_of_classifiers_changes_no_bit(kind):
    some = [with_outcome(one, kind=kind, threshold=0.3 + 0.1 * n) for n, one in enumerate(members(CLASS))]
    given = [*texts(4), LONG]
    assert ClassifierEnsemble(some).classify(given) == ClassifierEnsemble(some[::-1]).classify(given)


def test_several_labels_are_given_by_the_mean_threshold():
    some = [
        with_outcome(one, kind="several", threshold=t) for one, t in zip(members(CLASS, 2), (0.2, 0.6), strict=True)
    ]
    together = ClassifierEnsemble(some)
    assert together.outcome.threshold == pytest.approx(0.4)
    for found in together.classify(texts(5)):
        assert found.labels == tuple(label for label, share in found.scores.items() if share >= 0.4)


def test_numbers_are_averaged_in_the_unit_of_the_data():
    head = replace(CLASS, labels=1)
    some = [
        with_outcome(with_labels(one, ()), kind="number", mean=10.0 * n, deviation=2.0)
        for n, one in enumerate(members(head, 2))
    ]
    mean = np.mean([[one.number for one in Classifier(each).estimate(texts(3))] for each in some], axis=0)
    assert [one.number for one in ClassifierEnsemble(some).estimate(texts(3))] == pytest.approx(mean.tolist())


def test_classifiers_may_have_other_vocabularies_and_their_labels_in_another_order():
    """Turning round both the names and the rows of the head leaves the model what it was."""
    one = members(CLASS, 1)[0]
    turned = members(CLASS, 1)[0]
    with torch.no_grad():
        for weight in (turned.model.head.classify.weight, turned.model.head.classify.bias):
            weight.copy_(weight.flip(0))
    turned = with_labels(turned, one.labels[::-1])
    found = ClassifierEnsemble([one, turned]).classify(texts(3))
    for mine, alone in zip(found, Classifier(one).classify(texts(3)), strict=True):
        assert mine.scores == pytest.approx(alone.scores)
    stranger = other_words(reader(bert(vocab_size=vocabulary(275).vocab_size), CLASS))
    assert len(ClassifierEnsemble([one, stranger]).classify(texts(3))) == 3


def test_batches_change_nothing():
    together = ClassifierEnsemble(members(CLASS))
    given = [*texts(6), LONG]
    alone = [together.classify(text)[0] for text in given]
    for mine, one in zip(together.classify(given, batch=3), alone, strict=True):
        assert mine.scores == pytest.approx(one.scores, abs=1e-5)


def test_other_labels_are_refused_with_the_difference():
    one, two = members(CLASS, 2)
    with pytest.raises(ValueError, match=r"^model 2 cannot join the first, it lacks the label 'neither'$"):
        classifier_of([one, with_labels(two, ("good", "bad", "odd"))])
    fewer = with_labels(reader(head=replace(CLASS, labels=2)), ("good", "bad"))
    with pytest.raises(ValueError, match="which lacks its label 'neither'"):
        classifier_of([fewer, two])


def test_other_kinds_of_results_are_refused():
    one, two = members(CLASS, 2)
    with pytest.raises(ValueError, match="which gives one label per text: it gives several labels per text"):
        classifier_of([one, with_outcome(two, kind="several")])


def test_what_belongs_to_one_model_alone_is_refused():
    together = ClassifierEnsemble(members(CLASS, 2))
    for asked in (together.logits, together.why):
        with pytest.raises(ValueError, match="open one of them alone"):
            asked(texts(1))
    with pytest.raises(ValueError, match="open one of them alone"):
        AnswererEnsemble(members(SPAN, 2)).why("who", "a text", None)
    assert "the first of 2 that decide together" in repr(together)


# --- tags


@pytest.mark.parametrize("words", [None, "spaced"])
def test_a_tagger_with_itself_is_the_tagger(words):
    told = {} if words is None else {"words": words}
    one = members(TAGS, 1, **told)[0]
    alone, together = Tagger(one), TaggerEnsemble([one, one])
    for text in (*texts(3), LONG):
        mine, theirs = together.entities(text), alone.entities(text)
        assert [replace(each, probability=0) for each in mine] == [replace(each, probability=0) for each in theirs]
        assert [each.probability for each in mine] == pytest.approx([each.probability for each in theirs])
        if words is not None:
            assert [tag.label for tag in together.tag(text)] == [tag.label for tag in alone.tag(text)]
    sentences = [text.split() for text in texts(4)]
    assert together.tag_words(sentences) == alone.tag_words(sentences)


def test_tags_are_chosen_by_the_mean_of_the_probabilities_of_each_word():
    some = members(TAGS, words="spaced")
    sentences = [text.split() for text in texts(4)]
    each = [Tagger(one).read_words(sentences, ReadingConfig()) for one in some]
    found = TaggerEnsemble(some).read_words(sentences, ReadingConfig())
    for row, scores in enumerate(found):
        assert np.exp(scores) == pytest.approx(np.mean([np.exp(one[row]) for one in each], axis=0))
        assert np.exp(scores).sum(axis=1) == pytest.approx(np.ones(len(scores)))


def test_neither_order_nor_batch_changes_the_tags():
    some = members(TAGS, words="spaced")
    sentences = [*[text.split() for text in texts(6)], LONG.split(), []]
    together, turned = TaggerEnsemble(some), TaggerEnsemble(some[::-1])
    found = together.read_words(sentences, ReadingConfig())
    assert all(map(np.array_equal, found, turned.read_words(sentences, ReadingConfig())))
    for sentence, scores in zip(sentences, found, strict=True):
        [alone] = together.read_words([sentence], ReadingConfig(batch=1))
        assert alone == pytest.approx(scores, abs=1e-4)
    assert together.entities(texts(1)[0]) == turned.entities(texts(1)[0])


def test_taggers_may_have_other_vocabularies_but_no_other_words_or_tags():
    one = members(TAGS, 1, words="spaced")[0]
    stranger = other_words(reader(bert(vocab_size=vocabulary(275).vocab_size), TAGS, words="spaced"))
    text = texts(1)[0]
    assert [tag.word for tag in tagger_of([one, stranger]).tag(text)] == [tag.word for tag in Tagger(one).tag(text)]
    with pytest.raises(ValueError, match="it lacks the label 'B-X', 'I-X'"):
        tagger_of([one, with_labels(stranger, ("O", "B-Y", "I-Y"))])
    with pytest.raises(ValueError, match="to one of them every character is a word"):
        tagger_of([one, reader(head=TAGS, words="characters")])


# --- answers


@pytest.mark.parametrize("declines", [True, False])
def test_an_answerer_with_itself_is_the_answerer(declines):
    one = members(SPAN, 1, no_answer=declines)[0]
    alone, together = Answerer(one), AnswererEnsemble([one, one])
    for context in CONTEXTS:
        mine, theirs = together.answer("who plays", context), alone.answer("who plays", context)
        assert (mine.text, mine.start, mine.end) == (theirs.text, theirs.start, theirs.end)
        assert mine.score == pytest.approx(theirs.score, abs=1e-4)


def test_ends_are_the_mean_of_the_members_in_every_window():
    some = members(SPAN, no_answer=True)
    together = AnswererEnsemble(some)
    from clearformer.inference.answer_windows import cut_windows

    windows = cut_windows(together.tokenizer, "who", CONTEXTS[-1], together.longest).windows
    assert len(windows) > 1
    each = [list(Answerer(one).window_logits(windows, 4)) for one in some]
    for row, found in enumerate(together.window_logits(windows, 4)):
        mean = torch.stack([one[row].softmax(0) for one in each]).mean(dim=0)
        assert torch.allclose(found.exp(), mean, atol=1e-6)


def test_neither_order_nor_batch_changes_the_answers():
    some = members(SPAN, no_answer=True)
    asked = [("who plays", context) for context in CONTEXTS]
    options = AnswerConfig(no_answer=False)
    found = AnswererEnsemble(some).answer_all(asked, options)
    assert found == AnswererEnsemble(some[::-1]).answer_all(asked, options)
    for one, (question, context) in zip(found, asked, strict=True):
        alone = AnswererEnsemble(some).answer(question, context, options, batch=1)
        assert (alone.start, alone.end) == (one.start, one.end)


def test_answerers_read_the_windows_that_the_shortest_of_them_can():
    longer, shorter = reader(head=SPAN), reader(bert(max_len=32), SPAN)
    assert answerer_of([longer, shorter]).longest == answerer_of([shorter, longer]).longest == 32


def test_answerers_of_another_vocabulary_or_training_are_refused():
    one = members(SPAN, 1)[0]
    with pytest.raises(ValueError, match="model 2 cannot join the first, their vocabularies are not the same: "):
        answerer_of([one, other_words(one)])
    told = replace(one, preprocessing=replace(one.preprocessing, types="overlap"))
    with pytest.raises(ValueError, match="one of them is told which words are in both texts"):
        answerer_of([one, told])
    with pytest.raises(ValueError, match="one of them has learned to give no answer"):
        answerer_of([one, reader(head=SPAN, no_answer=True)])
