// A picture with its mask: each thing or class in a colour of its own, its outline drawn, one of them chosen by a click or
// with the arrow keys.

import { h, replace, svg } from "./dom.js";
import { t } from "./i18n.js";

const [TURN, VEIL] = [137.508, 0.38]; // degrees from one colour to the next, so that neighbours differ

// options: canvas; numbers: { shape: [Y, X], values }; things: [{ number, box: [left, top, width, height] }]; selected:
// place among the things, or null; label; say(thing).
export class Outlined {
  constructor(options) {
    Object.assign(this, options);
    [this.height, this.width] = this.numbers.shape;
    this.paper = h("canvas", { width: this.width, height: this.height, class: "photo-pixels mask-pixels", role: "application", tabindex: "0", "aria-label": this.label, "data-key": "mask" });
    this.readout = h("p", { class: "readout", "aria-live": "polite" }, t("outlined.hint"));
    this.element = h("div", { class: "photo" }, h("div", { class: "photo-frame wide", style: { "max-width": `${Math.min(720, Math.max(392, 2 * this.width))}px` } }, this.paper), this.readout);
    this.places = new Map(this.things.map((thing, place) => [thing.number, place]));
    this.paint();
    this.listen();
  }

  colour(number) {
    return `hsl(${(number * TURN) % 360} 90% 55%)`;
  }

  paint() {
    const { width, height, numbers: { values } } = this;
    const context = this.paper.getContext("2d");
    context.drawImage(this.canvas, 0, 0);
    const image = context.getImageData(0, 0, width, height);
    const chosen = this.selected === null ? null : this.things[this.selected].number;
    const colours = new Map(this.things.map(({ number }) => [number, channels(this.colour(number))]));
    for (let place = 0; place < values.length; place += 1) {
      const colour = colours.get(values[place]);
      if (!colour) continue;
      const x = place % width;
      const edge = (x > 0 && values[place - 1] !== values[place]) || (x < width - 1 && values[place + 1] !== values[place]) || (place >= width && values[place - width] !== values[place]) || (place + width < values.length && values[place + width] !== values[place]);
      const strength = edge ? 1 : values[place] === chosen ? 0.75 : VEIL;
      for (let one = 0; one < 3; one += 1) image.data[4 * place + one] = Math.round(colour[one] * strength + image.data[4 * place + one] * (1 - strength));
    }
    context.putImageData(image, 0, 0);
  }

  under(event) {
    const box = this.paper.getBoundingClientRect();
    const [x, y] = [((event.clientX - box.left) / box.width) * this.width, ((event.clientY - box.top) / box.height) * this.height].map(Math.floor);
    return this.places.get(this.numbers.values[y * this.width + x]) ?? null;
  }

  listen() {
    this.paper.addEventListener("pointermove", (event) => this.tell(this.under(event) ?? this.selected));
    this.paper.addEventListener("pointerleave", () => this.tell(this.selected));
    this.paper.addEventListener("click", (event) => this.choose(this.under(event)));
    this.paper.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (!step || !this.things.length) return;
      event.preventDefault();
      this.choose(Math.max(0, Math.min(this.things.length - 1, this.selected === null ? 0 : this.selected + step)));
    });
  }

  choose(place) {
    this.selected = place;
    this.paint();
    this.tell(place);
  }

  tell(place) {
    replace(this.readout, place === null ? t("outlined.hint") : this.say(this.things[place]));
  }

  drawing() {
    return Outlined.asDrawing(this.paper);
  }

  // Any canvas as a drawing to take along.
  static asDrawing(canvas) {
    const { width, height } = canvas;
    return svg("svg", { viewBox: `0 0 ${width} ${height}`, class: "drawing" }, svg("image", { "data-href": canvas.toDataURL("image/png"), width, height, "image-rendering": "pixelated" }));
  }

  png() {
    return new Promise((done) => {
      this.paper.toBlob(done, "image/png");
    });
  }
}

// A colour's red, green and blue, as the browser understands it.
function channels(colour) {
  const context = h("canvas", { width: 1, height: 1 }).getContext("2d");
  context.fillStyle = colour;
  context.fillRect(0, 0, 1, 1);
  return context.getImageData(0, 0, 1, 1).data.slice(0, 3);
}
