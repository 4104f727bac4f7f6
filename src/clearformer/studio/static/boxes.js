// What a detector finds: boxes over the picture, and behind each the patch that speaks for it.

import { ask, sendFile } from "./api.js";
import { bars } from "./bars.js";
import { BoxedPicture } from "./boxed.js";
import { h, svg } from "./dom.js";
import { figure } from "./figure.js";
import { count, number, percent, share } from "./format.js";
import { t } from "./i18n.js";
import { placeName } from "./patch.js";
import { PatchParts } from "./patches.js";
import { Photo, pixelCanvas } from "./photo.js";
import { firstPicture, padFor } from "./picture.js";
import { note, slider, Waiting } from "./sentence.js";
import { chosen } from "./store.js";
import { part, unpack } from "./tensor.js";
import { fileBox } from "./upload.js";

const EXAMPLE = [["cells", "cells.jpg"], ["scene-house", "scene-house.png"]];

export function boxesPage(model) {
  const title = h("h2", {}, t("boxes.title"));
  if (model.use !== "detection") return h("div", {}, title, note(t("boxes.none")));
  const [found, objects, query] = ["boxes", "objects", "query"].map((name) => new Waiting(name));
  const speak = (place, said) => query.show(speaker(said, place, (other) => {
    tokens.show(said, { patch: other, query: other });
    speak(other, said);
  }));
  const tokens = new PatchParts(model, { onquery: speak });
  const follow = (said, place) => {
    tokens.show(said, { patch: place, query: place });
    speak(place, said);
  };
  const choose = (said) => {
    const asked = { picture: said.picture, threshold: chosen.threshold, duplicates: chosen.duplicates };
    return objects.fill((signal) => ask("/api/boxes/chosen", asked, { signal }), (given) => objectsView(said, given, (place) => follow(said, place)));
  };
  const look = (file) => {
    Object.assign(chosen, { file, threshold: null, duplicates: null });
    objects.clear();
    found.fill((signal) => sendFile("/api/boxes", file, { signal }), (said) => {
      said.canvas = pixelCanvas(unpack(said.pixels));
      said.whole = pixelCanvas(unpack(said.shown));
      follow(said, surest(said) + said.extra);
      choose(said);
      return thresholds(said, () => choose(said));
    }, () => [objects, query, tokens].forEach((one) => one.clear()));
  };
  const examples = EXAMPLE.map(([name, file]) => ({ name: t(`picture.example.${name}`), address: `/${file}` }));
  const box = fileBox({ name: t("picture.choose"), hint: t("picture.drop"), accept: "image/*", examples, onfile: look });
  firstPicture(model, look, examples);
  return h("div", {}, title, h("p", { class: "lead" }, t("boxes.lead")), box, padFor(model, look), found.element, objects.element,
    h("h3", { class: "section" }, t("boxes.query")), query.element, tokens.element);
}

// The patch with the highest score of all.
function surest(said) {
  const { shape: [, kinds], values } = unpack(said.scores);
  return Math.floor(values.indexOf(values.reduce((best, one) => Math.max(best, one))) / kinds);
}

function thresholds(said, again) {
  const at = chosen.threshold ?? Math.min(...said.thresholds);
  const limits = [...new Set(said.thresholds.map((one) => number(one, 2)))]; // one for each class, often the same
  const own = h("button", { type: "button", class: "quiet", onclick: () => {
    Object.assign(chosen, { threshold: null, duplicates: null });
    row.replaceWith(thresholds(said, again));
    again();
  } }, t("boxes.own", { threshold: limits.join(t("list.comma")) }));
  const row = h("div", { class: "controls" },
    slider(t("boxes.threshold"), at, { min: 0.01, max: 0.99, step: 0.01 }, (value) => {
      chosen.threshold = value;
      again();
    }, (value) => number(value, 2)),
    slider(t("boxes.duplicates"), chosen.duplicates ?? said.duplicates, { min: 0.05, max: 1, step: 0.05 }, (value) => {
      chosen.duplicates = value;
      again();
    }, (value) => (value < 1 ? percent(value) : t("boxes.all"))), own);
  return row;
}

function objectsView(said, given, follow) {
  const { objects, counts, nearest } = given;
  const label = t("boxes.found");
  const boxed = new BoxedPicture({
    canvas: said.whole, width: said.width, height: said.height, objects, kinds: said.labels, selected: null, label,
    say: (place) => objectName(said, objects[place], place), onchoose: (place) => follow(objects[place].patch + said.extra),
  });
  const told = Object.entries(counts).map(([kind, many]) => `${count(many)} ${kind}`).join(t("list.comma"));
  const full = objects.length === given.most ? ` ${t("boxes.most", { count: given.most })}` : "";
  const caption = objects.length ? t("boxes.counts", { counts: told }) + full : t("boxes.nothing", { nearest: number(nearest, 3) });
  return h("div", { "data-objects": objects.length }, figure({
    name: "boxes", title: label, caption, content: boxed.element, drawing: () => boxed.drawing(),
    table: () => ({
      columns: [t("boxes.object"), t("picture.class"), t("boxes.score"), ...["left", "top", "right", "bottom"].map((edge) => t(`boxes.${edge}`)), t("picture.row"), t("picture.column")],
      rows: objects.map(({ label: kind, score, box, patch }, place) => [place + 1, kind, score, ...box, Math.floor(patch / said.side) + 1, (patch % said.side) + 1]),
    }),
  }));
}

function objectName(said, { label, score, box: [left, top, right, bottom], patch }, place) {
  return t("boxes.say", { number: place + 1, label, score: number(score, 3), width: Math.round(right - left), height: Math.round(bottom - top), place: placeName(said, patch + said.extra) });
}

// --- one patch as a query ---------------------------------------------------------------------------------------------

function speaker(said, place, choose) {
  const { side, extra } = said;
  const patch = place - extra;
  const scores = part(unpack(said.scores), patch).values;
  const [left, top, right, bottom] = [...part(unpack(said.corners), patch).values].map((edge) => edge * side);
  const [x, y] = [patch % side, Math.floor(patch / side)].map((start) => start + 0.5);
  const centre = [(left + right) / 2, (top + bottom) / 2];
  const over = () => [
    svg("rect", { x: left, y: top, width: right - left, height: bottom - top, fill: "none", stroke: "#101014", "stroke-width": 0.16 }),
    svg("rect", { x: left, y: top, width: right - left, height: bottom - top, fill: "none", stroke: "#ffd400", "stroke-width": 0.08, "data-box": "query" }),
    svg("line", { x1: x, y1: y, x2: centre[0], y2: centre[1], stroke: "#ffd400", "stroke-width": 0.08 })];
  const photo = new Photo({ canvas: said.canvas, side, key: "query", label: t("boxes.query.picture"), selected: patch, over, say: (other) => placeName(said, other + extra), onchoose: (other) => choose(other + extra) });
  const best = scores.indexOf(Math.max(...scores));
  const caption = t("boxes.query.about", { across: signed(centre[0] - x), down: signed(centre[1] - y), width: number(right - left, 2), height: number(bottom - top, 2) });
  const rows = said.labels.map((label, kind) => ({ name: label, value: scores[kind] }));
  return h("div", { class: "pictures", "data-query": place },
    figure({ name: "query-box", title: t("boxes.query.title", { place: placeName(said, place) }), caption, content: photo.element, drawing: () => photo.drawing(),
      table: () => ({ columns: [t("boxes.value"), t("boxes.patches")], rows: [["centre.x", centre[0]], ["centre.y", centre[1]], ["left", left], ["top", top], ["right", right], ["bottom", bottom]].map(([name, value]) => [t(`boxes.${name}`), value]) }) }),
    figure({ name: "query-scores", title: t("boxes.query.says", { label: said.labels[best], score: number(scores[best], 3) }), caption: t("boxes.query.each"),
      content: h("div", { class: "scroller" }, bars({ rows, label: t("boxes.score"), say: share })), table: () => ({ columns: [t("picture.class"), t("boxes.score")], rows: rows.map((row) => [row.name, row.value]) }) }));
}

function signed(value) {
  return `${value >= 0 ? "+" : ""}${number(value, 2)}`;
}
