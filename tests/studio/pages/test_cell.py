"""The arithmetic behind an attention cell: the page shows the numbers of the model."""

import json
import re

import numpy as np
import pytest

from clearformer.model.trace import trace
from clearformer.studio.explain import explain
from clearformer.studio.requests import CellRequest, Input
from clearformer.studio.shown_model import ShownModel
from studio.browsing import BROWSER, choose, serving, settled, shown_as

pytestmark = BROWSER
TEXT = "two dogs play in the snow"


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
