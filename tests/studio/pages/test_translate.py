"""The page that translates."""

import pytest

from clearformer.studio.shown_model import ShownModel
from studio.browsing import BROWSER, choose, serving, settled

pytestmark = BROWSER


def test_the_translation_and_the_tree_on_the_page_are_the_api_s(page, address, all_handlers):
    choose(page)
    writer = all_handlers["transformer"].writer
    for text in ("two dogs play", "a man reads a book"):
        expected = writer.tree(text, writer.settings(), ())["answer"]
        for name, attribute in (("translate", "data-result"), ("tree", "data-answer")):
            page.goto(f"{address}/#/{name}")
            settled(page)
            page.locator("textarea").fill(text)
            page.wait_for_timeout(400)
            settled(page)
            assert page.locator(f"[{attribute}]").get_attribute(attribute) == expected["text"]
        assert float(page.locator("[data-score]").get_attribute("data-score")) == pytest.approx(expected["score"])


def test_the_form_is_what_the_server_describes(page, address, all_handlers):
    """Every field of the method in force, named in both languages, with the server's bounds and defaults."""
    choose(page)
    page.goto(f"{address}/#/translate")
    settled(page)
    form = all_handlers["transformer"].form()["fields"]
    for method in ("beam", "greedy", "sampling"):
        page.locator(f"input[type=radio][value={method}]").check()
        settled(page)
        wanted = [told for told in form if method in told["methods"] and "translate" in told["tasks"]]
        assert page.locator(".settings .controls > *").count() == len(wanted)
        numbers = [told for told in wanted if told["kind"] in ("integer", "number")]
        for told, shown in zip(numbers, page.locator(".settings input[type=number]").all(), strict=True):
            given = (shown.get_attribute("min"), shown.get_attribute("max"), shown.input_value())
            expected = [told["least"], told["most"], told["default"]]
            assert [None if one in (None, "") else float(one) for one in given] == expected
        assert page.locator(".help dd").count() == len(wanted)
    page.locator("#switch-language").click()
    settled(page)
    page.locator(".help summary").click()
    assert "⟦" not in page.locator(".settings").inner_text()
    assert "温度" in page.locator(".help").inner_text()


def test_only_what_differs_from_the_folder_is_sent(page, address):
    choose(page)
    sent = []
    page.on("request", lambda request: sent.append(request) if request.url.endswith("/api/translate") else None)
    page.goto(f"{address}/#/translate")
    settled(page)
    for value in ("2", "4"):
        page.get_by_label("Beam width").fill(value)
        page.get_by_label("Beam width").press("Enter")
        settled(page)
    assert [request.post_data_json["settings"] for request in sent][:2] == [{}, {"beam": 2}]
    page.locator("textarea").fill("a man reads")
    page.wait_for_timeout(400)
    settled(page)
    assert sent[-1].post_data_json["settings"] == {}


def test_an_alternative_with_the_same_text_says_how_it_is_cut(page, address):
    """The answer is changed on its way: a small model seldom finds one text in two ways."""

    def repeat(route):
        answer = route.fetch()
        body = answer.json()
        body["results"][1] |= {"text": body["results"][0]["text"], "same_text_as": 0}
        route.fulfill(response=answer, json=body)

    page.route("**/api/translate", repeat)
    choose(page)
    page.goto(f"{address}/#/translate")
    settled(page)
    said = page.locator(".alternatives li").nth(1).inner_text()
    assert "same text as 1, in other pieces:" in said
    assert page.locator(".same-text").count() == 1


def test_another_language_than_the_model_s_gets_a_remark(page, address):
    choose(page)
    page.goto(f"{address}/#/translate")
    settled(page)
    assert page.locator(".remark").text_content() == ""
    page.locator("textarea").fill("Zwei Hunde spielen im Schnee, und das ist nicht alles.")
    page.locator(".remark", has_text="seems to be in German, but the model reads English").wait_for()
    page.locator("#switch-language").click()
    page.locator(".remark", has_text="德语").wait_for()
    page.locator("textarea").fill("two dogs play in the snow")
    page.locator(".remark:empty").wait_for(state="attached")


def test_a_text_is_continued_in_a_form(page, bundles):
    """Choices stand one on a line; what is not asked for is not sent, and an empty field takes it back."""
    with serving(ShownModel(bundles["llama"], "llama")) as llama:
        choose(page)
        sent = []
        page.on("request", lambda request: sent.append(request) if request.url.endswith("/api/translate") else None)
        page.goto(f"{llama}/#/translate")
        settled(page)
        page.locator("input[type=radio][value=greedy]").check()
        page.get_by_label("Choices").fill("yes\nno")
        page.get_by_label("Choices").blur()
        settled(page)
        assert page.locator("[data-result]").get_attribute("data-result") in ("yes", "no")
        assert sent[-1].post_data_json["settings"] == {"method": "greedy", "choices": ["yes", "no"]}
        page.get_by_label("Choices").fill("")
        page.get_by_label("Choices").blur()
        page.get_by_label("Pattern").fill("(")
        page.get_by_label("Pattern").press("Enter")
        settled(page)
        assert sent[-1].post_data_json["settings"] == {"method": "greedy", "pattern": "("}
        assert "Pattern" in page.locator(".message").inner_text()
