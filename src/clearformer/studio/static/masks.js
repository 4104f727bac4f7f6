// What a segmenter draws: each thing or class in its colour, what the network says of every pixel, and a tile's tokens.

import { ask, sendFile } from "./api.js";
import { h, replace } from "./dom.js";
import { figure } from "./figure.js";
import { count, number, percent } from "./format.js";
import { t } from "./i18n.js";
import { diverging, sequential } from "./palette.js";
import { PatchParts } from "./patches.js";
import { Outlined } from "./outlined.js";
import { pixelCanvas } from "./photo.js";
import { firstPicture, padFor } from "./picture.js";
import { note, numberField, selectField, slider, Waiting } from "./sentence.js";
import { chosen } from "./store.js";
import { largest, unpack } from "./tensor.js";
import { fileBox } from "./upload.js";

const EXAMPLES = { 1: [["nuclei", "nuclei.png"], ["cells", "cells.jpg"]], 3: [["cells", "cells.jpg"], ["scene-house", "scene-house.png"]] };
const ROWS = 2000; // of a table of pixels: a large picture has a row for each of its own

export function masksPage(model) {
  const title = h("h2", {}, t("masks.title"));
  if (model.use !== "segmentation") return h("div", {}, title, note(t("masks.none")));
  const [given, drawn, channel, tile] = ["masks", "mask", "channel", "tile"].map((name) => new Waiting(name));
  const tokens = new PatchParts(model, { onquery: (query, seen) => tokens.follow(seen, query) });
  const draw = (found) => drawn.fill((signal) => ask("/api/masks/mask", { masks: found.masks, threshold: chosen.threshold ?? 0.5, smallest: chosen.smallest }, { signal }), (mask) => maskView(found, mask));
  const showChannel = (found) => channel.fill((signal) => ask("/api/masks/channel", { masks: found.masks, number: chosen.maskChannel }, { signal }), ({ values }) => channelView(found, unpack(values), () => showChannel(found)));
  const openTile = (found) => tile.fill((signal) => ask("/api/masks/tile", { masks: found.masks, number: chosen.tile }, { signal }), (seen) => {
    seen.canvas = pixelCanvas(unpack(seen.pixels));
    const middle = seen.extra + Math.floor(seen.side / 2) * (seen.side + 1);
    tokens.show(seen, { patch: middle, query: middle });
    return tilePicker(found, () => openTile(found));
  });
  const look = (file) => {
    Object.assign(chosen, { file, threshold: null, smallest: 0, tile: 0, maskChannel: 0 });
    drawn.clear();
    given.fill((signal) => sendFile("/api/masks", file, { signal }), (found) => {
      found.canvas = pixelCanvas(unpack(found.shown));
      draw(found);
      showChannel(found);
      openTile(found);
      return found.instances ? thresholds(found, () => draw(found)) : null;
    }, () => [drawn, channel, tile, tokens].forEach((one) => one.clear()));
  };
  const examples = EXAMPLES[model.config.front.channels].map(([name, file]) => ({ name: t(`picture.example.${name}`), address: `/${file}` }));
  const box = fileBox({ name: t("picture.choose"), hint: t("picture.drop"), accept: "image/*", examples, onfile: look });
  firstPicture(model, look, examples);
  return h("div", {}, title, h("p", { class: "lead" }, t("masks.lead")), box, padFor(model, look), given.element, drawn.element, channel.element, tile.element, tokens.element);
}

function thresholds(found, again) {
  return h("div", { class: "controls" },
    slider(t("masks.threshold"), chosen.threshold ?? 0.5, { min: 0.02, max: 0.98, step: 0.02 }, (value) => {
      chosen.threshold = value;
      again();
    }, (value) => number(value, 2)),
    numberField(t("masks.smallest"), chosen.smallest || found.smallest, { min: 1, max: 100_000 }, (value) => {
      chosen.smallest = value;
      again();
    }));
}

function maskView(found, { mask, found: things }) {
  const numbers = unpack(mask);
  const say = (thing) => t("masks.say", { label: found.instances ? `${thing.label} ${thing.number}` : thing.label, area: count(thing.area), share: percent(thing.area / numbers.values.length) });
  const view = new Outlined({ canvas: found.canvas, numbers, things, selected: null, label: t("masks.drawn"), say });
  const caption = found.instances ? (things.length ? t("masks.count", { count: count(things.length) }) : t("masks.nothing")) : things.map(say).join(t("list.comma"));
  return h("div", { "data-things": things.length }, figure({
    name: "mask", title: t("masks.drawn"), caption, content: view.element, drawing: () => view.drawing(), png: () => view.png(),
    table: () => ({ columns: [t("masks.number"), t("picture.class"), t("masks.area"), t("boxes.left"), t("boxes.top"), t("masks.width"), t("masks.height")], rows: things.map((thing) => [thing.number, thing.label, thing.area, ...thing.box]) }),
  }));
}

// --- what the network says of every pixel -----------------------------------------------------------------------------

function channelView(found, values, again) {
  const name = channelName(found, chosen.maskChannel);
  const [height, width] = values.shape;
  const signed = values.values.some((value) => value < 0);
  const limit = signed ? largest(values.values) : 1;
  const canvas = h("canvas", { width, height, class: "photo-pixels", role: "img", "aria-label": name });
  const image = canvas.getContext("2d").createImageData(width, height);
  const shades = Array.from({ length: 257 }, (_, step) => (signed ? diverging(step / 128 - 1) : sequential(step / 256)));
  values.values.forEach((value, place) => image.data.set([...shades[Math.round(signed ? 128 * (value / limit + 1) : 256 * Math.max(0, Math.min(1, value)))], 255], 4 * place));
  canvas.getContext("2d").putImageData(image, 0, 0);
  const readout = h("p", { class: "readout", "aria-live": "off" }, t("masks.point"));
  canvas.addEventListener("pointermove", (event) => {
    const box = canvas.getBoundingClientRect();
    const [x, y] = [((event.clientX - box.left) / box.width) * width, ((event.clientY - box.top) / box.height) * height].map((place) => Math.max(0, Math.floor(place)));
    replace(readout, t("masks.pixel", { x, y, value: number(values.values[Math.min(height - 1, y) * width + Math.min(width - 1, x)]) }));
  });
  const options = found.channels.map((_, place) => [String(place), channelName(found, place)]);
  return figure({ name: `channel-${found.channels[chosen.maskChannel]}`, title: t("masks.channel", { name }), caption: t(signed ? "masks.channel.signed" : "masks.channel.share", { limit: number(limit, 1) }),
    content: h("div", {}, h("div", { class: "controls" }, selectField(t("masks.which"), options, String(chosen.maskChannel), (value) => {
      chosen.maskChannel = Number(value);
      again();
    })), h("div", { class: "photo-frame wide", style: { "max-width": `${Math.min(720, 2 * width)}px` } }, canvas), readout),
    drawing: () => Outlined.asDrawing(canvas), table: () => ({ columns: [t("picture.row"), ...Array.from({ length: width }, (_, x) => String(x))], rows: Array.from({ length: Math.min(height, ROWS) }, (_, y) => [y, ...values.values.subarray(y * width, (y + 1) * width)]) }) });
}

function channelName(found, place) {
  return found.instances ? t(`masks.says.${found.channels[place]}`) : found.channels[place];
}

// --- the tokens of a tile ---------------------------------------------------------------------------------------------

function tilePicker(found, again) {
  const options = found.tiles.map(([top, left], place) => [String(place), t("masks.tile", { number: place + 1, left: Math.max(0, left), top: Math.max(0, top) })]);
  return h("div", {}, h("h3", { class: "section" }, t("masks.tiles")), h("p", { class: "caption" }, t("masks.tiles.about", { size: found.tile, count: found.tiles.length })),
    found.tiles.length < 2 ? null : h("div", { class: "controls" }, selectField(t("masks.tiles.choose"), options, String(chosen.tile), (value) => {
      chosen.tile = Number(value);
      again();
    })));
}
