// Numbers as bars beside their names, to both sides of a line where some are negative.

import { svg } from "./dom.js";
import { css, diverging, sequential } from "./palette.js";

const ROW = 24;
const NUMBER = 60;

// rows: [{ name, value }]; say: a number as text; signed: colours tell for and against.
export function bars({ rows, label, say, signed = false }) {
  const wide = (text) => [...text].reduce((sum, one) => sum + (one.codePointAt(0) > 0x2e7f ? 13 : 7.4), 0);
  const left = Math.min(220, Math.max(60, ...rows.map((row) => wide(row.name)))) + 10;
  const long = innerWidth < 640 ? 90 : 220; // a bar over the whole range
  const [low, high] = [Math.min(0, ...rows.map((row) => row.value)), Math.max(0, ...rows.map((row) => row.value))];
  const size = high - low || 1;
  const [width, height] = [left + long + (low < 0 ? 2 : 1) * NUMBER, ROW * rows.length + 8];
  const x = (value) => left + (low < 0 ? NUMBER : 0) + (long * (value - low)) / size;
  const drawing = svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, class: "drawing bars", role: "img", "aria-label": label });
  rows.forEach((row, place) => {
    const y = 4 + ROW * place;
    const fill = css(signed ? diverging(0.8 * Math.sign(row.value)) : sequential(0.66));
    const [from, to] = [Math.min(x(0), x(row.value)), Math.max(x(0), x(row.value))];
    drawing.append(
      svg("text", { x: left - 8, y: y + ROW / 2, "text-anchor": "end", "dominant-baseline": "central", class: "bar-name" }, row.name),
      svg("rect", { x: from, y: y + 4, width: Math.max(0.5, to - from), height: ROW - 8, fill }),
      svg("text", { x: row.value < 0 ? from - 6 : to + 6, y: y + ROW / 2, "text-anchor": row.value < 0 ? "end" : "start", "dominant-baseline": "central", class: "axis" }, say(row.value)));
  });
  drawing.append(svg("line", { x1: x(0), x2: x(0), y1: 2, y2: height - 2, class: "axis-line" }));
  return drawing;
}
