// One token of a picture, step by step: the patch, its numbers, the sum that makes a feature of them, the position.

import { dot } from "./arithmetic.js";
import { h } from "./dom.js";
import { figure } from "./figure.js";
import { number } from "./format.js";
import { t } from "./i18n.js";
import { matrix } from "./matrix.js";
import { painted, pixelCanvas } from "./photo.js";
import { numberField } from "./sentence.js";
import { chosen } from "./store.js";
import { unpack } from "./tensor.js";

// place: of a token; the class token stands before the patches.
export function placeName({ side, extra }, place) {
  if (place < extra) return t("picture.classtoken");
  const patch = place - extra;
  return t("picture.place", { row: Math.floor(patch / side) + 1, column: (patch % side) + 1 });
}

// choose(place): another token is to be followed; again(): another feature.
export function tokenSteps(found, token, { choose, again }) {
  const steps = token.patch ? [cut(found, token), flat(found, token), sum(found, token, again)] : [h("p", { class: "step-text" }, t(token.place < found.extra ? "patch.learned" : "patch.stem"))];
  const other = found.extra ? h("button", { type: "button", class: "toggle", "data-key": "follow-class", "aria-pressed": String(token.place < found.extra), onclick: () => choose(0) }, t("patch.class")) : null;
  return h("div", { "data-place": token.place }, h("p", { class: "lead" }, t("patch.lead", { place: placeName(found, token.place) })), other, steps, rows(token));
}

function cut(found, token) {
  const bytes = unpack(token.patch.bytes);
  const { size } = token.patch;
  const channels = bytes.shape[2];
  const picture = painted(pixelCanvas(bytes), { side: 1 }, 128);
  picture.setAttribute("role", "img");
  picture.setAttribute("aria-label", placeName(found, token.place));
  const view = matrix({
    rows: Array.from({ length: size }, (_, row) => String(row)), columns: Array.from({ length: size * channels }, (_, column) => String(column)), values: Float32Array.from(bytes.values), max: 255,
    rowAxis: t("picture.row"), columnAxis: t(channels === 1 ? "picture.column" : "patch.columns"), label: t("patch.bytes"), cell: { width: Math.max(12, Math.min(36, 420 / (size * channels))), height: 22 },
    say: (row, column, value) => t("patch.byte", { row, column: Math.floor(column / channels), value }),
  });
  return figure({ name: "patch", title: t("patch.cut", { size }), caption: t(channels === 1 ? "patch.cut.about" : "patch.cut.colours"), content: h("div", { class: "patch-pair" }, picture, view.element), table: () => view.table(), drawing: () => view.drawing() });
}

function strip(names, values, { label, rowAxis, name, title, caption }) {
  const width = values.length / names.length;
  const view = matrix({
    rows: names, columns: Array.from({ length: width }, (_, place) => String(place)), values, palette: "diverging", rowAxis, columnAxis: t("walk.feature"), label, cell: { width: Math.max(3, Math.min(28, 900 / width)), height: 26 },
    say: (row, column, value) => t("walk.say.vector", { token: names[row], feature: column, value: number(value) }),
  });
  return figure({ name, title, caption, content: view.element, table: () => view.table(), drawing: () => view.drawing() });
}

function flat(found, token) {
  const values = unpack(token.patch.vector).values;
  return strip([t("patch.x")], values, { name: "patch-vector", title: t("patch.vector", { count: values.length }), caption: t("patch.vector.about"), label: t("patch.vector", { count: values.length }), rowAxis: "" });
}

// One feature of the token, as the model has it and as this page computes it from the operands.
function sum(found, token, again) {
  const [vector, weight] = [unpack(token.patch.vector).values, unpack(token.patch.weight).values];
  const own = unpack(token.token).values[chosen.tokenFeature];
  const computed = dot(vector, weight) + token.patch.bias;
  const products = Array.from(vector, (value, place) => [place, value, weight[place], value * weight[place]]);
  const view = matrix({
    rows: [t("patch.w"), t("patch.product")], columns: products.map(([place]) => String(place)), values: Float32Array.from([2, 3].flatMap((column) => products.map((row) => row[column]))), palette: "diverging",
    rowAxis: "", columnAxis: t("patch.number"), label: t("patch.sum", { feature: chosen.tokenFeature }), cell: { width: Math.max(3, Math.min(28, 900 / products.length)), height: 26 },
  });
  return figure({
    name: `patch-feature-${chosen.tokenFeature}`, title: t("patch.sum", { feature: chosen.tokenFeature }), math: "z_{f} = Σ_{i} W_{fi} x_{i} + b_{f}", caption: t("patch.sum.about", { count: vector.length }),
    content: h("div", {}, h("div", { class: "controls" }, numberField(t("cell.feature"), chosen.tokenFeature, { min: 0, max: unpack(token.token).values.length - 1 }, (feature) => {
      chosen.tokenFeature = Math.round(feature);
      again();
    })), view.element, h("p", { class: "checked", "data-own": own.toPrecision(9), "data-again": computed.toPrecision(9) }, h("span", { class: "own" }, number(own)), h("span", { class: "again" }, t("cell.again", { value: number(computed), difference: number(Math.abs(own - computed), 7) })))),
    table: () => ({ columns: [t("patch.number"), t("patch.x"), t("patch.w"), t("patch.product")], rows: products }), drawing: () => view.drawing(),
  });
}

function rows(token) {
  const shown = [["patch.row.token", token.token], ["patch.row.position", token.position], ["patch.row.output", token.output]].filter(([, packed]) => packed !== null);
  const values = shown.map(([, packed]) => unpack(packed).values);
  const all = new Float32Array(values.length * values[0].length);
  values.forEach((row, place) => all.set(row, place * row.length));
  const title = t("patch.rows", { count: values[0].length });
  return strip(shown.map(([name]) => t(name)), all, { name: "picture-token", title, caption: t(token.position ? "patch.rows.about" : "patch.rows.later"), label: title, rowAxis: "" });
}
