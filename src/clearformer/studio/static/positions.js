// Position schemes side by side: the matrix, similarity by distance, the rotation of a pair, ALiBi's slopes.

import { ask } from "./api.js";
import { chart, chartTable } from "./chart.js";
import { h, replace, svg } from "./dom.js";
import { figure } from "./figure.js";
import { number } from "./format.js";
import { t } from "./i18n.js";
import { matrix } from "./matrix.js";
import { slider, Waiting } from "./sentence.js";
import { chosen } from "./store.js";
import { part, unpack } from "./tensor.js";

export function positionsPage(model) {
  const all = new Waiting("positions");
  all.fill(() => ask("/api/positions?length=64&dim=64&heads=8"), (found) => [
    h("p", { class: "note" }, t("positions.own", { kind: model.config.position.kind })),
    h("div", { class: "schemes" }, sinusoidal(found), similarity(found), rotation(found), slopes(found), buckets(found), own(found)),
  ]);
  return h("div", {}, h("h2", {}, t("positions.title")), h("p", { class: "lead" }, t("positions.lead")), all.element);
}

function table2d(name, packed, title, caption, math) {
  const tensor = unpack(packed);
  const numbers = (size) => Array.from({ length: size }, (_, place) => String(place));
  const view = matrix({ rows: numbers(tensor.shape[0]), columns: numbers(tensor.shape[1]), values: tensor.values, palette: "diverging", rowAxis: t("positions.position"), columnAxis: t("walk.feature"), label: title, cell: { width: 7, height: 7 }, say: (row, column, value) => t("positions.say", { position: row, feature: column, value: number(value) }) });
  return h("section", { class: "scheme" }, figure({ name, title, caption, math, content: view.element, table: () => view.table(), drawing: () => view.drawing() }));
}

function sinusoidal(found) {
  return table2d("positions-sinusoidal", found.sinusoidal.matrix, t("positions.sinusoidal"), t("positions.sinusoidal.about"), "PE_{pos,2i} = sin(pos / 10000^{2i/d}),  PE_{pos,2i+1} = cos(pos / 10000^{2i/d})");
}

function curveOf(values) {
  return Array.from(values, (value, place) => [place, value]);
}

function similarity(found) {
  const series = [
    { name: t("positions.name.sinusoidal"), points: curveOf(unpack(found.sinusoidal.similarity).values) },
    { name: t("positions.name.rotary"), points: curveOf(unpack(found.rotary.similarity).values) },
    ...(found.own?.similarity ? [{ name: t("positions.name.own"), points: curveOf(unpack(found.own.similarity).values) }] : []),
  ];
  return plot("positions-similarity", t("positions.similarity"), t("positions.similarity.about"), series, t("positions.distance"), "cos");
}

function plot(name, title, caption, series, xAxis, yAxis, math = null) {
  return h("section", { class: "scheme" }, figure({ name, title, caption, math, content: h("div", { class: "scroller" }, chart({ series, label: title, xAxis, yAxis })), table: () => chartTable(series, xAxis) }));
}

function slopes(found) {
  const values = unpack(found.alibi.slopes).values;
  const series = Array.from(values, (slope, head) => ({ name: t("positions.slope", { head: head + 1, slope: number(slope, 3) }), points: [[0, 0], [found.length - 1, -slope * (found.length - 1)]] }));
  return plot("positions-alibi", t("positions.alibi"), t("positions.alibi.about"), series, t("positions.distance"), t("positions.bias"), "{Q} {K}^{T} / √d_{k} − m · |i − j|");
}

function buckets(found) {
  const { distances, both_ways: both, backwards } = found.buckets;
  const series = [{ name: t("positions.both"), points: distances.map((distance, place) => [distance, both[place]]) }, { name: t("positions.backwards"), points: distances.map((distance, place) => [distance, backwards[place]]) }];
  return plot("positions-buckets", t("positions.buckets"), t("positions.buckets.about"), series, t("positions.signed"), t("positions.bucket"));
}

function own(found) {
  if (found.own === null) return null;
  if (found.own.kind === "learned") return table2d("positions-learned", found.own.matrix, t("positions.learned"), t("positions.learned.about"), "x + P[pos]");
  const bias = unpack(found.own.bias);
  const series = Array.from({ length: bias.shape[0] }, (_, head) => ({ name: t("heads.head", { head: head + 1 }), points: found.own.distances.map((distance, place) => [distance, part(bias, head).values[place]]) }));
  return plot("positions-bias", t("positions.ownbias"), t("positions.ownbias.about"), series, t("positions.signed"), t("positions.bias"));
}

// Two features as an arrow, turned further with every position; pairs turn at different speeds.
function rotation(found) {
  const cosines = unpack(found.rotary.cos);
  const sines = unpack(found.rotary.sin);
  const frequencies = unpack(found.rotary.frequencies).values;
  const holder = h("div", { class: "rotations" });
  const pairs = [0, 2, 5, 10].filter((pair) => pair < frequencies.length);
  const redraw = () => replace(holder, svgRow(pairs, cosines, sines, frequencies));
  redraw();
  const table = () => ({ columns: [t("positions.pair"), t("positions.frequency"), t("positions.position"), "cos θ", "sin θ"], rows: pairs.map((pair) => [pair, frequencies[pair], chosen.position, part(cosines, chosen.position).values[pair], part(sines, chosen.position).values[pair]]) });
  return h("section", { class: "scheme" },
    figure({ name: "positions-rotary", math: "θ = pos · 10000^{−2i/d}", title: t("positions.rotary"), caption: t("positions.rotary.about"), content: h("div", {}, slider(t("positions.position"), chosen.position, { min: 0, max: found.length - 1 }, (value) => {
      chosen.position = value;
      redraw();
    }), holder), table }));
}

function svgRow(pairs, cosines, sines, frequencies) {
  const [size, radius] = [112, 42];
  const drawing = svg("svg", { viewBox: `0 0 ${pairs.length * size} ${size + 30}`, width: pairs.length * size, height: size + 30, class: "drawing rotation", role: "img", "aria-label": t("positions.rotary") });
  pairs.forEach((pair, place) => {
    const [x, y] = [place * size + size / 2, size / 2];
    const at = (position) => [x + radius * part(cosines, position).values[pair], y - radius * part(sines, position).values[pair]];
    drawing.append(svg("circle", { cx: x, cy: y, r: radius, class: "dial" }));
    for (let position = 0; position < chosen.position; position += 1) {
      const [px, py] = at(position);
      drawing.append(svg("circle", { cx: px, cy: py, r: 2, class: "trail" }));
    }
    const [endX, endY] = at(chosen.position);
    drawing.append(
      svg("line", { x1: x, y1: y, x2: x + radius, y2: y, class: "hand-start" }),
      svg("line", { x1: x, y1: y, x2: endX, y2: endY, class: "hand" }),
      svg("text", { x, y: size + 2, "text-anchor": "middle", class: "axis" }, t("positions.pair.name", { pair })),
      svg("text", { x, y: size + 18, "text-anchor": "middle", class: "axis" }, t("positions.turn", { angle: number(chosen.position * frequencies[pair], 2) })));
  });
  return h("div", { class: "scroller" }, drawing);
}
