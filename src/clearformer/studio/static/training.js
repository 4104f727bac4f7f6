// Training runs as curves, refreshed while they run; sample translations over time; one sentence's attention over checkpoints.

import { ask } from "./api.js";
import { chart, chartTable } from "./chart.js";
import { h, newId, replace } from "./dom.js";
import { figure } from "./figure.js";
import { count, number } from "./format.js";
import { layerName } from "./heads.js";
import { t } from "./i18n.js";
import { matrix } from "./matrix.js";
import { message, note, selectField, sentenceBox, slider, Waiting } from "./sentence.js";
import { chosen } from "./store.js";
import { unpack } from "./tensor.js";
import { label, shortLabel } from "./tokens.js";

const EVERY = 4000; // milliseconds between two refreshes of runs that may continue
const CURVES = [["train_loss", false], ["validation_loss", false], ["bleu", false], ["learning_rate", false], ["tokens_per_second", false], ["gradient_norm", true]];

export function trainingPage(model, leave) {
  const list = h("div", { class: "run-list" });
  const figures = h("div", { "data-part": "curves" });
  const samples = h("div", {});
  const checkpoints = h("div", {});
  let timer = 0;
  let left = false;
  let drawn = "";
  leave(() => {
    left = true;
    clearTimeout(timer);
  });

  async function refresh({ whole = false } = {}) {
    try {
      const runs = await ask("/api/runs", null, { fresh: true });
      if (left) return;
      if (!runs.length) {
        replace(list, note(t("training.none")));
        return;
      }
      if (chosen.runs === null || !chosen.runs.some((id) => runs.some((run) => run.id === id))) chosen.runs = [newest(runs).id];
      if (whole || !list.contains(document.activeElement)) replace(list, chooser(runs, () => refresh({ whole: true })));
      const found = await Promise.all(chosen.runs.map((id) => ask(`/api/runs/${id}`, null, { fresh: true })));
      if (left) return;
      const state = JSON.stringify(found.map((run) => [run.id, run.step, run.state]));
      const changed = whole || state !== drawn; // whoever reads a table should not lose it for nothing
      drawn = state;
      const open = [...figures.querySelectorAll("details")].map((details) => details.open);
      if (changed) {
        replace(figures, h("div", { class: "charts" }, CURVES.map(([name, log]) => curve(name, log, found))));
        figures.querySelectorAll("details").forEach((details, place) => {
          details.open = open[place] ?? false;
        });
      }
      if (whole) {
        replace(samples, sampleTable(found));
        replace(checkpoints, overCheckpoints(model, found));
      }
      if (found.some((run) => run.state !== "finished")) timer = setTimeout(refresh, EVERY);
    } catch (error) {
      if (!left) replace(list, message(error, () => refresh({ whole: true })));
    }
  }
  refresh({ whole: true });
  return h("div", {}, h("h2", {}, t("training.title")), h("p", { class: "lead" }, t("training.lead")), list, figures, samples, checkpoints);
}

// The run that recorded something last; one without any step has nothing to show.
function newest(runs) {
  const begun = runs.filter((run) => run.step > 0);
  return (begun.length ? begun : runs).reduce((best, run) => (run.updated > best.updated ? run : best));
}

function chooser(runs, onchange) {
  return h("fieldset", { class: "runs" }, h("legend", {}, t("training.runs")), runs.map((run) => {
    const id = newId("run");
    const box = h("input", { type: "checkbox", id, onchange: () => {
      chosen.runs = box.checked ? [...chosen.runs, run.id] : chosen.runs.filter((one) => one !== run.id);
      onchange();
    } });
    box.checked = chosen.runs.includes(run.id);
    return h("span", { class: "run", "data-state": run.state }, box, h("label", { for: id }, `${run.name} · ${count(run.step)}${run.steps ? ` / ${count(run.steps)}` : ""} · ${t(`training.${run.state}`)}`));
  }));
}

function curve(name, log, runs) {
  const series = runs.map((run) => ({ name: run.name, points: run.curves[name], dots: run.curves[name].length < 40 }));
  const title = t(`training.${name}`);
  if (series.every((one) => one.points.length === 0)) return null;
  return figure({ name: `training-${name}`, title, content: h("div", { class: "scroller" }, chart({ series, label: title, xAxis: t("training.step"), yAxis: title, log })), table: () => chartTable(series, t("training.step")) });
}

function sampleTable(runs) {
  const rows = runs.flatMap((run) => run.samples.flatMap(({ step, texts }) => texts.map((text) => [run.name, step, text])));
  if (!rows.length) return null;
  return h("section", {}, h("h3", {}, t("training.samples")), h("div", { class: "table-holder tall", tabindex: "0", role: "group", "aria-label": t("training.samples") }, h("table", {},
    h("thead", {}, h("tr", {}, h("th", { scope: "col" }, t("training.run")), h("th", { scope: "col" }, t("training.step")), h("th", { scope: "col" }, t("training.sample")))),
    h("tbody", {}, rows.map(([run, step, text]) => h("tr", {}, h("th", { scope: "row" }, run), h("td", {}, count(step)), h("td", {}, h("bdi", {}, text))))))));
}

function overCheckpoints(model, runs) {
  const run = runs.find((one) => one.checkpoints.length > 0);
  if (!run) return null;
  const place = new Waiting("checkpoint");
  const steps = run.checkpoints;
  let index = steps.length - 1;
  const update = () => place.fill(() => ask("/api/checkpoint", { run: run.id, step: steps[index], text: chosen.text, target: null }, { fresh: true }), (found) => showCheckpoint(found, steps[index], update));
  const controls = steps.length > 1 ? slider(t("training.checkpoint"), index, { min: 0, max: steps.length - 1 }, (value) => {
    index = value;
    update();
  }, (value) => count(steps[value])) : null;
  update();
  return h("section", {}, h("h3", {}, t("training.attention", { run: run.name })), h("p", { class: "caption" }, t("training.attention.about")), sentenceBox(model, update), controls, place.element);
}

function showCheckpoint(found, step, update) {
  const layers = found.attention_layers.map((layer) => ({ ...layer, stack: layer.name.split(".")[0], index: Number(/\d+/.exec(layer.name)?.[0] ?? 0) }));
  const layer = layers.find((one) => one.name === chosen.runLayer) ?? layers.findLast((one) => one.kind === "cross") ?? layers[0];
  const weights = unpack(layer.weights);
  const own = layer.stack === "decoder" && found.target.length ? found.target : found.source;
  const keys = layer.kind === "cross" ? found.source : own;
  const view = matrix({ rows: own.map((token) => shortLabel(token)), columns: keys.map((token) => shortLabel(token)), values: weights.values, rowAxis: t("heads.query"), columnAxis: t("heads.key"), label: layerName(layer), hidden: layer.kind === "masked" ? (row, column) => column > row : null, say: (row, column, value) => t("heads.cell", { query: label(own[row]), key: label(keys[column]), weight: number(value) }) });
  return [
    selectField(t("training.layer"), layers.map((one) => [one.name, layerName(one)]), layer.name, (name) => {
      chosen.runLayer = name;
      update();
    }),
    found.text ? h("p", { class: "tokens result" }, h("bdi", {}, found.text)) : null,
    figure({ name: `checkpoint-${step}`, title: t("training.at", { layer: layerName(layer), step: count(step) }), content: view.element, table: () => view.table(), drawing: () => view.drawing() }),
  ];
}
