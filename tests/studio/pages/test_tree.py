"""The beam tree."""

from studio.browsing import BROWSER, choose, settled

pytestmark = BROWSER


def test_forcing_another_token_goes_on_from_there(page, address):
    choose(page)
    page.goto(f"{address}/#/tree")
    settled(page)
    cut = page.locator(".node-cut").first
    cut.click()
    page.locator(".node-panel button").click()
    settled(page)
    assert "forced" in page.locator("main").inner_text()
    page.get_by_text("Search freely again").click()
    settled(page)
    assert "forced" not in page.locator("[data-part=tree]").inner_text().replace("not the forced", "")
