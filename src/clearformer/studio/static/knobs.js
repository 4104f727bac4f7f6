// Questions with a knob: the server computes with the parts that models use; nothing is computed here.

import { ask } from "./api.js";
import { bars } from "./bars.js";
import { chart, chartTable } from "./chart.js";
import { h, settle } from "./dom.js";
import { figure } from "./figure.js";
import { count, number } from "./format.js";
import { currentInput, layerName, sides } from "./heads.js";
import { t } from "./i18n.js";
import { matrix } from "./matrix.js";
import { segmented, selectField, sentenceBox, slider, Waiting } from "./sentence.js";
import { chosen } from "./store.js";
import { unpack } from "./tensor.js";
import { label, shortLabel } from "./tokens.js";

const PAUSE = 150; // milliseconds: who turns a knob wants the last answer, and not one for every position of it
const SCHEMES = ["none", "sinusoidal", "learned", "rotary", "alibi", "buckets", "shaw", "relative"];
const SCHEDULES = ["inverse-sqrt", "cosine", "linear", "constant"];
const TEMPERATURES = [0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 5, 10];

export function knobs(model) {
  return h("section", { class: "knobs" }, h("h3", {}, t("knob.title")), h("p", { class: "caption" }, t("knob.lead")), softmax(), distance(), schedule(), model.has_tokenizer && model.attention_layers.length ? temperature(model) : null);
}

// A heading, its controls, and a part that is asked for anew when one of them is turned. at: what is chosen now.
function knob(name, at, ask_, show, controls, above = () => null) {
  const place = new Waiting(`knob-${name}`);
  const update = () => place.fill(() => ask_(at), (found) => show(found, at));
  const later = settle(PAUSE, update);
  const turned = (key) => (value) => {
    at[key] = value;
    later();
  };
  update();
  return h("section", { class: "knob", "data-knob": name }, h("h4", {}, t(`knob.${name}`)), h("p", { class: "caption" }, t(`knob.${name}.about`)), above(update), h("div", { class: "controls" }, controls(turned)), place.element);
}

function softmax() {
  return knob("softmax", chosen.knobs.softmax, ({ power, hot, scaled }) => ask(`/api/lab/softmax?width=${2 ** power}&temperature=${TEMPERATURES[hot]}&scaled=${scaled === "yes"}`), (found) => {
    const rows = found.weights.map((value, place) => ({ name: t("knob.key", { key: place + 1 }), value }));
    const title = t("knob.softmax.weights");
    return [
      h("p", { class: "readout" }, t("knob.softmax.say", { variance: number(found.variance, 3), largest: number(found.largest, 3), gradient: number(found.gradient, 4) })),
      figure({ name: "knob-softmax", title, content: h("div", { class: "scroller" }, bars({ rows, label: title, say: (value) => number(value, 3) })), table: () => ({ columns: [t("heads.key"), t("knob.weight")], rows: rows.map((row) => [row.name, row.value]) }) }),
    ];
  }, (turned) => [
    slider("d_k", chosen.knobs.softmax.power, { min: 0, max: 11 }, turned("power"), (power) => String(2 ** power)),
    slider(t("knob.divisor"), chosen.knobs.softmax.hot, { min: 0, max: TEMPERATURES.length - 1 }, turned("hot"), (place) => String(TEMPERATURES[place])),
    segmented("÷ √d_k", [["yes", t("knob.yes")], ["no", t("knob.no")]], chosen.knobs.softmax.scaled, turned("scaled")),
  ]);
}

function distance() {
  return knob("distance", chosen.knobs.distance, ({ kind }) => ask(`/api/lab/distance?kind=${kind}`), (found) => {
    const series = found.series.map(({ place, scores }) => ({ name: t("knob.query", { place }), points: scores.map((score, back) => [back, score]) }));
    const title = t("knob.distance.scores");
    return [
      h("p", { class: "readout" }, t("knob.distance.say", { apart: number(found.apart, 4) })),
      figure({ name: "knob-distance", title, content: h("div", { class: "scroller" }, chart({ series, label: title, xAxis: t("positions.distance"), yAxis: t("knob.score") })), table: () => chartTable(series, t("positions.distance")) }),
    ];
  }, (turned) => selectField(t("knob.scheme"), SCHEMES.map((kind) => [kind, t(`knob.kind.${kind}`)]), chosen.knobs.distance.kind, turned("kind")));
}

function schedule() {
  return knob("schedule", chosen.knobs.schedule, ({ power, warmup, kind }) => ask(`/api/lab/schedule?dim=${2 ** power}&warmup=${warmup}&kind=${kind}`), (found) => {
    const title = t("knob.schedule.rate");
    const series = [{ name: title, points: found.points }];
    return [
      h("p", { class: "readout" }, t("knob.schedule.say", { peak: found.peak.toExponential(4), warmup: count(found.warmup) })),
      figure({ name: "knob-schedule", title, content: h("div", { class: "scroller" }, chart({ series, label: title, xAxis: t("training.step"), yAxis: title, zero: true })), table: () => chartTable(series, t("training.step")) }),
    ];
  }, (turned) => [
    slider("d", chosen.knobs.schedule.power, { min: 6, max: 12 }, turned("power"), (power) => String(2 ** power)),
    slider(t("knob.warmup"), chosen.knobs.schedule.warmup, { min: 100, max: 16000, step: 100 }, turned("warmup"), count),
    selectField(t("knob.after"), SCHEDULES.map((kind) => [kind, t(`knob.rate.${kind}`)]), chosen.knobs.schedule.kind, turned("kind")),
  ]);
}

function temperature(model) {
  const at = chosen.knobs.temperature;
  const layers = model.attention_layers;
  if (!layers.some((layer) => layer.name === at.layer)) at.layer = (layers.find((layer) => layer.kind === "cross") ?? layers[0]).name;
  const layer = () => layers.find((one) => one.name === at.layer);
  const input = () => ({ ...currentInput() });
  const both = async () => {
    at.head = Math.min(at.head, layer().heads - 1);
    const [tokens, found] = await Promise.all([ask("/api/trace", input()), ask("/api/lab/temperature", { input: input(), layer: at.layer, head: at.head, temperature: TEMPERATURES[at.hot] })]);
    return { tokens, found, layer: layer() };
  };
  return knob("temperature", at, both, showHead, (turned) => [
    selectField(t("training.layer"), layers.map((one) => [one.name, layerName(one)]), at.layer, turned("layer")),
    slider(t("knob.head"), at.head, { min: 0, max: Math.max(...layers.map((one) => one.heads)) - 1 }, turned("head"), (head) => String(head + 1)),
    slider(t("knob.divisor"), at.hot, { min: 0, max: TEMPERATURES.length - 1 }, turned("hot"), (place) => String(TEMPERATURES[place])),
  ], (update) => sentenceBox(model, update));
}

function showHead({ tokens, found, layer }) {
  const { queries, keys } = sides(layer, tokens);
  const weights = unpack(found.weights);
  const title = layerName(layer);
  const view = matrix({ rows: queries.map((token) => shortLabel(token)), columns: keys.map((token) => shortLabel(token)), values: weights.values, rowAxis: t("heads.query"), columnAxis: t("heads.key"), label: title, hidden: layer.kind === "masked" ? (row, column) => column > row : null, say: (row, column, value) => t("heads.cell", { query: label(queries[row]), key: label(keys[column]), weight: number(value) }) });
  return [
    h("p", { class: "readout" }, t("knob.temperature.say", { bits: number(found.bits, 2), most: number(found.most_bits, 2), largest: number(found.largest, 3) })),
    figure({ name: "knob-temperature", title, content: view.element, table: () => view.table(), drawing: () => view.drawing() }),
  ];
}
