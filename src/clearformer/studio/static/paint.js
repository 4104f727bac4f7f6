// Pictures while they are painted: what is there after each step, and what the network takes it for.

import { ask } from "./api.js";
import { chart, chartTable } from "./chart.js";
import { h, svg } from "./dom.js";
import { figure } from "./figure.js";
import { number, percent } from "./format.js";
import { t } from "./i18n.js";
import { pixelCanvas } from "./photo.js";
import { note, numberField, selectField, slider, Waiting } from "./sentence.js";
import { chosen } from "./store.js";
import { part, unpack } from "./tensor.js";

const [COUNT, LARGE, SMALL] = [6, 168, 56];

export function paintPage(model) {
  const title = h("h2", {}, t("paint.title"));
  if (model.use !== "painting") return h("div", {}, title, note(t("paint.none")));
  const [form, painted, steps] = ["form", "painted", "steps"].map((name) => new Waiting(name));
  const show = (found) => steps.show(stepsView(found, () => show(found)));
  const paint = (told) => {
    const asked = { label: told.labels[0], count: COUNT, seed: 1, guidance: told.guidance, temperature: told.temperature, ...chosen.paint };
    painted.fill((signal) => ask("/api/paint", asked, { signal }), (found) => {
      found.frames = found.steps.map(unpacked);
      chosen.painted = Math.min(chosen.painted, found.pictures.shape[0] - 1);
      chosen.paintStep = null;
      show(found);
      return gallery(found, asked, () => show(found));
    }, () => steps.clear());
  };
  form.fill((signal) => ask("/api/paint", null, { signal }), (told) => {
    paint(told);
    return controls(told, () => paint(told));
  });
  return h("div", {}, title, h("p", { class: "lead" }, t("paint.lead")), form.element, painted.element, steps.element);
}

function controls(told, again) {
  const value = (name) => chosen.paint[name] ?? told[name];
  const set = (name) => (wanted) => {
    chosen.paint[name] = wanted;
  };
  const labels = told.labels.map((label) => [label, label]);
  return h("form", { class: "controls", onsubmit: (event) => {
    event.preventDefault();
    again();
  } },
    selectField(t("paint.class"), labels, chosen.paint.label ?? told.labels[0], (label) => {
      chosen.paint.label = label;
      again();
    }),
    numberField(t("paint.count"), chosen.paint.count ?? COUNT, { min: 1, max: told.most }, set("count")),
    numberField(t("paint.seed"), chosen.paint.seed ?? 1, { min: 0, max: 2 ** 31 - 1 }, set("seed")),
    told.steps === null ? null : numberField(t("paint.steps"), value("steps"), { min: 1, max: told.most_steps }, set("steps")),
    slider(t("paint.guidance"), value("guidance"), { min: 0, max: 5, step: 0.1 }, set("guidance"), (wanted) => number(wanted, 1)),
    slider(t("paint.temperature"), value("temperature"), { min: 0, max: 2, step: 0.05 }, set("temperature"), (wanted) => number(wanted, 2)),
    h("button", { type: "submit", class: "primary" }, t("paint.paint")));
}

// Bytes of every picture of a step, and which of its places are hidden.
function unpacked(step) {
  return { ...step, pictures: unpack(step.pictures), guesses: step.guesses ? unpack(step.guesses) : null, hidden: step.hidden ? unpack(step.hidden) : null };
}

function gallery(found, asked, again) {
  const pictures = unpack(found.pictures);
  const buttons = Array.from({ length: pictures.shape[0] }, (_, place) => h("button", {
    type: "button", class: "thumbnail painted", "data-key": `painted-${place}`, "aria-pressed": String(place === chosen.painted), "aria-label": t("paint.number", { number: place + 1, label: found.label }), onclick: () => {
      chosen.painted = place;
      buttons.forEach((button, other) => button.setAttribute("aria-pressed", String(other === place)));
      again();
    },
  }, enlarged(part(pictures, place))));
  return h("div", { "data-label": found.label }, figure({
    name: `painted-${found.label}`, title: t("paint.painted", { label: found.label }), caption: t(`paint.way.${found.way}`, { count: found.count, seed: asked.seed }),
    content: h("div", { class: "thumbnail-list", role: "group", "aria-label": t("paint.painted", { label: found.label }) }, buttons),
    drawing: () => strip([Array.from({ length: pictures.shape[0] }, (_, place) => part(pictures, place))]), table: () => bytesTable(pictures),
  }));
}

function enlarged(picture) {
  const canvas = pixelCanvas(picture);
  canvas.setAttribute("aria-hidden", "true");
  return canvas;
}

// One row for each row of pixels.
function bytesTable({ shape: [count, height, width, channels], values }) {
  const rows = [];
  for (let picture = 0; picture < count; picture += 1) for (let y = 0; y < height; y += 1) rows.push([picture + 1, y + 1, ...values.subarray((picture * height + y) * width * channels, (picture * height + y + 1) * width * channels)]);
  return { columns: [t("paint.picture"), t("picture.row"), ...Array.from({ length: width * channels }, (_, place) => (channels === 1 ? String(place + 1) : `${Math.floor(place / channels) + 1}.${(place % channels) + 1}`))], rows };
}

// Rows of pictures as one drawing.
function strip(rows) {
  const [height, width] = rows[0][0].shape;
  const [tall, wide] = [(SMALL * height) / width + 4, SMALL + 4];
  return svg("svg", { viewBox: `0 0 ${wide * rows[0].length} ${tall * rows.length}`, class: "drawing" }, rows.map((pictures, row) => pictures.map((picture, place) => svg("image", { "data-href": pixelCanvas(picture).toDataURL("image/png"), x: place * wide, y: row * tall, width: SMALL, height: tall - 4, "image-rendering": "pixelated" }))));
}

// --- the steps --------------------------------------------------------------------------------------------------------

function stepsView(found, again) {
  const last = found.frames.length - 1;
  const at = Math.min(chosen.paintStep ?? last, last);
  const step = found.frames[at];
  const go = (place) => {
    chosen.paintStep = place;
    again();
  };
  const title = t("paint.step", { number: step.number, count: found.count, share: percent(step.share) });
  const bar = slider(t("paint.slide"), at, { min: 0, max: last }, (place) => {
    if (place !== at) go(place);
  }, (place) => String(found.frames[place].number));
  bar.querySelector("input").dataset.key = "paint-step";
  const shown = [[t("paint.there"), part(step.pictures, chosen.painted), step.hidden ? part(step.hidden, chosen.painted).values : null]];
  if (step.guesses) shown.push([t("paint.guess"), part(step.guesses, chosen.painted), null]);
  const frames = found.frames.map((one) => part(one.pictures, chosen.painted));
  const guesses = found.frames[0].guesses ? found.frames.map((one) => part(one.guesses, chosen.painted)) : null;
  const film = h("div", { class: "film", role: "group", "aria-label": t("paint.film") }, found.frames.map((one, place) => h("button", {
    type: "button", class: "frame", "data-key": `step-${place}`, "aria-pressed": String(place === at), "aria-label": t("paint.open", { number: one.number }), onclick: () => go(place),
  }, framed(frames[place], one.hidden ? part(one.hidden, chosen.painted).values : null), guesses ? enlarged(guesses[place]) : null)));
  return h("div", { "data-step": step.number },
    figure({ name: `steps-${found.label}-${chosen.painted + 1}`, title, caption: t(step.guesses ? "paint.about.flow" : "paint.about.codes"),
      content: h("div", {}, h("div", { class: "controls" }, bar), h("div", { class: "patch-pair" }, shown.map(([name, picture, hidden]) => h("div", { class: "large-frame" }, framed(picture, hidden, name), h("p", { class: "caption" }, name)))), film),
      drawing: () => strip(guesses ? [frames, guesses] : [frames]), table: () => ({ columns: [t("paint.stepnumber"), t("paint.share"), t("paint.apart")], rows: distances(found).map(([place, away]) => [found.frames[place].number, found.frames[place].share, away]) }) }),
    progress(found));
}

// A picture, with grey over the places that are hidden yet. name: for those that are read out.
function framed(picture, hidden, name = null) {
  const [height, width] = picture.shape;
  const scale = Math.max(1, Math.round(LARGE / width));
  const paper = h("canvas", { width: width * scale, height: height * scale, ...(name ? { role: "img", "aria-label": name } : { "aria-hidden": "true" }) });
  const context = paper.getContext("2d");
  context.imageSmoothingEnabled = false;
  context.drawImage(pixelCanvas(picture), 0, 0, paper.width, paper.height);
  const side = hidden ? Math.round(Math.sqrt(hidden.length)) : 0;
  hidden?.forEach((one, place) => {
    if (!one) return;
    const [x, y, step] = [place % side, Math.floor(place / side), paper.width / side];
    context.fillStyle = "#8f8b99";
    context.fillRect(x * step + 0.5, y * step + 0.5, step - 1, step - 1);
  });
  return paper;
}

// How far each step's best picture is from the last one: the root of the mean squared difference of bytes.
function distances(found) {
  const best = found.frames.map((one) => part(one.guesses ?? one.pictures, chosen.painted).values);
  const end = best[best.length - 1];
  return best.map((values, place) => [place, Math.sqrt(values.reduce((sum, one, at) => sum + (one - end[at]) ** 2, 0) / end.length)]);
}

function progress(found) {
  const points = distances(found).map(([place, away]) => [found.frames[place].number, away]);
  const series = [{ name: t("paint.apart"), points, dots: true }];
  const title = t("paint.progress");
  return figure({ name: `progress-${found.label}-${chosen.painted + 1}`, title, caption: t(found.frames[0].guesses ? "paint.progress.flow" : "paint.progress.codes"),
    content: h("div", { class: "scroller" }, chart({ series, xAxis: t("paint.stepnumber"), yAxis: t("paint.apart"), label: title })), table: () => chartTable(series, t("paint.stepnumber")) });
}
