// A matrix as coloured cells with its rows and columns named. Small ones are drawn as shapes, which can be saved
// as they are; large ones on a canvas that draws only what is in view, so that 512 × 512 cells scroll smoothly.

import { h, svg } from "./dom.js";
import { number } from "./format.js";
import { t } from "./i18n.js";
import { css, diverging, ink, isDark, sequential } from "./palette.js";
import { largest } from "./tensor.js";

const SHAPES_UP_TO = 48 * 48;
const FONT = 12;
const LEGEND = 46;
const VIEW = 560; // height of the window on a large matrix

// values: row-major; palette: "sequential" (0 … 1) or "diverging" (−max … max); rows and columns: short names;
// rowAxis and columnAxis: what they are; onselect(row, column): a cell was chosen; onopen: chosen with Enter or a click.
export function matrix(options) {
  const view = new Matrix(options);
  return view;
}

class Matrix {
  constructor(options) {
    Object.assign(this, { palette: "sequential", hidden: null, onselect: () => {}, onopen: () => {}, say: null, selected: null }, options);
    this.height = this.rows.length;
    this.width = this.columns.length;
    this.limit = this.palette === "sequential" ? this.max ?? 1 : Math.max(1e-12, this.max ?? largest(this.values));
    this.measure();
    this.readout = h("p", { class: "readout", "aria-live": "polite" }, t("matrix.hint"));
    const drawn = this.height * this.width <= SHAPES_UP_TO ? this.shapes() : [this.zoomButtons(), this.canvas(), this.legendAlone()];
    this.element = h("div", { class: "matrix" }, drawn, this.readout);
    if (this.selected) this.mark(...this.selected, { quiet: true });
  }

  measure() {
    const byCount = (size) => (size <= 12 ? 36 : size <= 20 ? 28 : size <= 32 ? 20 : size <= 64 ? 14 : 10);
    this.cellWidth = this.cell?.width ?? byCount(this.width);
    this.cellHeight = this.cell?.height ?? Math.max(14, Math.min(28, byCount(this.height))); // rows of text must not touch
    const longest = (names) => Math.max(0, ...names.map((name) => [...name].reduce((sum, one) => sum + (one.codePointAt(0) > 0x2e7f ? 12 : 7), 0)));
    this.left = Math.max(Math.min(126, longest(this.rows) + 28), longest([this.rowAxis]) + 14);
    this.numbered = this.columns.every((name, place) => name === "" || name === String(place)); // features, not tokens
    this.top = this.numbered ? 34 : Math.min(96, longest(this.columns) * 0.75 + 14) + 18;
  }

  colour(row, column) {
    const value = this.values[row * this.width + column];
    return this.palette === "sequential" ? sequential(value / this.limit) : diverging(value / this.limit);
  }

  isHidden(row, column) {
    return this.hidden !== null && this.hidden(row, column);
  }

  // --- as shapes -----------------------------------------------------------------------------------------------------

  shapes() {
    const width = this.left + this.width * this.cellWidth + 60;
    const height = this.top + this.height * this.cellHeight + LEGEND;
    const drawing = svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, class: "drawing", role: "application", "aria-label": this.label, tabindex: "0" });
    drawing.append(this.axes(), this.cells(), this.legend(height));
    this.marker = svg("rect", { class: "cell-mark", width: this.cellWidth, height: this.cellHeight, visibility: "hidden" });
    drawing.append(this.marker);
    const place = (event) => {
      const box = drawing.getBoundingClientRect();
      return this.at((event.clientX - box.left) * (width / box.width), (event.clientY - box.top) * (height / box.height));
    };
    this.listen(drawing, place);
    return h("div", { class: "scroller" }, drawing);
  }

  axes() {
    const group = svg("g", {});
    group.append(
      svg("text", { x: this.left - 6, y: 12, "text-anchor": "end", class: "axis-title" }, this.rowAxis),
      svg("text", { x: this.left, y: 12, class: "axis-title" }, this.columnAxis));
    this.rows.forEach((name, row) => {
      group.append(svg("text", { x: this.left - 6, y: this.top + (row + 0.5) * this.cellHeight, "text-anchor": "end", "dominant-baseline": "central", class: "axis" }, name));
    });
    const every = this.cellWidth < 12 ? Math.ceil(24 / this.cellWidth / 8) * 8 : 1;
    this.columns.forEach((name, column) => {
      if (column % every !== 0) return;
      const x = this.left + (column + 0.5) * this.cellWidth;
      const turned = this.numbered ? { "text-anchor": "middle" } : { transform: `rotate(-50 ${x} ${this.top - 6})` };
      group.append(svg("text", { x, y: this.top - 6, class: "axis", ...turned }, name));
    });
    return group;
  }

  cells() {
    const group = svg("g", {});
    const written = this.cellWidth >= 30 && this.height <= 20;
    for (let row = 0; row < this.height; row += 1) {
      for (let column = 0; column < this.width; column += 1) {
        const [x, y] = [this.left + column * this.cellWidth, this.top + row * this.cellHeight];
        const colour = this.colour(row, column);
        if (this.isHidden(row, column)) {
          group.append(svg("path", { d: `M${x} ${y + this.cellHeight}L${x + this.cellWidth} ${y}`, class: "cell-hidden" }));
          continue;
        }
        group.append(svg("rect", { x, y, width: this.cellWidth, height: this.cellHeight, fill: css(colour), class: "cell" }));
        if (written) group.append(svg("text", { x: x + this.cellWidth / 2, y: y + this.cellHeight / 2, "text-anchor": "middle", "dominant-baseline": "central", fill: ink(colour), class: "cell-value" }, brief(this.values[row * this.width + column])));
      }
    }
    return group;
  }

  legend(height) {
    const group = svg("g", {});
    const [x, y, steps, width] = [this.left, height - 22, 40, 160];
    for (let step = 0; step < steps; step += 1) {
      const share = (step + 0.5) / steps;
      const colour = this.palette === "sequential" ? sequential(share) : diverging(2 * share - 1);
      group.append(svg("rect", { x: x + (step * width) / steps, y, width: width / steps + 0.5, height: 8, fill: css(colour) }));
    }
    const low = this.palette === "sequential" ? 0 : -this.limit;
    group.append(
      svg("text", { x: x - 6, y: y + 4, "text-anchor": "end", "dominant-baseline": "central", class: "axis" }, brief(low)),
      svg("text", { x: x + width + 6, y: y + 4, "dominant-baseline": "central", class: "axis" }, brief(this.limit)));
    return group;
  }

  legendAlone() {
    const width = this.left + 240;
    return svg("svg", { viewBox: `0 0 ${width} 30`, width, height: 30, class: "drawing legend", "aria-hidden": "true" }, this.legend(34));
  }

  // --- on a canvas ---------------------------------------------------------------------------------------------------

  canvas() {
    if (!this.cell) this.cellWidth = this.cellHeight = 12;
    this.paper = document.createElement("canvas");
    this.paper.className = "matrix-canvas";
    this.pixels = this.paint();
    this.spacer = h("div", { class: "matrix-spacer" }, this.paper);
    this.window = h("div", { class: "matrix-window", tabindex: "0", role: "application", "aria-label": this.label }, this.spacer);
    this.resize();
    let asked = false;
    const later = () => {
      if (asked) return;
      asked = true;
      requestAnimationFrame(() => {
        asked = false;
        this.drawView();
      });
    };
    this.window.addEventListener("scroll", later, { passive: true });
    new ResizeObserver(later).observe(this.window);
    this.listen(this.window, (event) => {
      const box = this.window.getBoundingClientRect();
      const [x, y] = [event.clientX - box.left, event.clientY - box.top];
      if (x < this.left || y < this.top) return null;
      return this.at(x + this.window.scrollLeft, y + this.window.scrollTop);
    });
    return this.window;
  }

  resize() {
    const [width, height] = [this.left + this.width * this.cellWidth + 12, this.top + this.height * this.cellHeight + 12];
    this.spacer.style.setProperty("width", `${width}px`);
    this.spacer.style.setProperty("height", `${height}px`);
    this.window.style.setProperty("height", `${Math.min(VIEW, height + 16)}px`);
  }

  // Zoom in, zoom out, or show everything.
  zoomButtons() {
    const zoom = (factor) => {
      const [across, down] = [this.window.scrollLeft / this.cellWidth, this.window.scrollTop / this.cellHeight];
      this.cellWidth = Math.max(0.5, Math.min(48, this.cellWidth * factor));
      this.cellHeight = Math.max(0.5, Math.min(48, this.cellHeight * factor));
      this.resize();
      this.window.scrollTo(across * this.cellWidth, down * this.cellHeight);
      this.drawView();
    };
    const whole = () => zoom(Math.min((this.window.clientWidth - this.left - 24) / (this.width * this.cellWidth), (VIEW - this.top - 32) / (this.height * this.cellHeight)));
    const button = (text, name, action) => h("button", { type: "button", class: "quiet", "aria-label": t(name), title: t(name), onclick: action }, text);
    return h("div", { class: "zoom" }, button("−", "matrix.farther", () => zoom(1 / 1.5)), button("+", "matrix.nearer", () => zoom(1.5)), button("⤢", "matrix.whole", whole));
  }

  // One pixel a cell; drawing it enlarged is a single quick operation.
  paint() {
    const picture = document.createElement("canvas");
    [picture.width, picture.height] = [this.width, this.height];
    const context = picture.getContext("2d");
    const image = context.createImageData(this.width, this.height);
    const shades = Array.from({ length: 513 }, (_, step) => (this.palette === "sequential" ? sequential(step / 512) : diverging(step / 256 - 1)));
    for (let place = 0; place < this.values.length; place += 1) {
      const share = this.values[place] / this.limit;
      const step = this.palette === "sequential" ? share * 512 : (share + 1) * 256;
      const colour = shades[Math.max(0, Math.min(512, Math.round(Number.isFinite(step) ? step : 0)))];
      image.data.set([colour[0], colour[1], colour[2], 255], 4 * place);
    }
    context.putImageData(image, 0, 0);
    return picture;
  }

  drawView() {
    const ratio = devicePixelRatio || 1;
    const [width, height] = [this.window.clientWidth, this.window.clientHeight];
    if (this.paper.width !== Math.round(width * ratio) || this.paper.height !== Math.round(height * ratio)) {
      [this.paper.width, this.paper.height] = [Math.round(width * ratio), Math.round(height * ratio)];
      this.paper.style.setProperty("width", `${width}px`);
      this.paper.style.setProperty("height", `${height}px`);
    }
    const context = this.paper.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    const [across, down] = [this.window.scrollLeft, this.window.scrollTop];
    const first = [Math.floor(down / this.cellHeight), Math.floor(across / this.cellWidth)];
    const last = [Math.min(this.height, Math.ceil((down + height - this.top) / this.cellHeight)), Math.min(this.width, Math.ceil((across + width - this.left) / this.cellWidth))];
    context.imageSmoothingEnabled = false;
    context.drawImage(this.pixels, first[1], first[0], last[1] - first[1], last[0] - first[0],
      this.left + first[1] * this.cellWidth - across, this.top + first[0] * this.cellHeight - down, (last[1] - first[1]) * this.cellWidth, (last[0] - first[0]) * this.cellHeight);
    this.drawNames(context, first, last, across, down, width, height);
    if (this.selected) {
      context.strokeStyle = isDark() ? "#ffd166" : "#111";
      context.lineWidth = 2;
      context.strokeRect(this.left + this.selected[1] * this.cellWidth - across, this.top + this.selected[0] * this.cellHeight - down, this.cellWidth, this.cellHeight);
    }
  }

  drawNames(context, first, last, across, down, width, height) {
    const style = getComputedStyle(this.window);
    context.fillStyle = style.backgroundColor;
    context.fillRect(0, 0, this.left, height);
    context.fillRect(0, 0, width, this.top);
    context.fillStyle = style.color;
    context.font = `${FONT}px ${style.fontFamily}`;
    context.textAlign = "right";
    context.textBaseline = "middle";
    const everyRow = Math.ceil(14 / this.cellHeight);
    for (let row = first[0]; row < last[0]; row += 1) {
      const y = this.top + (row + 0.5) * this.cellHeight - down;
      if (row % everyRow === 0 && y >= this.top) context.fillText(this.rows[row], this.left - 6, y, this.left - 8);
    }
    const everyColumn = this.numbered ? Math.ceil(30 / this.cellWidth / 8) * 8 : Math.ceil(14 / this.cellWidth);
    for (let column = first[1]; column < last[1]; column += 1) {
      const x = this.left + (column + 0.5) * this.cellWidth - across;
      if (column % everyColumn !== 0 || x < this.left) continue;
      context.save();
      context.translate(x, this.top - 8);
      context.textAlign = this.numbered ? "center" : "left";
      if (!this.numbered) context.rotate(-0.87);
      context.fillText(this.columns[column], 0, 0);
      context.restore();
    }
    context.textAlign = "left";
    context.fillText(`${this.rowAxis} ↓  ${this.columnAxis} →`, 4, 10);
  }

  // --- pointing ------------------------------------------------------------------------------------------------------

  at(x, y) {
    const [row, column] = [Math.floor((y - this.top) / this.cellHeight), Math.floor((x - this.left) / this.cellWidth)];
    return row >= 0 && row < this.height && column >= 0 && column < this.width ? [row, column] : null;
  }

  listen(target, place) {
    target.addEventListener("pointermove", (event) => {
      const found = place(event);
      if (found) this.tell(...found);
    });
    target.addEventListener("pointerleave", () => {
      if (this.selected) this.tell(...this.selected);
    });
    target.addEventListener("click", (event) => {
      const found = place(event);
      if (!found) return;
      this.mark(...found);
      this.onopen(...found);
    });
    target.addEventListener("keydown", (event) => {
      const moves = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
      if (event.key in moves) {
        const [row, column] = this.selected ?? [0, 0];
        const [down, across] = this.selected ? moves[event.key] : [0, 0];
        this.mark(Math.max(0, Math.min(this.height - 1, row + down)), Math.max(0, Math.min(this.width - 1, column + across)));
        event.preventDefault();
      } else if (event.key === "Enter" && this.selected) {
        this.onopen(...this.selected);
        event.preventDefault();
      }
    });
  }

  mark(row, column, { quiet = false } = {}) {
    if (row >= this.height || column >= this.width) return;
    this.selected = [row, column];
    if (this.marker) {
      for (const [name, value] of Object.entries({ x: this.left + column * this.cellWidth, y: this.top + row * this.cellHeight, visibility: "visible" })) this.marker.setAttribute(name, value);
    } else if (this.window) {
      this.bringIntoView(row, column);
      this.drawView();
    }
    this.tell(row, column);
    if (!quiet) this.onselect(row, column);
  }

  bringIntoView(row, column) {
    const [y, x] = [row * this.cellHeight, column * this.cellWidth];
    const [height, width] = [this.window.clientHeight - this.top, this.window.clientWidth - this.left];
    if (y < this.window.scrollTop) this.window.scrollTop = y;
    if (y + this.cellHeight > this.window.scrollTop + height) this.window.scrollTop = y + this.cellHeight - height;
    if (x < this.window.scrollLeft) this.window.scrollLeft = x;
    if (x + this.cellWidth > this.window.scrollLeft + width) this.window.scrollLeft = x + this.cellWidth - width;
  }

  tell(row, column) {
    const value = this.values[row * this.width + column];
    this.readout.textContent = this.say ? this.say(row, column, value) : `${this.rows[row]} · ${this.columns[column]} = ${number(value)}`;
  }

  // A drawing to take along, also of what is on a canvas: its pixels become an image inside.
  drawing() {
    if (!this.window) return this.element.querySelector("svg.drawing");
    const [width, height] = [this.left + this.width * this.cellWidth + 60, this.top + this.height * this.cellHeight + LEGEND];
    const drawing = svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, class: "drawing" });
    drawing.append(
      svg("image", { "data-href": this.pixels.toDataURL("image/png"), x: this.left, y: this.top, width: this.width * this.cellWidth, height: this.height * this.cellHeight, preserveAspectRatio: "none", "image-rendering": "pixelated" }),
      this.axes(), this.legend(height));
    return drawing;
  }

  table(valueName) {
    const rows = [];
    for (let row = 0; row < this.height; row += 1) rows.push([this.rows[row], ...this.values.slice(row * this.width, (row + 1) * this.width)]);
    return { columns: [`${this.rowAxis} \\ ${this.columnAxis}`, ...this.columns.map((name, place) => name || String(place))], rows: rows.map((row) => row.map((entry) => entry)), valueName };
  }
}

// For inside cells and at legends: as few characters as say something.
export function brief(value) {
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size < 0.005) return "·";
  const text = size < 1 ? value.toFixed(2).replace(/^(-?)0/, "$1") : size < 100 ? value.toFixed(1) : value.toFixed(0);
  return text.replace("-", "−");
}
