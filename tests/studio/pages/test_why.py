"""Why, in the browser: words on their colours, numbers that are the model's, both languages, the keyboard."""

import pytest
import torch

from clearformer.folder.bundle import load
from clearformer.inference.answer_finder import Answerer
from clearformer.inference.text_readers import Classifier
from clearformer.interop.importer import read_hugging_face
from clearformer.model.config import HeadConfig
from clearformer.studio.shown_model import ShownModel
from interop.folders import bert_folder
from studio.browsing import BROWSER, choose, serving, settled, shown_as
from support.colour_texts import colour_model

pytestmark = BROWSER
TEXT = "the man sees a red ball"


@pytest.fixture(scope="module")
def colours():
    bundle = load(colour_model())
    with serving(ShownModel(bundle, "colours")) as address:
        yield bundle, address


@pytest.fixture
def why(page, colours):
    choose(page)
    page.goto(f"{colours[1]}/#/why")
    settled(page)
    page.locator("textarea").fill(TEXT)
    page.wait_for_timeout(300)
    settled(page)
    return page


def test_every_word_has_the_model_s_own_number(why, colours):
    classifier = Classifier(colours[0])
    [found], [said] = classifier.why(TEXT), classifier.classify(TEXT)
    assert why.locator("[data-label]").get_attribute("data-label") == said.label == "red"
    for method, one in zip(("rollout", "gradient"), found.attributions, strict=True):
        buttons = why.locator(f"[data-method={method}] button.shade")
        assert [button.inner_text() for button in buttons.all()] == [word.word for word in one.words]
        scores = [float(button.get_attribute("data-score")) for button in buttons.all()]
        assert scores == pytest.approx([word.score for word in one.words], abs=2e-4)
    assert "Integrated gradients" in why.locator("main").inner_text()
    assert float(why.locator(".completeness").get_attribute("data-error")) < 0.01


def test_the_keyboard_reads_a_word_s_score(why):
    word = why.locator("[data-method=gradient] button.shade", has_text="red")
    word.focus()
    readout = why.locator("[data-method=gradient] .readout").inner_text()
    assert readout == f"red: {shown_as(float(word.get_attribute('data-score')))}"


def test_another_class_and_one_method(why):
    why.get_by_label("Class to explain").select_option("blue")
    settled(why)
    red = why.locator("[data-method=gradient] button.shade", has_text="red")
    assert float(red.get_attribute("data-score")) < 0
    why.get_by_text("attention rollout", exact=True).click()
    settled(why)
    assert why.locator("[data-method=gradient]").count() == 0
    assert why.locator("[data-method=rollout]").count() == 1


@pytest.mark.timeout(300)
def test_axe_finds_nothing_in_both_languages_and_themes(browser, colours):
    from axe_playwright_python.sync_playwright import Axe

    for language in ("en", "zh"):
        for theme in ("light", "dark"):
            context = browser.new_context(viewport={"width": 1200, "height": 900}, bypass_csp=True)
            opened = context.new_page()
            choose(opened, language=language, theme=theme)
            opened.goto(f"{colours[1]}/#/why")
            settled(opened)
            found = Axe().run(opened)
            assert found.violations_count == 0, f"{language} {theme}\n{found.generate_report()}"
            assert "⟦" not in opened.locator("body").inner_text()
            assert opened.locator("button.shade").count() > 0
            opened.set_viewport_size({"width": 320, "height": 700})
            assert opened.evaluate("() => document.documentElement.scrollWidth") <= 320
            context.close()


def test_a_question_and_its_answer(page, tmp_path):
    torch.manual_seed(3)
    bert_folder(tmp_path, HeadConfig(kind="span"), "BertForQuestionAnswering")
    bundle = read_hugging_face(tmp_path).bundle
    with serving(ShownModel(bundle, "span")) as address:
        choose(page)
        page.goto(f"{address}/#/why")
        settled(page)
        page.get_by_label("Question").fill("dogs play")
        page.locator("textarea").fill("two dogs play in the snow .")
        page.wait_for_timeout(300)
        settled(page)
        found = Answerer(bundle).answer("dogs play", "two dogs play in the snow .")
        assert page.locator("[data-answer]").get_attribute("data-answer") == found.text
        assert page.locator("[data-method=gradient] .part").count() == 2
