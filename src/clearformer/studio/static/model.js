// What the model is: a drawing made from its own description, and what each part costs.

import { ask } from "./api.js";
import { h, svg } from "./dom.js";
import { figure } from "./figure.js";
import { count, percent, short } from "./format.js";
import { t } from "./i18n.js";
import { numberField, Waiting } from "./sentence.js";

export function modelPage(model) {
  const costs = new Waiting("costs");
  let length = 32;
  const update = () => costs.fill(() => ask(`/api/anatomy?length=${length}`), (found) => costTable(found));
  update();
  const facts = factsOf(model);
  return h("div", {}, h("h2", {}, t("model.title", { name: model.name })),
    h("dl", { class: "facts-list" }, facts.map(([name, value]) => [h("dt", {}, t(name)), h("dd", {}, value)])),
    figure({ name: "architecture", title: t("model.drawing"), caption: t("model.drawing.about"), content: h("div", { class: "scroller" }, architecture(model)), table: () => ({ columns: [t("model.part"), t("model.detail")], rows: blocksOf(model).flatMap((stack) => stack.blocks.map((block) => [`${stack.title} · ${block.title}`, block.detail])) }) }),
    h("div", { class: "controls" }, numberField(t("model.length"), length, { min: 1, max: 512 }, (value) => {
      length = value;
      update();
    })),
    costs.element);
}

function factsOf(model) {
  const { config } = model;
  const entries = [
    ["model.family", model.family],
    ["model.shape", t(`shape.${model.shape}`)],
    ["model.parameters", count(model.parameters)],
    ["model.width", count(config.dim)],
    ["model.hidden", count(config.hidden_dim)],
    ["model.heads", String(config.attention.heads) + (config.attention.kv_heads ? ` (${t("model.kv", { count: config.attention.kv_heads })})` : "")],
    ["model.position", config.position.kind],
    ["model.norm", `${config.norm.kind}, ${t(`model.norm.${config.norm.place}`)}`],
    ["model.activation", config.activation + (config.gated ? ` (${t("model.gated")})` : "")],
    ["model.vocabulary", count(config.vocab_size)],
  ];
  for (const key of ["data", "licence", "attribution"]) if (model.provenance[key]) entries.push([`model.${key}`, String(model.provenance[key])]);
  return entries;
}

// Stacks from bottom to top, as they are drawn.
function blocksOf(model) {
  const { config } = model;
  const place = config.norm.place;
  const norm = t(`model.norm.short.${place}`);
  return Object.entries(model.layers).map(([stack, depth]) => {
    const layers = model.attention_layers.filter((layer) => layer.stack === stack && layer.index === 0);
    const heads = (layer) => t("model.block.heads", { heads: layer.heads, width: layer.key_dim, kv: layer.kv_heads });
    return {
      stack, depth, title: t(`stack.${stack}`),
      repeated: [
        ...layers.map((layer) => ({ title: t(`model.block.${layer.kind}`), detail: `${heads(layer)} · ${norm}`, kind: "attention", cross: layer.kind === "cross" })),
        { title: t("model.block.ffn"), detail: `${count(config.dim)} → ${count(config.hidden_dim)} → ${count(config.dim)} · ${config.activation} · ${norm}`, kind: "ffn" },
      ],
      get blocks() {
        return [{ title: t("model.block.front"), detail: frontText(model) }, ...this.repeated.map((block) => ({ ...block, detail: `${depth} × ${block.detail}` }))];
      },
    };
  });
}

function frontText(model) {
  const { config } = model;
  return `${t("model.block.table", { rows: count(config.vocab_size), width: count(config.embedding.dim ?? config.dim) })} · ${config.position.kind}`;
}

const BLOCK = { width: 250, height: 46, gap: 12 };

function architecture(model) {
  const stacks = blocksOf(model);
  const tallest = Math.max(...stacks.map((stack) => stack.repeated.length));
  const [columnWidth, bodyHeight] = [BLOCK.width + 90, tallest * (BLOCK.height + BLOCK.gap) + BLOCK.gap + 24];
  const [width, height] = [stacks.length * columnWidth + 30, bodyHeight + 230];
  const drawing = svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, class: "drawing architecture", role: "img", "aria-label": t("model.drawing") });
  drawing.append(svg("defs", {}, svg("marker", { id: "arrow", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto-start-reverse" }, svg("path", { d: "M0 0L8 4L0 8z", class: "arrow-head" }))));
  const bottom = height - 40;
  let memoryTop = 0; // where the stack before ends: its output goes to the next one's cross-attention
  stacks.forEach((stack, place) => {
    const x = 20 + place * columnWidth;
    const middle = x + BLOCK.width / 2;
    const frontTop = bottom - 20 - BLOCK.height;
    const bodyBottom = frontTop - 28;
    const bodyTop = bodyBottom - (stack.repeated.length * (BLOCK.height + BLOCK.gap) + BLOCK.gap);
    drawing.append(
      svg("text", { x: middle, y: bottom + 16, "text-anchor": "middle", class: "axis" }, t(place === 0 ? "model.input" : "model.written")),
      line(middle, bottom, middle, frontTop + BLOCK.height),
      block(x, frontTop, { title: t("model.block.front"), detail: frontText(model), kind: "front" }),
      svg("rect", { x: x - 12, y: bodyTop, width: BLOCK.width + 24, height: bodyBottom - bodyTop, rx: 8, class: "stack-frame" }),
      svg("text", { x: x + BLOCK.width + 12, y: bodyTop - 8, class: "times", "text-anchor": "end" }, `× ${stack.depth}`),
      svg("text", { x: x - 8, y: bodyTop - 8, class: "axis-title" }, stack.title),
      line(middle, frontTop, middle, bodyBottom));
    stack.repeated.forEach((one, row) => {
      const y = bodyBottom - (row + 1) * (BLOCK.height + BLOCK.gap);
      drawing.append(block(x, y, one));
      if (row > 0) drawing.append(line(middle, y + BLOCK.height + BLOCK.gap, middle, y + BLOCK.height));
      if (one.cross) drawing.append(svg("path", { d: `M${x - columnWidth + BLOCK.width / 2} ${memoryTop}v-24H${x - 28}V${y + BLOCK.height / 2}H${x - 1}`, class: "flow", "marker-end": "url(#arrow)" }));
    });
    if (place === stacks.length - 1) {
      const headTop = bodyTop - 28 - BLOCK.height;
      drawing.append(line(middle, bodyTop, middle, headTop + BLOCK.height), block(x, headTop, { title: t(`model.head.${model.config.head.kind}`), detail: model.config.head.kind === "language-model" ? `${count(model.config.dim)} → ${count(model.config.target_vocab_size ?? model.config.vocab_size)} · softmax` : "", kind: "head" }), line(middle, headTop, middle, headTop - 24));
    }
    memoryTop = bodyTop;
  });
  return drawing;
}

function block(x, y, { title, detail, kind }) {
  return svg("g", { class: `block block-${kind}` }, svg("rect", { x, y, width: BLOCK.width, height: BLOCK.height, rx: 5 }), svg("text", { x: x + BLOCK.width / 2, y: y + 18, "text-anchor": "middle", class: "block-title" }, title), svg("text", { x: x + BLOCK.width / 2, y: y + 35, "text-anchor": "middle", class: "block-detail" }, detail));
}

function line(x1, y1, x2, y2) {
  return svg("line", { x1, y1, x2, y2, class: "flow", "marker-end": "url(#arrow)" });
}

function costTable(found) {
  const totals = { parameters: sum(found.parts, "parameters"), operations: sum(found.parts, "operations") };
  const rows = found.parts.map((part) => [part.name, part.parameters, part.operations]);
  const bar = (value, total) => h("span", { class: "bar", style: { "--share": total ? (value / total).toFixed(4) : 0 } });
  const content = h("div", { class: "scroller", tabindex: "0", role: "group", "aria-label": t("model.costs") }, h("table", { class: "costs" },
    h("thead", {}, h("tr", {}, ["model.part", "model.parameters", "model.share", "model.operations", "model.share"].map((name) => h("th", { scope: "col" }, t(name))))),
    h("tbody", {}, found.parts.map((part) => h("tr", {}, h("th", { scope: "row" }, h("code", {}, part.name)), h("td", {}, count(part.parameters)), h("td", { class: "share" }, bar(part.parameters, totals.parameters), percent(part.parameters / (totals.parameters || 1))), h("td", {}, short(part.operations)), h("td", { class: "share" }, bar(part.operations, totals.operations), percent(part.operations / (totals.operations || 1)))))),
    h("tfoot", {}, h("tr", {}, h("th", { scope: "row" }, t("model.total")), h("td", {}, count(totals.parameters)), h("td", {}), h("td", {}, short(totals.operations)), h("td", {})))));
  return figure({ name: "costs", title: t("model.costs"), caption: t("model.costs.about", { length: found.length }), content, table: () => ({ columns: [t("model.part"), t("model.parameters"), t("model.operations")], rows }), drawing: () => barDrawing(found.parts, totals) });
}

function sum(parts, name) {
  return parts.reduce((total, part) => total + part[name], 0);
}

// The table as a picture to take along.
function barDrawing(parts, totals) {
  const [width, height] = [640, 40 + 22 * parts.length];
  const drawing = svg("svg", { viewBox: `0 0 ${width} ${height}`, class: "drawing" });
  drawing.append(svg("text", { x: 250, y: 18, class: "axis-title", "font-size": 12 }, t("model.parameters")), svg("text", { x: 450, y: 18, class: "axis-title", "font-size": 12 }, t("model.operations")));
  parts.forEach((part, row) => {
    const y = 30 + 22 * row;
    drawing.append(
      svg("text", { x: 240, y: y + 12, "text-anchor": "end", "font-size": 12, "font-family": "sans-serif" }, part.name),
      svg("rect", { x: 250, y, width: (90 * part.parameters) / totals.parameters, height: 14, fill: "rgb(151 108 202)" }),
      svg("text", { x: 345, y: y + 12, "font-size": 12, "font-family": "sans-serif" }, count(part.parameters)),
      svg("rect", { x: 450, y, width: (90 * part.operations) / (totals.operations || 1), height: 14, fill: "rgb(151 108 202)" }),
      svg("text", { x: 545, y: y + 12, "font-size": 12, "font-family": "sans-serif" }, short(part.operations)));
  });
  return drawing;
}
