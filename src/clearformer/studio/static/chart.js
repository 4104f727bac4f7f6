// Lines over a common axis. Series are told apart by colour and by dashes, and each is named in the legend.

import { svg } from "./dom.js";
import { SERIES } from "./palette.js";

const WIDTH = 560;
const HEIGHT = 280;
const MARGIN = { left: 80, right: 14, top: 14, bottom: 40 };

// series: [{ name, points: [[x, y], …], dots }]; log: the vertical axis in powers of ten.
export function chart({ series, label, xAxis, yAxis, log = false, zero = false }) {
  const filled = series.filter((one) => one.points.length > 0);
  const legendRows = Math.ceil(series.length / 3);
  const height = HEIGHT + 18 * legendRows;
  const drawing = svg("svg", { viewBox: `0 0 ${WIDTH} ${height}`, width: WIDTH, height, class: "drawing chart", role: "img", "aria-label": label });
  if (filled.length === 0) return drawing;
  const scale = log ? Math.log10 : (value) => value;
  const xs = filled.flatMap((one) => one.points.map(([x]) => x));
  const ys = filled.flatMap((one) => one.points.map(([, y]) => scale(y))).filter(Number.isFinite);
  const horizontal = span(xs);
  const vertical = span(zero ? [...ys, 0] : ys);
  const x = (value) => MARGIN.left + ((value - horizontal.low) / horizontal.size) * (WIDTH - MARGIN.left - MARGIN.right);
  const y = (value) => HEIGHT - MARGIN.bottom - ((scale(value) - vertical.low) / vertical.size) * (HEIGHT - MARGIN.top - MARGIN.bottom);

  for (const value of log ? powers(vertical.low, vertical.low + vertical.size) : ticks(vertical.low, vertical.low + vertical.size, 5)) {
    drawing.append(
      svg("line", { x1: MARGIN.left, x2: WIDTH - MARGIN.right, y1: y(value), y2: y(value), class: "grid" }),
      svg("text", { x: MARGIN.left - 8, y: y(value), "text-anchor": "end", "dominant-baseline": "central", class: "axis" }, tickText(value)));
  }
  for (const tick of ticks(horizontal.low, horizontal.low + horizontal.size, 6)) {
    drawing.append(svg("text", { x: x(tick), y: HEIGHT - MARGIN.bottom + 16, "text-anchor": "middle", class: "axis" }, tickText(tick)));
  }
  drawing.append(
    svg("line", { x1: MARGIN.left, x2: WIDTH - MARGIN.right, y1: HEIGHT - MARGIN.bottom, y2: HEIGHT - MARGIN.bottom, class: "axis-line" }),
    svg("text", { x: WIDTH - MARGIN.right, y: HEIGHT - 8, "text-anchor": "end", class: "axis-title" }, xAxis),
    svg("text", { x: 14, y: MARGIN.top, class: "axis-title", transform: `rotate(-90 14 ${MARGIN.top})`, "text-anchor": "end" }, yAxis));

  series.forEach((one, place) => {
    const name = SERIES[place % SERIES.length];
    const points = one.points.filter(([, value]) => Number.isFinite(scale(value)));
    if (points.length > 1) drawing.append(svg("polyline", { points: points.map(([px, py]) => `${x(px).toFixed(1)},${y(py).toFixed(1)}`).join(" "), class: `line ${name}` }));
    if (one.dots || points.length === 1) points.forEach(([px, py]) => drawing.append(svg("circle", { cx: x(px), cy: y(py), r: 3, class: `dot ${name}` })));
    const [column, row] = [place % 3, Math.floor(place / 3)];
    const [lx, ly] = [MARGIN.left + column * 160, HEIGHT + 8 + 18 * row];
    drawing.append(
      svg("line", { x1: lx, x2: lx + 22, y1: ly, y2: ly, class: `line ${name}` }),
      svg("text", { x: lx + 28, y: ly, "dominant-baseline": "central", class: "axis" }, one.name));
  });
  return drawing;
}

export function chartTable(series, xAxis) {
  const places = [...new Set(series.flatMap((one) => one.points.map(([x]) => x)))].sort((one, other) => one - other);
  const found = series.map((one) => new Map(one.points));
  return { columns: [xAxis, ...series.map((one) => one.name)], rows: places.map((x) => [x, ...found.map((one) => one.get(x) ?? "")]) };
}

function span(values) {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  return { low, size: high > low ? high - low : Math.max(1e-9, Math.abs(low)) };
}

// Round numbers between two bounds.
function ticks(low, high, wanted) {
  const raw = (high - low) / wanted;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((one) => one >= raw);
  const found = [];
  for (let tick = Math.ceil(low / step) * step; tick <= high + step * 1e-6; tick += step) found.push(Math.abs(tick) < step * 1e-6 ? 0 : tick);
  return found;
}

// 1, 2, 5, 10, 20 … between two powers of ten.
function powers(low, high) {
  const found = [];
  for (let power = Math.floor(low); power <= high; power += 1) for (const digit of [1, 2, 5]) found.push(digit * 10 ** power);
  return found.filter((value) => Math.log10(value) >= low && Math.log10(value) <= high);
}

function tickText(value) {
  const size = Math.abs(value);
  if (size >= 10000) return `${+(value / 1000).toPrecision(3)}k`;
  return String(+value.toPrecision(3)).replace("-", "−");
}
