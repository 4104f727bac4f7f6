// What each part of the model adds to a logit: every head and feed-forward as a grid, and the largest parts as bars.

import { bars } from "./bars.js";
import { h } from "./dom.js";
import { figure } from "./figure.js";
import { number } from "./format.js";
import { t } from "./i18n.js";
import { matrix } from "./matrix.js";
import { part, unpack } from "./tensor.js";
import { label } from "./tokens.js";

const LARGEST = 16;

export function partsFigures(sum) {
  const all = allParts(sum);
  const names = { token: label(sum.token), against: sum.against === null ? "" : label(sum.against) };
  const what = t(sum.against === null ? "parts.of" : "parts.of.two", names);
  return [
    h("p", { class: "facts sum", "data-logit": sum.logit.toFixed(6), "data-total": sum.total.toFixed(6) }, t("parts.sum", { what, count: all.length, total: number(sum.total), logit: number(sum.logit), apart: number(Math.abs(sum.total - sum.logit)) })),
    h("div", { class: "schemes" }, largestFigure(all, what), gridFigure(sum)),
  ];
}

// Every part with its name, first to last; biases that do not exist are left out.
function allParts(sum) {
  const heads = unpack(sum.heads);
  const layers = sum.feed_forwards.flatMap((added, layer) => [
    ...Array.from(part(heads, layer).values, (value, head) => ({ name: t("parts.head", { layer: layer + 1, head: head + 1 }), value })),
    { name: t("parts.bias", { layer: layer + 1 }), value: sum.attention_biases[layer], optional: true },
    { name: t("parts.ffn", { layer: layer + 1 }), value: added },
  ]);
  const ends = [{ name: t("parts.embedding"), value: sum.embedding }, { name: t("parts.position"), value: sum.position ?? 0, optional: true }];
  return [...ends, ...layers, { name: t("parts.constant"), value: sum.constant, optional: true }].filter((one) => !(one.optional && one.value === 0));
}

function largestFigure(all, what) {
  const sorted = [...all].sort((one, other) => Math.abs(other.value) - Math.abs(one.value));
  const [shown, others] = [sorted.slice(0, LARGEST), sorted.slice(LARGEST)];
  const rest = others.length ? [{ name: t("parts.others", { count: others.length }), value: others.reduce((total, one) => total + one.value, 0) }] : [];
  const title = t("parts.largest", { what });
  const drawing = bars({ rows: [...shown, ...rest], label: title, say: (value) => number(value, 3), signed: true });
  return figure({ name: "logit-parts", title, caption: t("parts.largest.about"), content: h("div", { class: "scroller", tabindex: "0", role: "group", "aria-label": title }, drawing), table: () => ({ columns: [t("parts.part"), t("parts.adds")], rows: all.map((one) => [one.name, one.value]) }) });
}

function gridFigure(sum) {
  const heads = unpack(sum.heads);
  const [layers, count] = heads.shape;
  const biased = sum.attention_biases.some((value) => value !== 0);
  const columns = [...Array.from({ length: count }, (_, head) => String(head + 1)), t("parts.column.ffn"), ...(biased ? [t("parts.column.bias")] : [])];
  const values = Float64Array.from(sum.feed_forwards.flatMap((added, layer) => [...part(heads, layer).values, added, ...(biased ? [sum.attention_biases[layer]] : [])]));
  const title = t("parts.grid");
  const view = matrix({
    rows: Array.from({ length: layers }, (_, layer) => String(layer + 1)), columns, values, palette: "diverging", label: title, rowAxis: t("lens.layer"), columnAxis: t("parts.column.head"),
    say: (layer, column, value) => t("parts.say", { name: t(`parts.${column < count ? "head" : column === count ? "ffn" : "bias"}`, { layer: layer + 1, head: column + 1 }), value: number(value) }),
  });
  return figure({ name: "logit-parts-by-layer", title, caption: t("parts.grid.about"), content: view.element, table: () => view.table(), drawing: () => view.drawing() });
}
