"""The walk-through, with a server and without."""

from clearformer.studio.explain import explain
from clearformer.studio.requests import Input
from studio.browsing import BROWSER, choose, settled, shown_as

pytestmark = BROWSER
TEXT = "two dogs play in the snow"


def test_every_step_of_the_walk_is_drawn_in_both_languages(page, address):
    choose(page)
    page.goto(f"{address}/#/walk")
    settled(page)
    count = page.locator(".walk-bar option").count()
    for place in range(count):
        if place == count // 2:
            page.locator("#switch-language").click()
            settled(page)
        page.locator(".walk-bar select").select_option(str(place))
        settled(page)
        assert page.locator(".step").count() == 1
        assert page.locator(".message").count() == 0
        assert "⟦" not in page.locator("body").inner_text()


def test_the_offline_page_walks_without_a_server(page, all_handlers, tmp_path):
    path = tmp_path / "page.html"
    path.write_text(explain(all_handlers["transformer"], TEXT), encoding="utf-8")
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(path.as_uri())
    settled(page)
    handlers, weights = all_handlers["transformer"], []
    look = handlers.look(Input(text=TEXT))
    for _ in range(page.locator(".walk-bar option").count() - 1):
        page.keyboard.press("Space")
        settled(page)
        assert page.locator(".message").count() == 0
        if page.locator(".step").get_attribute("data-step") == "softmax":
            page.locator(".step .cell").first.click()
            weights.append(page.locator(".cell-panel [data-value=weight] .own").text_content())
            page.locator("h2").click()  # off the matrix, whose keys are its own
    assert weights == [shown_as(float(handlers.weights(look, layer)[0, 0, 0])) for layer in handlers.layers.values()]
    assert page.locator(".step").get_attribute("data-step") == "prediction"
    page.get_by_text("中文").click()
    assert "走过整个模型" in page.locator("h2").inner_text()
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []


def test_every_entry_of_the_jump_list_names_its_layer_and_part(page, address):
    """Two entries alike would leave the reader to count: each says where in the model its step is."""
    choose(page)
    page.goto(f"{address}/#/walk")
    settled(page)
    names = [text.partition(". ")[2] for text in page.locator(".walk-bar option").all_text_contents()]
    assert len(set(names)) == len(names)
    assert "Encoder layer 2 · self-attention · Scores" in names
    assert "Decoder layer 1 · cross-attention · Softmax" in names
    assert "Decoder layer 1 · feed-forward · Add and normalise" in names
    assert all(name.startswith(("Encoder", "Decoder")) for name in names)
