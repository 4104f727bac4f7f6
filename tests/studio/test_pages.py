"""The pages in a browser: the numbers are the model's, everybody can use them, and nothing is asked of anybody else."""

import json
import os
import re
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from clearformer.folder.bundle import load
from clearformer.folder.description import find_model
from clearformer.interop import to_hugging_face
from clearformer.interop.importer import import_checkpoint
from clearformer.model.trace import trace
from clearformer.studio.app import STATIC
from clearformer.studio.attention_layers import sites_of
from clearformer.studio.explain import explain
from clearformer.studio.requests import CellRequest, Input
from clearformer.studio.runs import Runs
from clearformer.studio.shown_model import ShownModel
from clearformer.training.metrics_log import METRICS
from interop.folders import bert_folder, gpt2_folder
from studio.browsing import PAGES, choose, chromium, serving, settled

playwright = pytest.importorskip("playwright.sync_api", reason="the browser tests need the playwright package")
pytestmark = [
    pytest.mark.skipif(chromium() is None, reason="there is no Chromium here (apt-get install chromium)"),
    pytest.mark.slow,
]

TEXT = "two dogs play in the snow"


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as running:
        opened = running.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture
def page(browser):
    """A page that fails its test when something goes wrong in it unseen."""
    context = browser.new_context(viewport={"width": 1200, "height": 900}, accept_downloads=True)
    opened = context.new_page()
    opened.failures = []
    opened.on("pageerror", lambda error: opened.failures.append(str(error)))
    opened.on("console", lambda message: opened.failures.append(message.text) if message.type == "error" else None)
    yield opened
    failures = [
        text for text in opened.failures if "Failed to load resource" not in text
    ]  # refusals are shown in place
    context.close()
    assert failures == []


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory):
    """The record of a small run."""
    folder = tmp_path_factory.mktemp("runs") / "mine"
    folder.mkdir()
    train = [
        {"step": s, "kind": "train", "loss": 5 / s, "learning_rate": 0.1, "tokens": 10 * s, "time": s}
        for s in range(1, 30)
    ]
    validation = [{"step": s, "kind": "validation", "loss": 3.0, "bleu": s / 2, "sample_0": "a → b"} for s in (10, 20)]
    (folder / METRICS).write_text(
        "".join(json.dumps(record) + "\n" for record in [*train, *validation]), encoding="utf-8"
    )
    return folder


@pytest.fixture(scope="module")
def address(bundles, run_folder):
    with serving(ShownModel(bundles["transformer"], "transformer"), Runs([run_folder])) as found:
        yield found


# --- the numbers -----------------------------------------------------------------------------------------------------

ASK_CELLS = """async ({cells, text}) => {
  const { ask } = await import("/api.js");
  const { cellPanel } = await import("/cell.js");
  const tokens = await ask("/api/trace", { text, target: cells[0].target });
  const model = await ask("/api/model");
  const { sides } = await import("/heads.js");
  const found = [];
  for (const { site, head, query, key, feature, target } of cells) {
    const operands = await ask("/api/cell", { input: { text, target }, site, head, query, key, feature });
    const names = sides(model.sites.find((one) => one.name === site), tokens);
    const panel = cellPanel(operands, { ...names, onfeature: () => {} });
    document.body.append(panel);
    const shown = {};
    for (const line of panel.querySelectorAll("[data-value]")) {
      const numbers = line.querySelector(".again").textContent.match(/[-−]?[0-9.]+(e[-−+]?[0-9]+)?/gi);
      const [value, difference] = numbers.slice(-2);
      shown[line.dataset.value] = [line.querySelector(".own").textContent, value, difference];
    }
    panel.remove();
    found.push(shown);
  }
  return found;
}"""


def shown_as(value: float) -> str:
    """What the page should write for a number of the model."""
    size = abs(value)
    if size >= 1e6 or (size != 0 and size < 0.00005):
        mantissa, exponent = f"{value:.2e}".split("e")
        return f"{mantissa}e{int(exponent):+d}".replace("-", "−")
    return str(Decimal(value).quantize(Decimal("0.0001"), ROUND_HALF_UP)).replace("-", "−")


def read(text: str) -> float:
    return float(text.replace("−", "-"))


@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", ["transformer", "t5", "bert", "llama", "alibi", "shaw"])
def test_random_cells_show_the_traced_numbers(page, bundles, desks, name):
    """334 cells of each of six configurations, 2,004 in all: shown = traced at shown precision; float64 within 1e-5."""
    subject = ShownModel(bundles[name], name)
    target = [7, 9, 11, 13] if subject.has_target else []
    look = subject.look(TEXT, target)
    with trace(subject.model) as seen:
        subject.run(look)
    generator = np.random.default_rng(5)
    sites = list(desks[name].sites.values())
    cells = []
    for _ in range(334):
        site = sites[generator.integers(len(sites))]
        head, query, key = (int(generator.integers(size)) for size in seen[f"{site.name}.weights"].shape[1:])
        feature = int(generator.integers(subject.config.dim))
        cells.append(
            {"site": site.name, "head": head, "query": query, "key": key, "feature": feature, "target": target}
        )
    with serving(subject) as address:
        page.goto(f"{address}/#/model")
        settled(page)
        found = page.evaluate(ASK_CELLS, {"cells": cells, "text": TEXT})
    for cell, shown in zip(cells, found, strict=True):
        site, place = cell["site"], (0, cell["head"], cell["query"], cell["key"])
        norm = "before" if subject.config.norm.place == "pre" else "after"
        traced = {
            "score": seen[f"{site}.scores"][place],
            "scaled": seen[f"{site}.scaled"][place],
            "weight": seen[f"{site}.weights"][place],
            "output": seen[f"{site}.output"][0, cell["query"], cell["feature"]],
            "sum": seen[f"{site}_residual.sum"][0, cell["query"], cell["feature"]],
            "norm": seen[f"{site}_residual.{norm}"][0, cell["query"], cell["feature"]],
        }
        for what, value in traced.items():
            own, again, difference = shown[what]
            assert own == shown_as(float(value)), (cell, what)
            assert abs(read(again) - float(value)) < 1e-5, (cell, what)
            assert read(difference) < 1e-5, (cell, what)
        assert read(shown["gathered"][2]) < 1e-5
        if name == "llama":
            assert read(shown["rotated"][2]) < 1e-5


def test_a_click_on_a_cell_opens_its_arithmetic(page, address, desks):
    choose(page)
    page.goto(f"{address}/#/heads")
    page.locator("textarea").fill(TEXT)
    page.wait_for_timeout(300)
    settled(page)
    page.locator(".thumbnail").nth(1).click()
    settled(page)
    page.locator(".large .cell").nth(0).click()
    panel = page.locator(".cell-panel")
    panel.wait_for()
    desk = desks["transformer"]
    look = desk.subject.look(TEXT, desk.writer.best(TEXT))
    weight = float(desk.weights(look, desk.sites["encoder.layers.0.self_attn"])[1, 0, 0])
    assert panel.locator("[data-value=weight] .own").inner_text() == shown_as(weight)


def test_the_translation_and_the_tree_on_the_page_are_the_api_s(page, address, desks):
    choose(page)
    writer = desks["transformer"].writer
    for text in ("two dogs play", "a man reads a book"):
        expected = writer.tree(text, writer_settings(), ())["answer"]
        for name, attribute in (("translate", "data-result"), ("tree", "data-answer")):
            page.goto(f"{address}/#/{name}")
            settled(page)
            page.locator("textarea").fill(text)
            page.wait_for_timeout(400)
            settled(page)
            assert page.locator(f"[{attribute}]").get_attribute(attribute) == expected["text"]
        assert float(page.locator("[data-score]").get_attribute("data-score")) == pytest.approx(expected["score"])


def writer_settings():
    from clearformer.studio.writing import Choices

    return Choices()


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


# --- everybody -------------------------------------------------------------------------------------------------------


def catalogue(name: str) -> dict[str, str]:
    text = (STATIC / f"{name}.js").read_text(encoding="utf-8")
    return {
        key: json.loads(f'"{value}"')
        for key, value in re.findall(r'^  "([^"]+)": "((?:[^"\\]|\\.)*)",$', text, re.MULTILINE)
    }


def test_both_catalogues_are_complete():
    english, chinese = catalogue("en"), catalogue("zh")
    assert len(english) > 300
    assert english.keys() == chinese.keys()
    for key, text in english.items():
        assert sorted(re.findall(r"\{\w+\}", text)) == sorted(re.findall(r"\{\w+\}", chinese[key])), key
        assert chinese[key]
    code = "\n".join(path.read_text(encoding="utf-8") for path in STATIC.glob("*.js") if path.stem not in ("en", "zh"))
    asked = set(re.findall(r'"((?:[a-z]+\.)+[\w.-]+)"', code)) - {name.name for name in STATIC.iterdir()}
    stems = {key.split(".")[0] for key in english}
    assert {key for key in asked if key.split(".")[0] in stems} - english.keys() == set()
    used_stems = set(re.findall(r"`((?:[a-z]+\.)+)\$\{", code))
    for key in english:  # and nothing is kept that nobody asks for
        assert key in asked or key in ("sentence",) or any(key.startswith(stem) for stem in used_stems), key
    assert not [key for key, text in chinese.items() if "令牌" in text or "標記" in text]


def test_whatever_the_server_refuses_can_be_said_in_both_languages():
    answers = "\n".join(path.read_text(encoding="utf-8") for path in STATIC.parent.glob("*.py"))
    codes = set(re.findall(r'Refused\(\s*"(\w+)"', answers)) | set(re.findall(r'check_length\([^)]*"(\w+)"\)', answers))
    assert len(codes) > 12
    assert {f"server.{code}" for code in codes} <= catalogue("en").keys()


@pytest.mark.timeout(900)
def test_axe_finds_nothing_on_any_page_in_both_languages_and_themes(browser, address):
    from axe_playwright_python.sync_playwright import Axe

    axe = Axe()
    for language in ("en", "zh"):
        for theme in ("light", "dark"):
            context = browser.new_context(viewport={"width": 1200, "height": 900}, bypass_csp=True)
            page = context.new_page()
            choose(page, language=language, theme=theme)
            for name in PAGES:
                page.goto(f"{address}/#/{name}")
                page.reload()
                settled(page)
                if name == "heads":
                    page.locator(".large .cell").nth(3).click()
                    page.locator(".cell-panel").wait_for()
                found = axe.run(page)
                assert found.violations_count == 0, f"{name} {language} {theme}\n{found.generate_report()}"
                assert "⟦" not in page.locator("body").inner_text()
            context.close()


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


def test_the_language_changes_without_a_reload_and_keeps_the_sentence(page, address):
    choose(page)
    page.goto(f"{address}/#/heads")
    page.locator("textarea").fill("a man reads")
    page.wait_for_timeout(300)
    settled(page)
    page.evaluate("() => { window.stayed = true }")
    page.locator("#switch-language").click()
    settled(page)
    assert page.evaluate("() => window.stayed")
    assert page.locator("textarea").input_value() == "a man reads"
    assert "注意力头" in page.locator("h2").inner_text()
    assert page.evaluate("() => document.documentElement.lang") == "zh-Hans"


def test_the_keyboard_is_enough(page, address):
    choose(page)
    page.goto(f"{address}/#/walk")
    settled(page)
    first = page.locator(".step").get_attribute("data-step")
    page.keyboard.press("Space")
    settled(page)
    assert page.locator(".step").get_attribute("data-step") != first
    page.goto(f"{address}/#/heads")
    settled(page)
    page.locator(".large svg").focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowRight", "Enter"):
        page.keyboard.press(key)
    page.locator(".cell-panel").wait_for()
    assert page.locator(".cell-panel").get_attribute("data-cell").endswith("/1/1")


@pytest.mark.parametrize("width", [320, 768])
def test_narrow_screens_need_no_sideways_scrolling(browser, address, width):
    context = browser.new_context(viewport={"width": width, "height": 700})
    page = context.new_page()
    for name in PAGES:
        page.goto(f"{address}/#/{name}")
        settled(page)
        assert page.evaluate("() => document.documentElement.scrollWidth") <= width, name
    context.close()


# --- nobody else -----------------------------------------------------------------------------------------------------


def test_nothing_is_asked_of_another_origin_and_the_assets_are_small(page, address):
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    choose(page)
    for name in PAGES:
        page.goto(f"{address}/#/{name}")
        settled(page)
    assert asked
    assert not [url for url in asked if not url.startswith((address, "blob:", "data:"))]
    assert sum(path.stat().st_size for path in STATIC.iterdir()) <= 1_000_000


def test_a_text_with_markup_stays_text(page, address):
    choose(page)
    page.goto(f"{address}/#/translate")
    page.locator("textarea").fill('<img src=x onerror="window.hit = 1"> \u202e dog \x01')
    page.wait_for_timeout(400)
    settled(page)
    for name in PAGES:
        page.goto(f"{address}/#/{name}")
        settled(page)
    assert page.evaluate("() => window.hit") is None
    assert page.locator("main img").count() == 0


# --- when things go wrong --------------------------------------------------------------------------------------------


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


# --- models from elsewhere --------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def foreign(folders, tmp_path_factory):
    """Folders of others, brought over: name -> (model, a text for it)."""
    root = tmp_path_factory.mktemp("foreign")
    bert_folder(root / "bert-published")
    gpt2_folder(root / "gpt2-published")
    to_hugging_face.export(folders["transformer"], root / "marian-published")
    published = Path(os.environ["CLEARFORMER_DATA"]) / "pretrained"
    atoms = r"\[[^\]]+\]|Br|Cl|>>|%[0-9]{2}|."
    return {
        "bert": (import_checkpoint(root / "bert-published", root / "bert"), "two dogs play in the snow ."),
        "gpt2": (import_checkpoint(root / "gpt2-published", root / "gpt2"), "two dogs"),
        "marian": (import_checkpoint(root / "marian-published", root / "marian"), TEXT),
        "stories260K": (import_checkpoint(published / "stories260K", root / "stories"), "Once upon a time"),
        "albert-rxn": (
            import_checkpoint(published / "albert-rxn", root / "rxn", split=atoms),
            "CC(C)S.Fc1cccnc1F>>CC(C)Sc1ncccc1F",
        ),
        "en-de": (load(find_model("en-de")), "Two dogs play in the snow."),
    }


@pytest.mark.corpora
@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", ["bert", "gpt2", "marian", "stories260K", "albert-rxn", "en-de"])
def test_every_page_works_on_a_model_that_was_not_made_for_it(page, foreign, name):
    bundle, text = foreign[name]
    with serving(ShownModel(bundle, name)) as address:
        choose(page)
        page.goto(f"{address}/#/heads")
        page.locator("textarea").fill(text)
        page.wait_for_timeout(400)
        for one in PAGES:
            page.goto(f"{address}/#/{one}")
            settled(page)
            assert page.locator(".message").count() == 0, page.locator(".message").first.inner_text()
        page.goto(f"{address}/#/heads")
        settled(page)
        heads = sum(site.heads for site in sites_of(bundle.model))
        assert page.locator(".thumbnail").count() >= heads > 0


# --- to take along ---------------------------------------------------------------------------------------------------


def test_a_figure_can_be_taken_along(page, address):
    choose(page)
    page.goto(f"{address}/#/heads")
    settled(page)
    files = {}
    for kind in ("SVG", "CSV", "JSON"):
        with page.expect_download() as waiting:
            page.locator(".large .figure-tools button", has_text=kind).click()
        files[kind] = waiting.value.path().read_text(encoding="utf-8")
    tree = ElementTree.fromstring(files["SVG"])
    assert len(list(tree.iter("{http://www.w3.org/2000/svg}text"))) > 10
    assert "var(" not in files["SVG"]
    assert "class=" not in files["SVG"]
    table = json.loads(files["JSON"])
    assert len(table["rows"]) == len(files["CSV"].strip().splitlines()) - 1
    assert len(table["rows"][0]) == len(table["columns"])


def test_every_figure_has_its_table(page, address):
    choose(page)
    for name in PAGES:
        page.goto(f"{address}/#/{name}")
        settled(page)
        for figure in page.locator("figure").all():
            figure.locator("details.data summary").last.click()
            figure.locator("details.data tbody tr").first.wait_for()  # filled when it opens


def test_the_offline_page_walks_without_a_server(page, desks, tmp_path):
    path = tmp_path / "page.html"
    path.write_text(explain(desks["transformer"], TEXT), encoding="utf-8")
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(path.as_uri())
    settled(page)
    desk, weights = desks["transformer"], []
    look = desk.look(Input(text=TEXT))
    for _ in range(page.locator(".walk-bar option").count() - 1):
        page.keyboard.press("Space")
        settled(page)
        assert page.locator(".message").count() == 0
        if page.locator(".step").get_attribute("data-step") == "softmax":
            page.locator(".step .cell").first.click()
            weights.append(page.locator(".cell-panel [data-value=weight] .own").text_content())
            page.locator("h2").click()  # off the matrix, whose keys are its own
    assert weights == [shown_as(float(desk.weights(look, site)[0, 0, 0])) for site in desk.sites.values()]
    assert page.locator(".step").get_attribute("data-step") == "prediction"
    page.get_by_text("中文").click()
    assert "走过整个模型" in page.locator("h2").inner_text()
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []


COMPARE_OPERANDS = """async ({ data, served }) => {
  const { cellOperands } = await import("/operands.js");
  const { computeCell } = await import("/arithmetic.js");
  const plain = (operands) => JSON.stringify([computeCell(operands), operands.hidden, operands.norm.kind],
    (_, value) => (ArrayBuffer.isView(value) ? Array.from(value) : value instanceof Set ? [...value] : value));
  return served.map((cell) => [plain(cellOperands(data.cells[cell.site], data.values, cell)), plain(cell)]);
}"""


@pytest.mark.parametrize("name", ["transformer", "t5", "bert", "llama", "alibi", "shaw"])
def test_a_page_without_a_server_has_the_same_operands(page, bundles, desks, name):
    desk, generator = desks[name], np.random.default_rng(6)
    written = re.search(r'id="answers">(.*?)</script>', explain(desk, TEXT), re.DOTALL)
    served = []
    for site in desk.sites.values():
        for _ in range(8):
            sizes = desk.weights(desk.look(Input(text=TEXT)), site).shape
            head, query, key = (int(generator.integers(size)) for size in sizes)
            request = CellRequest(input=Input(text=TEXT), site=site.name, head=head, query=query, key=key, feature=0)
            served.append(desk.cell(request))
    with serving(ShownModel(bundles[name], name)) as address:
        page.goto(f"{address}/#/model")
        settled(page)
        pairs = page.evaluate(COMPARE_OPERANDS, {"data": json.loads(written[1]), "served": served})
    assert len(pairs) == 8 * len(desk.sites)
    for ours, theirs in pairs:
        assert ours == theirs


def test_a_long_input_is_drawn_on_a_canvas_and_can_be_moved(page, bundles):
    with serving(ShownModel(bundles["llama"], "llama")) as address:
        choose(page)
        page.goto(f"{address}/#/heads")
        page.locator("textarea").fill("dog " * 120)
        page.locator(".matrix-window").wait_for()
        settled(page)
        page.locator(".matrix-window").evaluate("(element) => element.scrollTo(400, 400)")
        page.locator(".matrix-window").focus()
        page.keyboard.press("ArrowDown")
        assert "→" in page.locator(".large .readout").inner_text()
        page.get_by_label("Show the whole matrix").click()
        window = page.locator(".matrix-window")
        assert window.evaluate("(element) => element.scrollHeight <= element.clientHeight + 20")
