"""When things go wrong, a page says so in place and works on."""

import pytest

from clearformer.studio.shown_model import ShownModel
from studio.browsing import BROWSER, PAGES, choose, serving, settled

pytestmark = BROWSER


@pytest.mark.parametrize("name", ["translate", "walk", "heads", "tree"])
@pytest.mark.parametrize("text", ["a" * 100_000, "ø" * 600, "\x00\x01\x02", "\u202e\u2066 שלום", "   "], ids=range(5))
def test_bad_input_gets_a_message_in_place_and_the_page_goes_on(page, address, name, text):
    choose(page)
    page.goto(f"{address}/#/{name}")
    settled(page)
    page.locator("textarea").fill(text)
    page.wait_for_timeout(400)
    settled(page)
    page.locator("textarea").fill("two dogs")
    page.wait_for_timeout(400)
    settled(page)
    assert page.locator(".message").count() == 0
    assert page.locator("main").inner_text()


def test_a_server_that_goes_away_is_said_and_can_come_back(page, address):
    choose(page)
    page.goto(f"{address}/#/heads")
    settled(page)
    page.route("**/api/**", lambda route: route.abort())
    page.locator("textarea").fill("a child")
    page.locator(".message").first.wait_for()
    assert "does not answer" in page.locator(".message").first.inner_text()
    page.unroute("**/api/**")
    page.locator(".message button").first.click()
    settled(page)
    assert page.locator("[data-part=thumbnails] .message").count() == 0


def test_a_model_without_a_tokenizer_reads_numbers(page, folders):
    with serving(ShownModel.open(folders["mute"])) as address:
        choose(page)
        for name in PAGES:
            page.goto(f"{address}/#/{name}")
            settled(page)
            assert page.locator("main").inner_text()
        page.goto(f"{address}/#/heads")
        settled(page)
        assert page.locator(".thumbnail").count() == 24
        page.locator("textarea").fill("dogs")
        page.locator(".message").first.wait_for()
        assert "no tokenizer" in page.locator(".message").first.inner_text()
