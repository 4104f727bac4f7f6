// The logit lens as a grid: a row for each layer, its likeliest tokens, and what it thinks of one token.

import { h, svg } from "./dom.js";
import { figure } from "./figure.js";
import { share } from "./format.js";
import { t } from "./i18n.js";
import { css, ink, sequential } from "./palette.js";
import { label, labels, shorten } from "./tokens.js";

const [LEFT, CELL, ROW, TOP, SHARE] = [96, 104, 25, 24, 110];

export function lensFigure(found) {
  const title = t("lens.title");
  const grid = lensGrid(found, title);
  return figure({
    name: "logit-lens", title, caption: t("lens.about", { token: label(found.token) }),
    content: h("div", { class: "scroller", tabindex: "0", role: "group", "aria-label": title }, grid),
    table: () => ({
      columns: [t("lens.layer"), t("lens.probability", { token: label(found.token) }), t("next.rank"), t("lens.entropy"), ...found.layers[0].likeliest.flatMap((_, place) => [t("walk.rank", { rank: place + 1 }), t("next.probability")])],
      rows: found.layers.map((layer, place) => [rowName(place), layer.probability, layer.rank, layer.entropy, ...labels(layer.likeliest).flatMap((name, column) => [name, layer.likeliest[column].probability])]),
    }),
  });
}

function rowName(place) {
  return place === 0 ? t("lens.embedding") : t("lens.number", { layer: place });
}

function lensGrid(found, title) {
  const count = found.layers[0].likeliest.length;
  const shares = LEFT + count * CELL + 20;
  const [width, height] = [shares + SHARE + 110, TOP + ROW * found.layers.length + 8];
  const drawing = svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, class: "drawing lens", role: "img", "aria-label": title });
  drawing.append(
    svg("text", { x: LEFT, y: 14, class: "axis-title" }, t("lens.says")),
    svg("text", { x: shares, y: 14, class: "axis-title" }, t("lens.thinks", { token: shorten(label(found.token)) })));
  found.layers.forEach((layer, place) => {
    const y = TOP + ROW * place;
    drawing.append(svg("text", { x: LEFT - 8, y: y + ROW / 2, "text-anchor": "end", "dominant-baseline": "central", class: "axis" }, rowName(place)));
    labels(layer.likeliest).forEach((name, column) => drawing.append(...cell(name, layer.likeliest[column], LEFT + column * CELL, y, found.token)));
    drawing.append(
      svg("rect", { x: shares, y: y + 5, width: Math.max(0.5, SHARE * layer.probability), height: ROW - 10, fill: css(sequential(0.66)) }),
      svg("text", { x: shares + SHARE * layer.probability + 6, y: y + ROW / 2, "dominant-baseline": "central", class: "axis", "data-layer": place, "data-rank": layer.rank, "data-probability": layer.probability.toFixed(6) }, `${share(layer.probability)} · ${t("walk.rank", { rank: layer.rank })}`));
  });
  return drawing;
}

function cell(name, one, x, y, followed) {
  const colour = sequential(one.probability);
  return [
    svg("rect", { x, y: y + 1, width: CELL - 2, height: ROW - 2, fill: css(colour), class: one.id === followed.id ? "lens-chosen" : "lens-cell" }, svg("title", {}, `${name} ${share(one.probability)}`)),
    svg("text", { x: x + CELL / 2 - 1, y: y + ROW / 2, "text-anchor": "middle", "dominant-baseline": "central", fill: ink(colour), class: "cell-value lens-token" }, shorten(name)),
  ];
}
