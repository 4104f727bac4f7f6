// All heads of all layers as thumbnails, one of them large, and under it the arithmetic of a chosen cell.

import { ask } from "./api.js";
import { bands } from "./bands.js";
import { cellPanel } from "./cell.js";
import { h, replace } from "./dom.js";
import { figure } from "./figure.js";
import { number, percent } from "./format.js";
import { t } from "./i18n.js";
import { matrix } from "./matrix.js";
import { sequential } from "./palette.js";
import { note, segmented, sentenceBox, Waiting } from "./sentence.js";
import { chosen } from "./store.js";
import { part, unpack } from "./tensor.js";
import { label, shortLabel } from "./tokens.js";

export function currentInput() {
  return { text: chosen.text, target: chosen.alternative };
}

// Who looks at whom at a layer: the tokens of its rows and of its columns.
export function sides(layer, tokens) {
  const own = layer.stack === "decoder" && tokens.target.length ? tokens.target : tokens.source;
  return { queries: own, keys: layer.kind === "cross" ? tokens.source : own };
}

export function layerName(layer) {
  return t(`layer.${layer.kind}`, { stack: t(`stack.${layer.stack}`), layer: layer.index + 1 });
}

export function headsPage(model) {
  if (model.attention_layers.length === 0) return h("div", {}, h("h2", {}, t("heads.title")), note(t("heads.none")));
  if (!model.attention_layers.some((layer) => layer.name === chosen.layer)) chosen.layer = (model.attention_layers.find((layer) => layer.kind === "cross") ?? model.attention_layers[0]).name;
  const all = new Waiting("thumbnails");
  const large = new Waiting("head");
  const arithmetic = new Waiting("cell");
  const update = () => {
    const input = currentInput(); // one sentence for all parts: the next one may be typed before the last answer is here
    all.fill(() => ask("/api/heads", input), (found) => {
      showLarge(found, input);
      return thumbnails(found, () => {
        chosen.cell = null;
        update();
      });
    }).then(() => showChosen(all.element));
  };
  const showLarge = (tokens, input) => {
    const layer = model.attention_layers.find((one) => one.name === chosen.layer);
    if (chosen.head !== null && chosen.head >= layer.heads) chosen.head = 0;
    large.fill(() => ask("/api/head", { input, layer: layer.name, head: chosen.head }), (found) => largeHead(layer, tokens, found, { again: update, opencell: () => showCell(layer, tokens, input) }));
    showCell(layer, tokens, input);
  };
  const showCell = (layer, tokens, input) => {
    if (chosen.cell === null || chosen.head === null) {
      arithmetic.clear();
      return;
    }
    if (!layer.exact) {
      replace(arithmetic.element, note(t("heads.inexact")));
      return;
    }
    arithmetic.fill(() => askCell(layer, input), (operands) => cellPanel(operands, { ...sides(layer, tokens), onfeature: (feature) => {
      chosen.feature = feature;
      showCell(layer, tokens, input);
    } }));
  };
  update();
  return h("div", {}, h("h2", {}, t("heads.title")), h("p", { class: "lead" }, t("heads.lead")), sentenceBox(model, update), h("div", { class: "heads-layout" }, all.element, large.element), arithmetic.element);
}

// The list of thumbnails scrolls by itself; the chosen one should be in sight.
function showChosen(list) {
  const button = list.querySelector("[aria-pressed=true]");
  if (!button) return;
  const [outer, inner] = [list.getBoundingClientRect(), button.getBoundingClientRect()];
  if (inner.bottom > outer.bottom) list.scrollTop += inner.bottom - outer.bottom + 8;
  else if (inner.top < outer.top) list.scrollTop -= outer.top - inner.top + 30;
}

export function askCell(layer, input) {
  return ask("/api/cell", { input, layer: layer.name, head: chosen.head, query: chosen.cell[0], key: chosen.cell[1], feature: chosen.feature });
}

function thumbnails(found, onchoose) {
  return h("div", { class: "thumbnails" }, found.attention_layers.map((layer) => {
    const shades = unpack(layer.shades);
    return h("section", { class: "thumbnail-row", "aria-label": layerName(layer) },
      h("h3", {}, layerName(layer)),
      h("div", { class: "thumbnail-list" },
        layer.patterns.map((pattern, head) => thumbnail(part(shades, head), {
          key: `${layer.name}/${head}`, name: t("heads.head", { head: head + 1 }), pattern: t(`pattern.${pattern.name}`),
          description: t("heads.thumbnail", { layer: layerName(layer), head: head + 1, pattern: t(`pattern.${pattern.name}`), entropy: number(pattern.entropy, 2) }),
          current: layer.name === chosen.layer && head === chosen.head,
          onclick: () => {
            [chosen.layer, chosen.head] = [layer.name, head];
            onchoose();
          },
        })),
        h("button", { type: "button", class: "thumbnail-mean", "data-key": `${layer.name}/mean`, "aria-pressed": String(layer.name === chosen.layer && chosen.head === null), onclick: () => {
          [chosen.layer, chosen.head] = [layer.name, null];
          onchoose();
        } }, t("heads.mean"))));
  }));
}

function thumbnail(shades, { key, name, pattern, description, current, onclick }) {
  const [height, width] = shades.shape;
  const canvas = h("canvas", { width, height, "aria-hidden": "true" });
  const context = canvas.getContext("2d");
  const image = context.createImageData(width, height);
  shades.values.forEach((shade, place) => image.data.set([...sequential(Math.sqrt(shade / 255)), 255], 4 * place));
  context.putImageData(image, 0, 0);
  return h("button", { type: "button", class: "thumbnail", "aria-pressed": String(current), "data-key": key, "aria-label": description, title: description, onclick }, canvas, h("span", { class: "thumbnail-name" }, name), h("span", { class: "thumbnail-pattern" }, pattern));
}

function largeHead(layer, tokens, found, { again, opencell }) {
  const { queries, keys } = sides(layer, tokens);
  const weights = unpack(found.weights);
  const title = chosen.head === null ? t("heads.large.mean", { layer: layerName(layer) }) : t("heads.large", { layer: layerName(layer), head: chosen.head + 1 });
  const name = `attention-${layer.name}-${chosen.head === null ? "mean" : chosen.head + 1}`;
  const [rows, columns] = [queries.map((token) => shortLabel(token)), keys.map((token) => shortLabel(token))];
  const view = matrix({
    rows, columns, values: weights.values, label: title, rowAxis: t("heads.query"), columnAxis: t("heads.key"), selected: chosen.cell,
    hidden: layer.kind === "masked" ? (row, column) => column > row : null,
    say: (row, column, value) => t("heads.cell", { query: label(queries[row]), key: label(keys[column]), weight: number(value) }),
    onopen: (row, column) => {
      chosen.cell = [row, column];
      opencell();
    },
  });
  const asLines = chosen.view === "lines";
  const content = asLines ? h("div", { class: "scroller" }, bands({ queries: rows, keys: columns, weights: weights.values, label: title, queryAxis: t("heads.query"), keyAxis: t("heads.key") })) : view.element;
  return h("section", { class: "large" },
    segmented(t("heads.view"), [["matrix", t("heads.matrix")], ["lines", t("heads.lines")]], chosen.view, (value) => {
      chosen.view = value;
      again();
    }),
    figure({ name, title, caption: facts(found.pattern, layer), content, table: () => view.table(), drawing: asLines ? null : () => view.drawing() }),
    chosen.head === null ? note(t("heads.mean.note")) : asLines ? null : note(t("heads.click")));
}

function facts(pattern, layer) {
  const shares = Object.entries(pattern.shares).map(([name, share]) => `${t(`pattern.${name}`)} ${percent(share)}`);
  return `${t("heads.pattern", { name: t(`pattern.${pattern.name}`) })} ${t("heads.entropy", { entropy: number(pattern.entropy, 3), largest: number(pattern.largest, 3) })} ${t("heads.shares", { shares: shares.join(t("list.comma")) })}`;
}
