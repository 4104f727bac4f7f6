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

// Who looks at whom at a site: the tokens of its rows and of its columns.
export function sides(site, tokens) {
  const own = site.stack === "decoder" && tokens.target.length ? tokens.target : tokens.source;
  return { queries: own, keys: site.kind === "cross" ? tokens.source : own };
}

export function siteName(site) {
  return t(`site.${site.kind}`, { stack: t(`stack.${site.stack}`), layer: site.layer + 1 });
}

export function headsPage(model) {
  if (model.sites.length === 0) return h("div", {}, h("h2", {}, t("heads.title")), note(t("heads.none")));
  if (!model.sites.some((site) => site.name === chosen.site)) chosen.site = (model.sites.find((site) => site.kind === "cross") ?? model.sites[0]).name;
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
    const site = model.sites.find((one) => one.name === chosen.site);
    if (chosen.head !== null && chosen.head >= site.heads) chosen.head = 0;
    large.fill(() => ask("/api/head", { input, site: site.name, head: chosen.head }), (found) => largeHead(site, tokens, found, { again: update, opencell: () => showCell(site, tokens, input) }));
    showCell(site, tokens, input);
  };
  const showCell = (site, tokens, input) => {
    if (chosen.cell === null || chosen.head === null) {
      arithmetic.clear();
      return;
    }
    if (!site.exact) {
      replace(arithmetic.element, note(t("heads.inexact")));
      return;
    }
    arithmetic.fill(() => askCell(site, input), (operands) => cellPanel(operands, { ...sides(site, tokens), onfeature: (feature) => {
      chosen.feature = feature;
      showCell(site, tokens, input);
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

export function askCell(site, input) {
  return ask("/api/cell", { input, site: site.name, head: chosen.head, query: chosen.cell[0], key: chosen.cell[1], feature: chosen.feature });
}

function thumbnails(found, onchoose) {
  return h("div", { class: "thumbnails" }, found.sites.map((site) => {
    const shades = unpack(site.shades);
    return h("section", { class: "thumbnail-row", "aria-label": siteName(site) },
      h("h3", {}, siteName(site)),
      h("div", { class: "thumbnail-list" },
        site.patterns.map((pattern, head) => thumbnail(part(shades, head), {
          key: `${site.name}/${head}`, name: t("heads.head", { head: head + 1 }), pattern: t(`pattern.${pattern.name}`),
          description: t("heads.thumbnail", { site: siteName(site), head: head + 1, pattern: t(`pattern.${pattern.name}`), entropy: number(pattern.entropy, 2) }),
          current: site.name === chosen.site && head === chosen.head,
          onclick: () => {
            [chosen.site, chosen.head] = [site.name, head];
            onchoose();
          },
        })),
        h("button", { type: "button", class: "thumbnail-mean", "data-key": `${site.name}/mean`, "aria-pressed": String(site.name === chosen.site && chosen.head === null), onclick: () => {
          [chosen.site, chosen.head] = [site.name, null];
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

function largeHead(site, tokens, found, { again, opencell }) {
  const { queries, keys } = sides(site, tokens);
  const weights = unpack(found.weights);
  const title = chosen.head === null ? t("heads.large.mean", { site: siteName(site) }) : t("heads.large", { site: siteName(site), head: chosen.head + 1 });
  const name = `attention-${site.name}-${chosen.head === null ? "mean" : chosen.head + 1}`;
  const [rows, columns] = [queries.map((token) => shortLabel(token)), keys.map((token) => shortLabel(token))];
  const view = matrix({
    rows, columns, values: weights.values, label: title, rowAxis: t("heads.query"), columnAxis: t("heads.key"), selected: chosen.cell,
    hidden: site.kind === "masked" ? (row, column) => column > row : null,
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
    figure({ name, title, caption: facts(found.pattern, site), content, table: () => view.table(), drawing: asLines ? null : () => view.drawing() }),
    chosen.head === null ? note(t("heads.mean.note")) : asLines ? null : note(t("heads.click")));
}

function facts(pattern, site) {
  const shares = Object.entries(pattern.shares).map(([name, share]) => `${t(`pattern.${name}`)} ${percent(share)}`);
  return `${t("heads.pattern", { name: t(`pattern.${pattern.name}`) })} ${t("heads.entropy", { entropy: number(pattern.entropy, 3), largest: number(pattern.largest, 3) })} ${t("heads.shares", { shares: shares.join(t("list.comma")) })}`;
}
