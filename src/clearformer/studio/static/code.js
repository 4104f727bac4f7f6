// The code of a picture: a slider for each of its numbers, and what other numbers would be drawn as.

import { ask, sendFile } from "./api.js";
import { h, newId, settle, svg } from "./dom.js";
import { figure } from "./figure.js";
import { number } from "./format.js";
import { t } from "./i18n.js";
import { pixelCanvas } from "./photo.js";
import { firstPicture, padFor, pictureExamples } from "./picture.js";
import { note, selectField, Waiting } from "./sentence.js";
import { chosen } from "./store.js";
import { part, unpack } from "./tensor.js";
import { fileBox } from "./upload.js";

const [STEPS, LARGE, SMALL] = [9, 168, 72];

export function codePage(model) {
  const title = h("h2", {}, t("code.title"));
  if (model.use !== "autoencoding") return h("div", {}, title, note(t("code.none")));
  const [given, numbers, drawn, row] = ["code", "numbers", "drawn", "dimension"].map((name) => new Waiting(name));
  const draw = (found) => drawn.fill((signal) => ask("/api/code/decode", { codes: [chosen.code] }, { signal }), ({ pictures }) => drawnView(found, part(unpack(pictures), 0)));
  const follow = (found) => {
    const steps = Array.from({ length: STEPS }, (_, step) => found.reach * ((2 * step) / (STEPS - 1) - 1));
    const codes = steps.map((value) => chosen.code.map((one, place) => (place === chosen.dimension ? value : one)));
    row.fill((signal) => ask("/api/code/decode", { codes }, { signal }), ({ pictures }) => dimensionView(found, steps, unpack(pictures), () => follow(found)));
  };
  const look = (file) => {
    chosen.file = file;
    given.fill((signal) => sendFile("/api/code", file, { signal }), (found) => {
      found.numbers = [...unpack(found.code).values];
      found.reach = Math.max(0.5, Math.ceil(3 * Math.max(...found.numbers.map(Math.abs))) / 2);
      chosen.code = [...found.numbers];
      chosen.dimension = Math.min(chosen.dimension, found.numbers.length - 1);
      const later = settle(120, () => {
        draw(found);
        follow(found);
      });
      draw(found);
      follow(found);
      numbers.show(sliders(found, later, (place) => {
        if (place === chosen.dimension) return;
        chosen.dimension = place;
        follow(found);
      }));
      return overview(found);
    }, () => [numbers, drawn, row].forEach((one) => one.clear()));
  };
  const examples = pictureExamples(model);
  const box = fileBox({ name: t("picture.choose"), hint: t("picture.drop"), accept: "image/*", examples, onfile: look });
  firstPicture(model, look, examples);
  return h("div", {}, title, h("p", { class: "lead" }, t("code.lead", { count: model.config.bottleneck })), box, padFor(model, look), h("div", { class: "pictures" }, given.element, drawn.element), numbers.element, row.element);
}

function large(picture, name) {
  const canvas = pixelCanvas(picture);
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", name);
  return h("div", { class: "large-frame" }, canvas, h("p", { class: "caption" }, name));
}

function beside(pictures) {
  return svg("svg", { viewBox: `0 0 ${(LARGE + 8) * pictures.length} ${LARGE}`, class: "drawing" }, pictures.map((picture, place) => svg("image", { "data-href": pixelCanvas(picture).toDataURL("image/png"), x: place * (LARGE + 8), width: LARGE, height: LARGE, "image-rendering": "pixelated" })));
}

// --- the code of what was given ---------------------------------------------------------------------------------------

function overview(found) {
  const pictures = [unpack(found.original), unpack(found.pixels)];
  const [height, width, channels] = pictures[0].shape;
  const caption = t("code.error", { error: number(found.error, 5), numbers: width * height * channels, count: found.numbers.length });
  return h("div", { "data-error": found.error.toPrecision(9) }, figure({ name: "reconstruction", title: t("code.pair"), caption,
    content: h("div", { class: "patch-pair" }, large(pictures[0], t("code.read")), large(pictures[1], t("code.back"))), drawing: () => beside(pictures), table: () => bytes(pictures) }));
}

function sliders(found, later, follow) {
  const made = found.numbers.map((value, place) => dimensionSlider(found, value, place, later, follow));
  const reset = h("button", { type: "button", class: "quiet", onclick: () => {
    chosen.code = [...found.numbers];
    made.forEach((one, place) => one.set(found.numbers[place]));
    later();
  } }, t("code.reset"));
  return figure({ name: "code", title: t("code.numbers", { count: found.numbers.length }), caption: t("code.numbers.about", { reach: number(found.reach, 1) }),
    content: h("div", {}, h("div", { class: "code-sliders" }, made.map((one) => one.element)), h("p", {}, reset)), drawing: () => codeDrawing(found),
    table: () => ({ columns: [t("code.dimension"), t("code.value"), t("code.now")], rows: found.numbers.map((value, place) => [place + 1, value, chosen.code[place]]) }) });
}

function dimensionSlider(found, value, place, later, follow) {
  const id = newId("code");
  const output = h("output", { for: id }, number(value, 2));
  const field = h("input", { type: "range", id, min: -found.reach, max: found.reach, step: "any", "data-dimension": place, onfocus: () => follow(place), oninput: () => {
    chosen.code[place] = Number(field.value);
    output.textContent = number(chosen.code[place], 2);
    later();
  }, onkeydown: (event) => {
    const step = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key];
    if (!step) return; // without steps of its own a slider moves by very little
    event.preventDefault();
    field.value = Number(field.value) + (step * found.reach) / 20;
    field.dispatchEvent(new Event("input"));
  } });
  field.value = value;
  const set = (wanted) => {
    field.value = wanted;
    output.textContent = number(wanted, 2);
  };
  return { element: h("span", { class: "field" }, h("label", { for: id }, t("code.slider", { number: place + 1 })), field, output), set };
}

function bytes(pictures) {
  const [height, width, channels] = pictures[0].shape;
  const names = [t("code.read"), t("code.back")];
  const rows = pictures.flatMap(({ values }, place) => Array.from({ length: height }, (_, y) => [names[place], y + 1, ...values.subarray(y * width * channels, (y + 1) * width * channels)]));
  return { columns: [t("paint.picture"), t("picture.row"), ...Array.from({ length: width * channels }, (_, x) => String(x + 1))], rows };
}

// Bars up and down: what was read, and a line where it was moved to.
function codeDrawing(found) {
  const [wide, tall] = [18, 160];
  const y = (value) => tall / 2 - (value / found.reach) * (tall / 2 - 4);
  return svg("svg", { viewBox: `0 0 ${wide * found.numbers.length} ${tall + 20}`, class: "drawing" }, found.numbers.map((value, place) => [
    svg("rect", { x: place * wide + 3, y: Math.min(y(0), y(value)), width: wide - 6, height: Math.max(0.5, Math.abs(y(value) - y(0))), fill: "#976cca" }),
    svg("line", { x1: place * wide + 1, x2: (place + 1) * wide - 1, y1: y(chosen.code[place]), y2: y(chosen.code[place]), stroke: "#e0218a", "stroke-width": 2 }),
    svg("text", { x: (place + 0.5) * wide, y: tall + 14, "text-anchor": "middle", "font-size": 10 }, String(place + 1))]));
}

// --- what other numbers are drawn as ----------------------------------------------------------------------------------

function drawnView(found, picture) {
  const moved = chosen.code.filter((value, place) => value !== found.numbers[place]).length;
  return h("div", { "data-drawn": moved }, figure({ name: "drawn", title: t("code.drawn"), caption: t("code.moved", { moved, count: found.numbers.length }),
    content: h("div", { class: "patch-pair" }, large(picture, t("code.drawn"))), drawing: () => beside([picture]), table: () => bytes([picture]) }));
}

function dimensionView(found, steps, pictures, again) {
  const options = found.numbers.map((_, place) => [String(place), t("code.slider", { number: place + 1 })]);
  const title = t("code.follow", { number: chosen.dimension + 1 });
  const film = h("div", { class: "film", role: "group", "aria-label": title }, steps.map((value, place) => h("div", { class: "frame" }, pixelCanvas(part(pictures, place)), h("span", { class: "facts" }, number(value, 1)))));
  film.querySelectorAll("canvas").forEach((canvas) => canvas.setAttribute("aria-hidden", "true"));
  const drawing = () => svg("svg", { viewBox: `0 0 ${steps.length * (SMALL + 4)} ${SMALL + 20}`, class: "drawing" }, steps.map((value, place) => [
    svg("image", { "data-href": pixelCanvas(part(pictures, place)).toDataURL("image/png"), x: place * (SMALL + 4), width: SMALL, height: SMALL, "image-rendering": "pixelated" }),
    svg("text", { x: place * (SMALL + 4) + SMALL / 2, y: SMALL + 14, "text-anchor": "middle" }, number(value, 1))]));
  const [, height, width, channels] = pictures.shape;
  return h("div", { "data-dimension": chosen.dimension }, figure({ name: `dimension-${chosen.dimension + 1}`, title, caption: t("code.follow.about"),
    content: h("div", {}, h("div", { class: "controls" }, selectField(t("code.dimension"), options, String(chosen.dimension), (value) => {
      chosen.dimension = Number(value);
      again();
    })), film), drawing,
    table: () => ({ columns: [t("code.value"), t("picture.row"), ...Array.from({ length: width * channels }, (_, x) => String(x + 1))], rows: steps.flatMap((value, place) => Array.from({ length: height }, (_, y) => [value, y + 1, ...part(pictures, place).values.subarray(y * width * channels, (y + 1) * width * channels)])) }) }));
}
