// The spectrum of a recording over time, as the network reads it, and over it where something looked.

import { h, replace, svg } from "./dom.js";
import { number } from "./format.js";
import { t } from "./i18n.js";
import { sequential } from "./palette.js";
import { strongest } from "./photo.js";

const [HEIGHT, GAP, CURVE] = [150, 6, 56];
const SECOND = 70; // pixels at least
const [HEAT, SAVED] = ["rgb(255 122 26)", 900];

// options: frames: { shape: [T, mels], values }; step: seconds of a frame; start: seconds; begin: frames of silence before
// the first one, which the states count; heat: a weight for each state of two frames, or null; span: [first, last] state
// that is marked, or null; label.
export class Spectrogram {
  constructor(options) {
    Object.assign(this, { heat: null, span: null }, options);
    this.count = this.frames.shape[0];
    this.canvas = paint(this.frames);
    this.readout = h("p", { class: "readout", "aria-live": "off" }, t("sound.point"));
    const over = svg("svg", { viewBox: `0 0 ${this.count} ${HEIGHT + GAP + CURVE}`, preserveAspectRatio: "none", class: "spectrogram-over", role: "img", "aria-label": this.label }, this.shapes());
    over.addEventListener("pointermove", (event) => {
      const box = over.getBoundingClientRect();
      this.tell(Math.floor(((event.clientX - box.left) / box.width) * this.count));
    });
    over.addEventListener("pointerleave", () => replace(this.readout, t("sound.point")));
    const width = this.narrowest();
    const frame = h("div", { class: "spectrogram", style: { "min-width": `${width}px`, height: `${HEIGHT + GAP + CURVE}px` } }, this.canvas, over);
    this.element = h("div", {}, h("div", { class: "scroller", tabindex: "0", role: "group", "aria-label": this.label }, frame, this.axis(width)), this.readout);
  }

  // Pixels; on wider screens it fills its place.
  narrowest() {
    return Math.max(280, Math.min(4000, this.count * this.step * SECOND));
  }

  // Seconds from the recording's beginning.
  time(frame) {
    return this.start + frame * this.step;
  }

  // The first frame of a state.
  at(state) {
    return 2 * state - this.begin;
  }

  tell(frame) {
    const weight = this.heat?.[Math.floor((frame + this.begin) / 2)];
    replace(this.readout, weight === undefined ? t("sound.at", { time: number(this.time(frame), 2) }) : t("sound.weight", { time: number(this.time(frame), 2), weight: number(weight) }));
  }

  shapes() {
    const marked = this.span ? svg("rect", { x: this.at(this.span[0]), width: 2 * (this.span[1] - this.span[0] + 1), y: 0, height: HEIGHT, fill: "none", stroke: "#e0218a", "stroke-width": 2.5, "vector-effect": "non-scaling-stroke", "data-span": "token" }) : null;
    if (!this.heat) return [marked];
    const limit = strongest(this.heat);
    const inside = Array.from(this.heat, (weight, state) => [weight, state]).filter(([, state]) => this.at(state) > -2 && this.at(state) < this.count);
    const rows = inside.map(([weight, state]) => svg("rect", { x: this.at(state), y: 0, width: 2, height: HEIGHT, fill: HEAT, "fill-opacity": ((0.75 * weight) / limit).toFixed(3), "data-weight": weight.toFixed(6) }));
    const curve = inside.map(([weight, state]) => `${this.at(state) + 1},${(HEIGHT + GAP + CURVE - (CURVE * weight) / limit).toFixed(2)}`).join(" ");
    return [rows, marked, svg("polyline", { points: curve, fill: "none", class: "spectrogram-curve", "vector-effect": "non-scaling-stroke" })];
  }

  ticks() {
    const seconds = this.count * this.step;
    const apart = [0.1, 0.2, 0.5, 1, 2, 5].find((one) => seconds / one <= this.narrowest() / 48) ?? 10;
    const first = Math.ceil(this.start / apart - 1e-9);
    return Array.from({ length: Math.floor((this.start + seconds) / apart + 1e-9) - first + 1 }, (_, place) => (first + place) * apart);
  }

  axis(width) {
    return h("div", { class: "spectrogram-axis", style: { "min-width": `${width}px` }, "aria-hidden": "true" }, this.ticks().map((time) => h("span", { style: { left: `${(100 * (time - this.start)) / (this.count * this.step)}%` } }, this.said(time))));
  }

  said(time) {
    return t("sound.second", { time: String(+time.toFixed(1)) });
  }

  // To take along: the pixels become an image inside the drawing.
  drawing() {
    const all = HEIGHT + GAP + CURVE;
    return svg("svg", { viewBox: `0 0 ${SAVED} ${all + 24}`, class: "drawing" },
      svg("image", { "data-href": this.canvas.toDataURL("image/png"), width: SAVED, height: HEIGHT, preserveAspectRatio: "none" }),
      svg("g", { transform: `scale(${SAVED / this.count} 1)` }, this.shapes().flat().filter(Boolean).map((one) => {
        if (one.tagName === "polyline") one.setAttribute("stroke", HEAT);
        return one;
      })),
      this.ticks().map((time) => svg("text", { x: ((time - this.start) / (this.count * this.step)) * SAVED, y: all + 16, "font-size": 12, fill: "#888" }, this.said(time))));
  }
}

// T × mels -> a canvas with time across and pitch upwards.
function paint({ shape: [frames, mels], values }) {
  const canvas = h("canvas", { width: frames, height: mels, class: "spectrogram-pixels", "aria-hidden": "true", style: { height: `${HEIGHT}px` } });
  const context = canvas.getContext("2d");
  const image = context.createImageData(frames, mels);
  const shades = Array.from({ length: 256 }, (_, step) => sequential(step / 255));
  const [low, high] = values.reduce(([least, most], one) => [Math.min(least, one), Math.max(most, one)], [Infinity, -Infinity]);
  for (let frame = 0; frame < frames; frame += 1) for (let mel = 0; mel < mels; mel += 1) {
    const shade = shades[Math.round((255 * (values[frame * mels + mel] - low)) / (high - low || 1))];
    image.data.set([...shade, 255], 4 * ((mels - 1 - mel) * frames + frame));
  }
  context.putImageData(image, 0, 0);
  return canvas;
}
