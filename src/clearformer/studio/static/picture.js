// What a Vision Transformer makes of a picture: patches, tokens, classes, and where each token looks.

import { sendFile } from "./api.js";
import { bars } from "./bars.js";
import { h } from "./dom.js";
import { figure } from "./figure.js";
import { percent, share } from "./format.js";
import { t } from "./i18n.js";
import { drawingPad } from "./pad.js";
import { placeName } from "./patch.js";
import { PatchParts } from "./patches.js";
import { Photo, pixelCanvas } from "./photo.js";
import { note, Waiting } from "./sentence.js";
import { chosen } from "./store.js";
import { unpack } from "./tensor.js";
import { fileBox } from "./upload.js";

const EXAMPLES = { 1: ["digit-two", "digit-five", "digit-seven"], 3: ["scene-house", "scene-boat"] };

export function picturePage(model) {
  const title = h("h2", {}, t("picture.title"));
  if (model.use !== "picture-classification") return h("div", {}, title, note(t("picture.none")));
  const [seen, tokens] = [new Waiting("picture"), new PatchParts(model)];
  const look = (file) => {
    Object.assign(chosen, { file, query: null, patch: null });
    seen.fill((signal) => sendFile("/api/picture", file, { signal }), (found) => {
      found.canvas = pixelCanvas(unpack(found.pixels));
      const patch = found.extra + liveliest(found);
      tokens.show(found, { patch, query: found.extra ? 0 : patch }); // the class token looks, where there is one
      return overview(found, (place) => tokens.follow(found, place));
    }, () => tokens.clear());
  };
  const box = fileBox({ name: t("picture.choose"), hint: t("picture.drop"), accept: "image/*", examples: pictureExamples(model), onfile: look });
  firstPicture(model, look);
  return h("div", {}, title, h("p", { class: "lead" }, t("picture.lead")), box, padFor(model, look), seen.element, tokens.element);
}

export function pictureExamples(model) {
  return EXAMPLES[model.config.front.channels].map((name) => ({ name: t(`picture.example.${name}`), address: `/${name}.png` }));
}

// A sheet to draw on, for models of small grey pictures.
export function padFor(model, look) {
  return model.config.front.channels === 1 && model.config.front.picture <= 64 ? drawingPad(look) : null;
}

// What was given before, or else an example, so that a page is never empty. examples: as for a file box.
export function firstPicture(model, look, examples = pictureExamples(model)) {
  if (chosen.file) look(chosen.file);
  else fetch(examples[0].address).then((answer) => answer.blob()).then(look, () => {});
}

// --- what it is taken for ---------------------------------------------------------------------------------------------

function overview(found, choose) {
  const { extra } = found;
  const side = found.side || 1; // convolutions have no patches
  const [height, width] = found.pixels.shape;
  const photo = new Photo({
    canvas: found.canvas, side, key: "patches", label: t("picture.patches"), selected: found.side ? chosen.patch - extra : null,
    say: (patch) => placeName(found, patch + extra), onchoose: found.side ? (patch) => choose(patch + extra) : null,
  });
  const facts = t(found.side ? "picture.facts" : "picture.facts.whole", { given: `${found.width} × ${found.height}`, read: `${width} × ${height}`, count: side * side, patch: `${width / side} × ${height / side}` });
  const rows = found.classes.map((one) => ({ name: one.label, value: one.probability }));
  const label = t("picture.classes");
  return h("div", { class: "pictures", "data-label": found.classes[0].label },
    figure({ name: "patches", title: t("picture.patches"), caption: facts, content: photo.element, drawing: () => photo.drawing(), png: () => photo.png(),
      table: () => ({ columns: [t("picture.patch"), t("picture.row"), t("picture.column"), t("picture.brightness")], rows: brightness(found) }) }),
    figure({ name: "classes", title: t("picture.says", { label: found.classes[0].label, sure: percent(found.classes[0].probability) }), caption: found.count > rows.length ? t("picture.likeliest", { shown: rows.length, count: found.count }) : "",
      content: h("div", { class: "scroller" }, bars({ rows, label, say: share })), table: () => ({ columns: [t("picture.class"), t("picture.probability")], rows: rows.map((row) => [row.name, row.value]) }) }));
}

// The patch whose bytes differ most from the picture's mean: there is something to see in it.
function liveliest(found) {
  const means = brightness(found).map((row) => row[3]);
  const middle = means.reduce((sum, one) => sum + one, 0) / means.length;
  const apart = means.map((one) => Math.abs(one - middle));
  return apart.indexOf(Math.max(...apart));
}

// The mean byte of each patch.
function brightness(found) {
  const { shape: [height, width, channels], values } = unpack(found.pixels);
  const side = found.side || 1;
  const [tall, wide] = [height / side, width / side];
  const sums = new Array(side * side).fill(0);
  for (let y = 0; y < height; y += 1) for (let x = 0; x < width; x += 1) for (let channel = 0; channel < channels; channel += 1) sums[Math.floor(y / tall) * side + Math.floor(x / wide)] += values[(y * width + x) * channels + channel];
  return sums.map((sum, patch) => [patch + 1, Math.floor(patch / side) + 1, (patch % side) + 1, sum / (tall * wide * channels)]);
}
