// A picture as the model sees it, with its patches: pixels on a canvas, over it a grid on which one patch is chosen, and
// where attention is shown, orange on each patch as strong as its weight.

import { h, replace, svg } from "./dom.js";
import { t } from "./i18n.js";

const HEAT = [255, 122, 26]; // seen on black, white and most colours alike
const STRONGEST = 0.82; // of the colour; the picture stays visible below it
const SAVED = 640; // pixels along the side of a saved picture, about

// tensor: height × width × channels bytes -> a canvas of as many pixels.
export function pixelCanvas({ shape: [height, width, channels], values }) {
  const canvas = h("canvas", { width, height, class: "photo-pixels" });
  const context = canvas.getContext("2d");
  const image = context.createImageData(width, height);
  for (let place = 0; place < width * height; place += 1) {
    const at = (channel) => values[place * channels + (channels === 1 ? 0 : channel)];
    image.data.set([at(0), at(1), at(2), 255], 4 * place);
  }
  context.putImageData(image, 0, 0);
  return canvas;
}

export function strongest(heat) {
  return Math.max(1e-12, ...heat);
}

// Pixels and heat painted together: for thumbnails and for saved pictures. heat: a weight for each patch, or null.
export function painted(canvas, { side, heat = null }, size) {
  const paper = h("canvas", { width: size, height: size });
  const context = paper.getContext("2d");
  context.imageSmoothingEnabled = false;
  context.drawImage(canvas, 0, 0, size, size);
  const limit = heat ? strongest(heat) : 1;
  heat?.forEach((weight, place) => {
    const [y, x, step] = [Math.floor(place / side), place % side, size / side];
    context.fillStyle = `rgb(${HEAT.join(" ")} / ${(STRONGEST * weight) / limit})`;
    context.fillRect(Math.round(x * step), Math.round(y * step), Math.round((x + 1) * step) - Math.round(x * step), Math.round((y + 1) * step) - Math.round(y * step));
  });
  return paper;
}

// options: canvas; side: patches along a side; heat; selected: number of a patch, or null; label; say(patch): what is read
// out; onchoose(patch): a click, or an arrow key; over(): shapes to draw on top, measured in patches.
export class Photo {
  constructor(options) {
    Object.assign(this, { heat: null, selected: null, onchoose: null, say: () => "", over: () => [] }, options);
    this.size = SAVED;
    this.readout = h("p", { class: "readout", "aria-live": "polite" }, this.selected === null ? t("photo.hint") : this.say(this.selected));
    this.grid = this.overlay();
    const pixels = h("canvas", { width: this.canvas.width, height: this.canvas.height, class: "photo-pixels", "aria-hidden": "true" });
    pixels.getContext("2d").drawImage(this.canvas, 0, 0);
    this.element = h("div", { class: "photo" }, h("div", { class: "photo-frame" }, pixels, this.grid), this.readout);
  }

  overlay() {
    const { side } = this;
    const lines = Array.from({ length: side - 1 }, (_, line) => `M${line + 1} 0V${side}M0 ${line + 1}H${side}`).join("");
    const drawing = svg("svg", { viewBox: `0 0 ${side} ${side}`, class: "photo-grid", role: "application", "aria-label": this.label, tabindex: "0", "data-key": this.key },
      this.heatCells(), svg("path", { d: lines, class: "photo-lines" }), this.over());
    this.marker = svg("rect", { width: 1, height: 1, class: "photo-mark" });
    drawing.append(this.marker);
    this.mark(this.selected);
    const under = (event) => {
      const box = drawing.getBoundingClientRect();
      const [x, y] = [event.clientX - box.left, event.clientY - box.top].map((length) => Math.floor((length / box.width) * side));
      return x >= 0 && y >= 0 && x < side && y < side ? y * side + x : null;
    };
    drawing.addEventListener("pointermove", (event) => this.tell(under(event)));
    drawing.addEventListener("pointerleave", () => this.tell(this.selected));
    drawing.addEventListener("click", (event) => this.choose(under(event)));
    drawing.addEventListener("keydown", (event) => {
      const moves = { ArrowUp: -side, ArrowDown: side, ArrowLeft: -1, ArrowRight: 1 };
      if (!(event.key in moves)) return;
      event.preventDefault();
      const next = this.selected === null ? 0 : this.selected + moves[event.key];
      const sideways = Math.abs(moves[event.key]) === 1 && this.selected !== null && Math.floor(next / side) !== Math.floor(this.selected / side);
      if (next >= 0 && next < side * side && !sideways) this.choose(next);
    });
    return drawing;
  }

  heatCells() {
    if (!this.heat) return null;
    const limit = strongest(this.heat);
    return Array.from(this.heat, (weight, place) => svg("rect", { x: place % this.side, y: Math.floor(place / this.side), width: 1, height: 1, fill: `rgb(${HEAT.join(" ")})`, "fill-opacity": ((STRONGEST * weight) / limit).toFixed(3), "data-weight": weight.toFixed(6) }));
  }

  mark(patch) {
    this.marker.setAttribute("visibility", patch === null ? "hidden" : "visible");
    if (patch === null) return;
    this.marker.setAttribute("x", patch % this.side);
    this.marker.setAttribute("y", Math.floor(patch / this.side));
  }

  choose(patch) {
    if (patch === null || !this.onchoose) return;
    this.selected = patch;
    this.mark(patch);
    this.tell(patch);
    this.onchoose(patch);
  }

  tell(patch) {
    replace(this.readout, patch === null ? t("photo.hint") : this.say(patch));
  }

  // To take along: the pixels become an image inside the drawing.
  drawing() {
    const copy = this.grid.cloneNode(true);
    const { side } = this;
    const drawn = svg("svg", { viewBox: `0 0 ${this.size} ${this.size}`, class: "drawing" },
      svg("image", { "data-href": this.canvas.toDataURL("image/png"), width: this.size, height: this.size, "image-rendering": "pixelated" }),
      svg("g", { transform: `scale(${this.size / side})` }, [...copy.querySelectorAll("rect[data-weight]")],
        svg("path", { d: copy.querySelector("path").getAttribute("d"), fill: "none", stroke: "#888", "stroke-width": 0.01 }),
        this.selected === null ? null : svg("rect", { x: this.selected % side, y: Math.floor(this.selected / side), width: 1, height: 1, fill: "none", stroke: "#c81e6e", "stroke-width": 0.06 }),
        this.over()));
    return drawn;
  }

  png() {
    return new Promise((done) => {
      painted(this.canvas, this, this.size).toBlob(done, "image/png");
    });
  }
}
