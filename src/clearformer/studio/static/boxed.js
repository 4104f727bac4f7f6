// A whole picture with boxes drawn on it, of which one is chosen by a click or with the arrow keys.

import { h, replace, svg } from "./dom.js";
import { t } from "./i18n.js";

// Seen on pictures of any colour, because a dark line lies below each; kinds also differ in their dashes.
const COLOURS = ["#ffd400", "#3ee6ff", "#ff7ad9", "#8dff5a", "#ff9a57", "#c9b8ff"];
const DASHES = [null, "7 4", "2 3", "10 3 2 3"];

// options: canvas; width and height of the picture, in whose pixels the boxes are; objects: [{ label, score, box }]; kinds:
// all labels in order; selected: number of an object, or null; label; say(number); onchoose(number).
export class BoxedPicture {
  constructor(options) {
    Object.assign(this, options);
    this.readout = h("p", { class: "readout", "aria-live": "polite" }, this.told());
    this.drawn = svg("svg", { viewBox: `0 0 ${this.width} ${this.height}`, class: "photo-grid", role: "application", "aria-label": this.label, tabindex: "0", "data-key": "boxed" }, this.shapes());
    this.listen();
    const pixels = h("canvas", { width: this.canvas.width, height: this.canvas.height, class: "photo-pixels", "aria-hidden": "true" });
    pixels.getContext("2d").drawImage(this.canvas, 0, 0);
    const frame = h("div", { class: "photo-frame wide", style: { "aspect-ratio": `${this.width} / ${this.height}`, "max-width": `${(480 * this.width) / this.height}px` } }, pixels, this.drawn);
    this.element = h("div", { class: "photo" }, frame, this.legend(), this.readout);
  }

  told() {
    return this.selected === null ? t("boxed.hint") : this.say(this.selected);
  }

  shapes() {
    return this.objects.map(({ label, box: [left, top, right, bottom] }, number) => {
      const place = { x: left, y: top, width: Math.max(0, right - left), height: Math.max(0, bottom - top), fill: "none" };
      const chosen = number === this.selected;
      return svg("g", { "data-object": number },
        svg("rect", { ...place, stroke: "#101014", "stroke-opacity": 0.5, "stroke-width": chosen ? 6.5 : 3.5, "vector-effect": "non-scaling-stroke" }),
        svg("rect", { ...place, stroke: this.colour(label), "stroke-dasharray": this.dashes(label), "stroke-width": chosen ? 4 : 1.8, "vector-effect": "non-scaling-stroke" }));
    });
  }

  colour(label) {
    return COLOURS[this.kinds.indexOf(label) % COLOURS.length];
  }

  dashes(label) {
    return DASHES[this.kinds.indexOf(label) % DASHES.length];
  }

  legend() {
    const shown = this.kinds.filter((kind) => this.objects.some((one) => one.label === kind));
    return h("ul", { class: "legend-list" }, shown.map((kind) => h("li", {},
      svg("svg", { width: 30, height: 12, viewBox: "0 0 30 12", "aria-hidden": "true" },
        svg("rect", { width: 30, height: 12, fill: "#3a3a42" }), svg("line", { x1: 2, x2: 28, y1: 6, y2: 6, stroke: this.colour(kind), "stroke-width": 3, "stroke-dasharray": this.dashes(kind) })),
      ` ${kind}`)));
  }

  // The smallest box around a place: of two that lie in one another, the inner one is meant.
  at(event) {
    const bounds = this.drawn.getBoundingClientRect();
    const [x, y] = [((event.clientX - bounds.left) / bounds.width) * this.width, ((event.clientY - bounds.top) / bounds.height) * this.height];
    const around = this.objects.map(({ box }, number) => ({ box, number })).filter(({ box: [left, top, right, bottom] }) => x >= left && x <= right && y >= top && y <= bottom);
    const area = ({ box: [left, top, right, bottom] }) => (right - left) * (bottom - top);
    return around.sort((one, other) => area(one) - area(other))[0]?.number ?? null;
  }

  listen() {
    this.drawn.addEventListener("pointermove", (event) => {
      const number = this.at(event);
      replace(this.readout, number === null ? this.told() : this.say(number));
    });
    this.drawn.addEventListener("pointerleave", () => replace(this.readout, this.told()));
    this.drawn.addEventListener("click", (event) => this.choose(this.at(event)));
    this.drawn.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (!step || !this.objects.length) return;
      event.preventDefault();
      const next = this.selected === null ? (step > 0 ? 0 : this.objects.length - 1) : this.selected + step;
      this.choose(Math.max(0, Math.min(this.objects.length - 1, next)));
    });
  }

  choose(number) {
    if (number === null) return;
    this.selected = number;
    replace(this.drawn, this.shapes());
    replace(this.readout, this.told());
    this.onchoose(number);
  }

  // To take along: the pixels become an image inside the drawing, and every box has its name.
  drawing() {
    const { width, height } = this;
    const size = Math.max(10, width / 45);
    return svg("svg", { viewBox: `0 0 ${width} ${height}`, class: "drawing" },
      svg("image", { "data-href": this.canvas.toDataURL("image/png"), width, height }), this.shapes(),
      this.objects.map(({ label, score, box: [left, top] }) => svg("text", { x: left + 2, y: top + size, "font-size": size, fill: this.colour(label), stroke: "#101014", "stroke-width": size / 6, "paint-order": "stroke" }, `${label} ${score.toFixed(2)}`)));
  }
}
