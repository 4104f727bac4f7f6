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
  for (const { layer, head, query, key, feature, target } of cells) {
    const operands = await ask("/api/cell", { input: { text, target }, layer, head, query, key, feature });
    const names = sides(model.attention_layers.find((one) => one.name === layer), tokens);
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
def test_random_cells_show_the_traced_numbers(page, bundles, all_handlers, name):
    """334 cells of each of six configurations, 2,004 in all: shown = traced at shown precision; float64 within 1e-5."""
    shown_model = ShownModel(bundles[name], name)
    target = [7, 9, 11, 13] if shown_model.has_target else []
    look = shown_model.look(TEXT, target)
    with trace(shown_model.model) as seen:
        shown_model.run(look)
    generator = np.random.default_rng(5)
    layers = list(all_handlers[name].layers.values())
    cells = []
    for _ in range(334):
        layer = layers[generator.integers(len(layers))]
        head, query, key = (int(generator.integers(size)) for size in seen[f"{layer.name}.weights"].shape[1:])
        feature = int(generator.integers(shown_model.config.dim))
        cells.append(
            {"layer": layer.name, "head": head, "query": query, "key": key, "feature": feature, "target": target}
        )
    with serving(shown_model) as address:
        page.goto(f"{address}/#/model")
        settled(page)
        found = page.evaluate(ASK_CELLS, {"cells": cells, "text": TEXT})
    for cell, shown in zip(cells, found, strict=True):
        layer, place = cell["layer"], (0, cell["head"], cell["query"], cell["key"])
        norm = "before" if shown_model.config.norm.place == "pre" else "after"
        traced = {
            "score": seen[f"{layer}.scores"][place],
            "scaled": seen[f"{layer}.scaled"][place],
            "weight": seen[f"{layer}.weights"][place],
            "output": seen[f"{layer}.output"][0, cell["query"], cell["feature"]],
            "sum": seen[f"{layer}_residual.sum"][0, cell["query"], cell["feature"]],
            "norm": seen[f"{layer}_residual.{norm}"][0, cell["query"], cell["feature"]],
        }
        for what, value in traced.items():
            own, again, difference = shown[what]
            assert own == shown_as(float(value)), (cell, what)
            assert abs(read(again) - float(value)) < 1e-5, (cell, what)
            assert read(difference) < 1e-5, (cell, what)
        assert read(shown["gathered"][2]) < 1e-5
        if name == "llama":
            assert read(shown["rotated"][2]) < 1e-5


def test_a_click_on_a_cell_opens_its_arithmetic(page, address, all_handlers):
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
    handlers = all_handlers["transformer"]
    look = handlers.shown_model.look(TEXT, handlers.writer.best(TEXT))
    weight = float(handlers.weights(look, handlers.layers["encoder.layers.0.self_attn"])[1, 0, 0])
    assert panel.locator("[data-value=weight] .own").inner_text() == shown_as(weight)


COMPARE_OPERANDS = """async ({ data, served }) => {
  const { cellOperands } = await import("/operands.js");
  const { computeCell } = await import("/arithmetic.js");
  const plain = (operands) => JSON.stringify([computeCell(operands), operands.hidden, operands.norm.kind],
    (_, value) => (ArrayBuffer.isView(value) ? Array.from(value) : value instanceof Set ? [...value] : value));
  return served.map((cell) => [plain(cellOperands(data.cells[cell.layer], data.values, cell)), plain(cell)]);
}"""


@pytest.mark.parametrize("name", ["transformer", "t5", "bert", "llama", "alibi", "shaw"])
def test_a_page_without_a_server_has_the_same_operands(page, bundles, all_handlers, name):
    handlers, generator = all_handlers[name], np.random.default_rng(6)
    written = re.search(r'id="answers">(.*?)</script>', explain(handlers, TEXT), re.DOTALL)
    served = []
    for layer in handlers.layers.values():
        for _ in range(8):
            sizes = handlers.weights(handlers.look(Input(text=TEXT)), layer).shape
            head, query, key = (int(generator.integers(size)) for size in sizes)
            request = CellRequest(input=Input(text=TEXT), layer=layer.name, head=head, query=query, key=key, feature=0)
            served.append(handlers.cell(request))
    with serving(ShownModel(bundles[name], name)) as address:
        page.goto(f"{address}/#/model")
        settled(page)
        pairs = page.evaluate(COMPARE_OPERANDS, {"data": json.loads(written[1]), "served": served})
    assert len(pairs) == 8 * len(handlers.layers)
    for ours, theirs in pairs:
        assert ours == theirs
