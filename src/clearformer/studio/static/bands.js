// One head as lines: every query on the left, every key on the right, and between them a line as strong as the weight.

import { svg } from "./dom.js";

const ROW = 22;
const FAINT = 0.03;
const MOST = 3000; // lines

// onquery(row): a query was pointed at or chosen; null when none is.
export function bands({ queries, keys, weights, label, queryAxis, keyAxis, selected = null, onselect = () => {} }) {
  const longest = (names) => Math.min(150, Math.max(40, ...names.map((name) => 8 * [...name].length)));
  const [left, right, gap] = [longest(queries) + 12, longest(keys) + 12, 220];
  const [width, height] = [left + gap + right, 30 + ROW * Math.max(queries.length, keys.length) + 8];
  const drawing = svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, class: "drawing bands", role: "application", tabindex: "0", "aria-label": label });
  const y = (row) => 30 + ROW * (row + 0.5);

  drawing.append(
    svg("text", { x: left - 8, y: 14, "text-anchor": "end", class: "axis-title letter-q" }, queryAxis),
    svg("text", { x: left + gap + 8, y: 14, class: "axis-title letter-k" }, keyAxis));
  const lines = svg("g", {});
  drawing.append(lines);
  const names = queries.map((name, row) => svg("text", { x: left - 8, y: y(row), "text-anchor": "end", "dominant-baseline": "central", class: "axis query" }, name));
  names.forEach((name, row) => {
    name.addEventListener("pointerenter", () => light(row));
    name.addEventListener("click", () => choose(row));
  });
  drawing.append(...names, ...keys.map((name, row) => svg("text", { x: left + gap + 8, y: y(row), "dominant-baseline": "central", class: "axis key" }, name)));

  const all = [];
  for (let query = 0; query < queries.length; query += 1) {
    for (let key = 0; key < keys.length; key += 1) {
      const weight = weights[query * keys.length + key];
      if (weight > FAINT) all.push({ query, key, weight });
    }
  }
  all.sort((one, other) => other.weight - one.weight);
  for (const { query, key, weight } of all.slice(0, MOST)) {
    const [from, to] = [left, left + gap];
    lines.append(svg("path", { d: `M${from} ${y(query)}C${from + gap / 2} ${y(query)} ${to - gap / 2} ${y(key)} ${to} ${y(key)}`, "stroke-opacity": weight.toFixed(3), "stroke-width": (0.5 + 3 * weight).toFixed(2), class: "band", "data-query": query }));
  }

  let fixed = selected;
  function light(row) {
    for (const line of lines.children) line.classList.toggle("dimmed", row !== null && Number(line.dataset.query) !== row);
    names.forEach((name, place) => name.classList.toggle("chosen", place === row));
  }
  function choose(row) {
    fixed = row;
    light(row);
    onselect(row);
  }
  drawing.addEventListener("pointerleave", () => light(fixed));
  drawing.addEventListener("keydown", (event) => {
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
    const next = (fixed ?? -1) + (event.key === "ArrowDown" ? 1 : -1);
    choose(Math.max(0, Math.min(queries.length - 1, next)));
    event.preventDefault();
  });
  light(fixed);
  return drawing;
}
