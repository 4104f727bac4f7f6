// The arithmetic of one attention cell: every operand, the model's own result, and the same computed here in float64.

import { computeCell } from "./arithmetic.js";
import { h, newId } from "./dom.js";
import { formula, letter } from "./formula.js";
import { number, percent } from "./format.js";
import { t } from "./i18n.js";
import { css, diverging, ink, sequential } from "./palette.js";
import { label } from "./tokens.js";
import { largest } from "./tensor.js";

// queries and keys: the tokens of rows and columns; onfeature(feature): follow another feature of the output.
export function cellPanel(operands, { queries, keys, onfeature }) {
  const found = computeCell(operands);
  const { query, key, feature } = operands;
  const names = { query: label(queries[query]), key: label(keys[key]), head: operands.head + 1 };
  const title = newId("cell");
  return h("section", { class: "cell-panel", "aria-labelledby": title, "data-cell": `${operands.layer}/${operands.head}/${query}/${key}` },
    h("h3", { id: title }, t("cell.title", names)),
    h("p", { class: "caption" }, t("cell.about", names)),
    h("ol", { class: "arithmetic" },
      operands.norm.place === "pre" ? normStep(operands, found, "cell.prenorm") : null,
      found.rotation ? rotationStep(operands, found) : null,
      productStep(operands, found),
      scaleStep(operands, found),
      found.bias ? biasStep(operands, found) : null,
      maskStep(operands, found),
      softmaxStep(operands, found, keys),
      valueStep(operands, found, names),
      gatherStep(found),
      outputStep(operands, found, feature, onfeature),
      sumStep(operands, found),
      operands.norm.place === "post" && operands.norm.kind !== "none" ? normStep(operands, found, "cell.norm") : null));
}

function step(name, math, ...content) {
  return h("li", { class: "arithmetic-step" }, h("h4", {}, t(name)), h("p", {}, formula(math)), ...content);
}

// The model's number, and ours. `what` is a name for tests and for whoever reads the page's source.
function checked(what, own, again) {
  return h("p", { class: "checked", "data-value": what },
    h("span", { class: "own" }, number(own)),
    h("span", { class: "again" }, t("cell.again", { value: number(again, 8), difference: number(Math.abs(own - again), 8) })));
}

function productStep({ key }, found) {
  return step("cell.products", "s = {q} · {k} = Σ_{c} {q}_{c} {k}_{c}",
    strip([[letter("q"), found.q], [letter("k"), found.keys[key]], [h("span", {}, letter("q"), "×", letter("k")), found.products]]),
    checked("score", found.own.scores[key], found.scores[key]));
}

function scaleStep({ key, scale }, found) {
  const width = found.q.length;
  const usual = Math.abs(scale - 1 / Math.sqrt(width)) < 1e-12;
  const math = usual ? `s / √d_{k} = ${number(found.own.scores[key])} / √${width} = ${number(found.own.scores[key])} / ${number(Math.sqrt(width))}` : `s × ${number(scale)}`;
  return step("cell.scale", math, checked("scaled", found.own.scaled[key], found.scaled[key]));
}

function biasStep({ key }, found) {
  return step("cell.bias", `${number(found.own.scaled[key])} + ${number(found.bias[key])} = ${number(found.own.scaled[key] + found.bias[key])}`, h("p", { class: "caption" }, t("cell.bias.about")));
}

function rotationStep({ rotation }, found) {
  const turned = found.rotation;
  return step("cell.rotation", "({q}_{a}, {q}_{b}) → ({q}_{a} cos θ − {q}_{b} sin θ, {q}_{a} sin θ + {q}_{b} cos θ)",
    h("p", { class: "caption" }, t(rotation.pairs === "neighbours" ? "cell.rotation.neighbours" : "cell.rotation.halves")),
    strip([[h("span", {}, letter("q"), " ", t("cell.before")), turned.q], [h("span", {}, letter("q"), " ", t("cell.after")), turned.turnedQ], [h("span", {}, letter("k"), " ", t("cell.before")), turned.k], [h("span", {}, letter("k"), " ", t("cell.after")), turned.turnedK]]),
    checked("rotated", found.q[0], turned.turnedQ[0]));
}

function maskStep({ key }, found) {
  const isHidden = found.hidden.has(key);
  const text = isHidden ? t("cell.mask.hidden") : found.hidden.size ? t("cell.mask.open", { count: found.hidden.size }) : t("cell.mask.none");
  return h("li", { class: "arithmetic-step" }, h("h4", {}, t("cell.mask")), h("p", {}, text));
}

function softmaxStep({ key }, found, keys) {
  const { exponentials, sum, weights, top } = found.soft;
  const rows = keys.map((token, place) => {
    const shade = sequential(weights[place]);
    return h("tr", place === key ? { class: "chosen" } : {},
      h("th", { scope: "row" }, h("bdi", {}, label(token))),
      h("td", {}, found.hidden.has(place) ? "−∞" : number(found.biased[place])),
      h("td", {}, number(exponentials[place])),
      h("td", { style: { "background-color": css(shade), color: ink(shade) } }, number(found.own.weights[place])));
  });
  return step("cell.softmax", "a = e^{s − max} / Σ_{j} e^{sⱼ − max}",
    h("p", {}, formula(`${number(exponentials[key])} / ${number(sum)} = ${number(weights[key])}`), h("span", { class: "caption" }, `  max = ${number(top)}`)),
    checked("weight", found.own.weights[key], weights[key]),
    h("details", {}, h("summary", {}, t("cell.row", { count: keys.length })),
      h("div", { class: "table-holder", tabindex: "0", role: "group", "aria-label": t("cell.row", { count: keys.length }) }, h("table", {},
        h("thead", {}, h("tr", {}, ["cell.key", "cell.score", "cell.exp", "cell.weight"].map((name) => h("th", { scope: "col" }, t(name))))),
        h("tbody", {}, rows),
        h("tfoot", {}, h("tr", {}, h("th", { scope: "row" }, "Σ"), h("td", {}), h("td", {}, number(sum)), h("td", {}, number(weights.reduce((total, weight) => total + weight, 0)))))))));
}

function valueStep({ key }, found, names) {
  return step("cell.value", `a {v} = ${number(found.own.weights[key])} × {v}`,
    h("p", { class: "caption" }, t("cell.value.about", { ...names, share: percent(found.own.weights[key]) })),
    strip([[letter("v"), found.values[key]], [h("span", {}, "a×", letter("v")), found.weighted]]));
}

function gatherStep(found) {
  const place = strongest(found.own.gathered);
  return step("cell.gather", "z = Σ_{j} a_{j} {v}_{j}",
    strip([["z", found.own.gathered], [t("cell.again.short"), found.gathered]]),
    h("p", { class: "caption" }, t("cell.gather.shown", { feature: place })),
    checked("gathered", found.own.gathered[place], found.gathered[place]));
}

function outputStep(operands, found, feature, onfeature) {
  const products = Array.from(found.concat, (value, place) => value * found.outWeight[place]);
  const bias = operands.out_bias === null ? "" : ` + b_{${feature}}`;
  const chooser = h("input", { type: "number", min: 0, max: found.own.output.length - 1, value: feature, id: newId("feature"), onchange: (event) => onfeature(Math.max(0, Math.min(found.own.output.length - 1, Number(event.target.value) || 0))) });
  return step("cell.output", `o_{${feature}} = [z_{1}; …; z_{h}] · W^{O}_{${feature}}${bias}`,
    onfeature ? h("p", {}, h("label", { for: chooser.id }, t("cell.feature")), " ", chooser) : null,
    strip([["z₁…zₕ", found.concat], ["Wᴼ", found.outWeight], ["×", products]]),
    operands.out_bias === null ? null : h("p", {}, formula(`b_{${feature}} = ${number(operands.out_bias)}`)),
    checked("output", found.own.output[feature], found.output));
}

function sumStep({ feature }, found) {
  return step("cell.sum", `x_{${feature}} + o_{${feature}} = ${number(found.input[feature])} + ${number(found.own.output[feature])}`,
    checked("sum", found.own.sum[feature], found.sum));
}

function normStep({ feature, norm }, found, title) {
  const { center, spread, result } = found.norm;
  const of = norm.place === "pre" ? found.input[feature] : found.own.sum[feature];
  const math = norm.kind === "rms"
    ? `x_{${feature}} / √(mean(x²) + ε) · γ = ${number(of)} / ${number(spread)} × ${number(norm.gain)}`
    : `(x_{${feature}} − μ) / √(σ² + ε) · γ + β = (${number(of)} − ${number(center)}) / ${number(spread)} × ${number(norm.gain)} + ${number(norm.shift)}`;
  return step(title, math, h("p", { class: "caption" }, t(`cell.norm.${norm.kind}`)), checked("norm", found.own.norm[feature], result));
}

function strongest(values) {
  let best = 0;
  values.forEach((value, place) => {
    if (Math.abs(value) > Math.abs(values[best])) best = place;
  });
  return best;
}

// Vectors under one another, feature by feature; each row has its own colour scale.
export function strip(rows) {
  const width = rows[0][1].length;
  const region = { class: "strip", tabindex: "0", role: "group", "aria-label": t("cell.strip", { count: width }) };
  return h("div", region, h("table", {},
    h("thead", {}, h("tr", {}, h("th", { scope: "col" }, t("cell.c")), Array.from({ length: width }, (_, place) => h("th", { scope: "col" }, place)))),
    h("tbody", {}, rows.map(([name, values]) => {
      const limit = Math.max(1e-12, largest(values));
      return h("tr", {}, h("th", { scope: "row" }, name), Array.from(values, (value) => {
        const colour = diverging((0.85 * value) / limit);
        return h("td", { style: { "background-color": css(colour), color: ink(colour) } }, number(value));
      }));
    }))));
}
