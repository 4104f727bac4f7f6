// The beam search as a tree: each column a step, in it every candidate, kept or cut, and why.

import { ask } from "./api.js";
import { h, replace, svg } from "./dom.js";
import { figure } from "./figure.js";
import { setting, settingsForm } from "./form.js";
import { number, percent } from "./format.js";
import { t } from "./i18n.js";
import { css, ink, sequential } from "./palette.js";
import { note, sentenceBox, Waiting } from "./sentence.js";
import { chosen } from "./store.js";
import { part, unpack } from "./tensor.js";
import { label, shortLabel } from "./tokens.js";

const COLUMN = 132;
const ROW = 24;
const BOX = { width: 104, height: 20 };

export function treePage(model) {
  if (model.task === "read") return h("div", {}, h("h2", {}, t("tree.title")), note(t("tree.none")));
  const drawing = new Waiting("tree");
  const update = () => {
    const asked = request(); // the next sentence may be typed before a node of this one is opened
    drawing.fill(() => ask("/api/tree", asked), (tree) => showTree(model, { ...tree, text: asked.text }, update));
  };
  const changed = () => {
    chosen.node = null;
    update();
  };
  update();
  return h("div", {}, h("h2", {}, t("tree.title")), h("p", { class: "lead" }, t("tree.lead")), sentenceBox(model, update),
    settingsForm(model, changed, { method: "beam" }),
    drawing.element);
}

function request() {
  return { text: chosen.text, settings: { ...chosen.settings, method: "beam" }, prefix: chosen.prefix };
}

function isAlive(node) {
  return node.fate === "kept" || node.fate === "finished" || node.fate === "start" || node.fate === "worse_than_finished" || node.fate === "search_stopped";
}

function showTree(model, tree, update) {
  const shown = tree.nodes.filter((node) => chosen.showCut || isAlive(node));
  const panel = h("div", { class: "node-panel", "data-part": "node" });
  const selected = tree.nodes[chosen.node ?? tree.best ?? 0] ?? tree.nodes[0];
  const open = (node) => {
    chosen.node = node.id;
    replace(panel, nodePanel(model, tree, node, update));
  };
  const picture = drawTree(tree, shown, selected.id, open);
  open(selected);
  const toggle = h("label", { class: "check" }, h("input", { type: "checkbox", onchange: (event) => {
    chosen.showCut = event.target.checked;
    update();
  } }), t("tree.cut"));
  toggle.firstChild.checked = chosen.showCut;
  return [
    h("p", { class: "tokens result", "data-answer": tree.answer.text, "data-score": tree.answer.score }, t("tree.answer"), " ", h("bdi", {}, tree.answer.text || t("translate.nothing")), h("span", { class: "facts" }, ` ${number(tree.answer.score)}`)),
    chosen.prefix.length ? h("p", {}, t("tree.forced", { count: chosen.prefix.length }), " ", h("button", { type: "button", onclick: () => {
      chosen.prefix = [];
      chosen.node = null;
      update();
    } }, t("tree.free"))) : null,
    toggle,
    figure({ name: "beam-tree", title: t("tree.figure"), caption: t("tree.caption"), content: h("div", { class: "scroller tree-scroller" }, picture), table: () => treeTable(tree) }),
    panel,
  ];
}

function treeTable(tree) {
  return { columns: [t("tree.node"), t("tree.parent"), t("tree.step"), t("walk.token"), t("tree.logprob"), t("tree.total"), t("tree.divisor"), t("tree.score"), t("tree.fate")], rows: tree.nodes.map((node) => [node.id, node.parent ?? "", node.depth, node.token ? label(node.token) : "", node.token_log_prob, node.log_prob, node.divisor ?? "", node.score ?? "", t(`fate.${node.fate}`)]) };
}

// Within a column what lives stands above what was cut, better totals above worse ones.
function arrange(nodes) {
  const columns = new Map();
  for (const node of nodes) columns.set(node.depth, [...(columns.get(node.depth) ?? []), node]);
  const places = new Map();
  for (const [depth, column] of columns) {
    column.sort((one, other) => Number(isAlive(other)) - Number(isAlive(one)) || (other.log_prob ?? -Infinity) - (one.log_prob ?? -Infinity));
    column.forEach((node, row) => places.set(node.id, { x: 8 + depth * COLUMN, y: 30 + row * ROW }));
  }
  return { places, depth: Math.max(...columns.keys()), rows: Math.max(...[...columns.values()].map((column) => column.length)) };
}

function drawTree(tree, nodes, selected, open) {
  const { places, depth, rows } = arrange(nodes);
  const [width, height] = [16 + (depth + 1) * COLUMN, 40 + rows * ROW];
  const drawing = svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, class: "drawing tree", role: "group", "aria-label": t("tree.figure") });
  for (let step = 1; step <= depth; step += 1) drawing.append(svg("text", { x: 8 + step * COLUMN, y: 16, class: "axis" }, t("tree.column", { step })));
  const best = new Set(pathOf(tree, tree.nodes[tree.best ?? 0]).map((node) => node.id));
  for (const node of nodes) {
    if (node.parent === null || !places.has(node.parent)) continue;
    const [from, to] = [places.get(node.parent), places.get(node.id)];
    const [x1, y1, x2, y2] = [from.x + BOX.width, from.y + BOX.height / 2, to.x, to.y + BOX.height / 2];
    drawing.append(svg("path", { d: `M${x1} ${y1}C${x1 + 14} ${y1} ${x2 - 14} ${y2} ${x2} ${y2}`, class: `edge edge-${isAlive(node) ? "alive" : "cut"} ${best.has(node.id) ? "edge-best" : ""}` }));
  }
  const boxes = new Map();
  for (const node of nodes) {
    const { x, y } = places.get(node.id);
    const probability = node.token_log_prob === null ? 0 : Math.exp(node.token_log_prob);
    const text = node.token ? shortLabel(node.token, 9) : t("tree.start");
    const choose = () => {
      boxes.forEach((box, id) => box.classList.toggle("chosen", id === node.id));
      open(node);
    };
    const box = svg("g", { class: `node node-${isAlive(node) ? "alive" : "cut"} node-${node.fate} ${best.has(node.id) ? "node-best" : ""} ${node.id === selected ? "chosen" : ""}`, role: "button", tabindex: "0", "data-node": node.id, "aria-label": t("tree.label", { token: text, logprob: number(node.token_log_prob), fate: t(`fate.${node.fate}`) }), onclick: choose, onkeydown: (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      choose();
    } },
      svg("rect", { x, y, width: BOX.width, height: BOX.height, rx: 3 }),
      node.depth ? svg("rect", { x, y: y + BOX.height - 3, width: Math.max(0, probability * BOX.width), height: 3, class: "node-bar" }) : null,
      svg("text", { x: x + 6, y: y + 10, "dominant-baseline": "central" }, text),
      node.depth ? svg("text", { x: x + BOX.width - 5, y: y + 10, "text-anchor": "end", "dominant-baseline": "central", class: "node-number" }, number(node.token_log_prob, 2)) : null);
    boxes.set(node.id, box);
    drawing.append(box);
  }
  return drawing;
}

function pathOf(tree, node) {
  const path = [];
  for (let one = node; one && one.parent !== null; one = tree.nodes[one.parent]) path.unshift(one);
  return path;
}

function nodePanel(model, tree, node, update) {
  if (node.token === null) return note(t("tree.choose"));
  const path = pathOf(tree, node);
  const facts = [
    ["tree.logprob", `${number(node.token_log_prob)} (${percent(Math.exp(node.token_log_prob ?? -Infinity))})`],
    ["tree.total", `${path.map((one) => number(one.token_log_prob, 2)).join(" + ")} = ${number(node.log_prob)}`],
    ["tree.divisor", setting("penalty") === "gnmt" ? `((5 + ${node.depth}) / 6)^α = ${number(node.divisor)}` : `${node.depth}^α = ${number(node.divisor)}`],
    ["tree.score", `${number(node.log_prob)} / ${number(node.divisor)} = ${number(node.score)}`],
    ["tree.fate", t(`fate.${node.fate}`)],
  ];
  const looked = new Waiting("node-attention");
  const before = path.slice(0, -1).map((one) => one.token.id);
  const crossing = model.attention_layers.filter((layer) => layer.kind === "cross");
  const layer = crossing[Math.max(0, crossing.length - 2)];
  if (layer) looked.fill(() => ask("/api/head", { input: { text: tree.text, target: before }, layer: layer.name, head: null }), (found) => attentionRow(tree.source, part(unpack(found.weights), before.length).values));
  return h("section", { "aria-live": "polite" },
    h("h3", {}, path.map((one) => one.token.text).join("").trim() || label(node.token)),
    h("dl", { class: "facts-list" }, facts.map(([name, value]) => [h("dt", {}, t(name)), h("dd", {}, value)])),
    layer ? [h("h4", {}, t("tree.attention")), looked.element] : null,
    node.fate === "finished" ? null : h("button", { type: "button", onclick: () => {
      chosen.prefix = path.map((one) => one.token.id);
      chosen.node = null;
      update();
    } }, t("tree.force", { token: label(node.token) })));
}

function attentionRow(tokens, weights) {
  return h("p", { class: "tokens" }, tokens.map((token, place) => {
    const colour = sequential(0.9 * weights[place]);
    return h("span", { class: "token token-starts", style: { "background-color": css(colour), color: ink(colour) } }, h("bdi", {}, label(token)), h("small", {}, ` ${percent(weights[place])}`));
  }));
}
