// Why a classifier or an answerer says what it says: the words of the text, shaded by how much each counted.

import { ask } from "./api.js";
import { h, newId, replace, settle, svg } from "./dom.js";
import { figure } from "./figure.js";
import { number, percent } from "./format.js";
import { t } from "./i18n.js";
import { css, diverging, ink, sequential } from "./palette.js";
import { note, numberField, segmented, selectField, sentenceBox, Waiting } from "./sentence.js";
import { chosen } from "./store.js";

const NAMES = { "attention rollout": "rollout", "integrated gradients": "gradient" };

export function whyPage(model) {
  const kind = model.config.head.kind;
  const title = h("h2", {}, t("why.title"));
  if (!model.has_tokenizer || !model.reads_tokens || (kind !== "class" && kind !== "span")) return h("div", {}, title, note(t("why.none")));
  chosen.question ??= t("why.question.example");
  const [controls, answer] = [h("div", { class: "controls" }), new Waiting("why")];
  let fields = [];
  let labels = [];
  const drawControls = () => replace(controls, fields.map((field) => control(field, labels, kind, changed)));
  const update = () => {
    if (!chosen.text.trim() || (kind === "span" && !chosen.question.trim())) {
      answer.clear();
      replace(answer.element, note(t("why.empty")));
      return;
    }
    const request = { text: chosen.text, question: kind === "span" ? chosen.question : "", settings: chosen.why };
    answer.fill(async () => {
      if (!fields.length) ({ fields } = await ask("/api/why"));
      return ask("/api/why", request);
    }, (found) => {
      labels = Object.keys(found.scores ?? {});
      if (!controls.contains(document.activeElement)) drawControls();
      return show(found);
    });
  };
  const changed = (name, value) => {
    if (value === fields.find((field) => field.name === name).default) delete chosen.why[name];
    else chosen.why[name] = value;
    update();
  };
  update();
  return h("div", {}, title, h("p", { class: "lead" }, t("why.lead")), kind === "span" ? questionBox(update) : null,
    sentenceBox(model, update, t(kind === "span" ? "why.context" : "why.text")), controls, answer.element);
}

function questionBox(update) {
  const id = newId("question");
  const later = settle(220, update);
  const box = h("input", { type: "text", id, class: "question", dir: "auto", value: chosen.question, oninput: () => {
    chosen.question = box.value;
    later();
  } });
  return h("div", { class: "sentence" }, h("label", { for: id }, t("why.question")), box);
}

// One field of the form, as the server describes it; the class to explain is chosen among the model's own.
function control(field, labels, kind, changed) {
  const [name, value] = [t(`why.field.${field.name}`), chosen.why[field.name] ?? field.default];
  if (field.name === "of") {
    if (kind !== "class") return null;
    return selectField(name, [["", t("why.found")], ...labels.map((label) => [label, label])], value ?? "", (choice) => changed("of", choice || null));
  }
  if (field.choices) {
    const options = field.choices.map((choice) => [choice, t(`why.choice.${choice}`)]);
    if (!field.optional) return segmented(name, options, value, (choice) => changed(field.name, choice));
    return selectField(name, [["", t("why.usual")], ...options], value ?? "", (choice) => changed(field.name, choice || null));
  }
  return numberField(name, value, { min: field.least, max: field.most }, (wanted) => changed(field.name, Math.round(wanted)));
}

function show(found) {
  return [{ class: classes, number: estimate }[found.kind]?.(found) ?? passage(found),
    found.windows > 1 ? note(t("why.windows", { count: found.windows })) : null,
    found.attributions.map((one) => shaded(found, one))];
}

/** The number that a model gives to a text, in the unit of its training data. */
function estimate(found) {
  return h("section", { "data-number": found.number }, h("h3", {}, t("why.number", { number: number(found.number) })));
}

function classes(found) {
  const scores = Object.entries(found.scores).sort((one, other) => other[1] - one[1]);
  return h("section", { "data-label": found.label }, h("h3", {}, t("why.says", { label: found.label, sure: percent(found.probability) })),
    h("div", { class: "table-holder", tabindex: "0", role: "group", "aria-label": t("why.classes") }, h("table", { class: "costs" },
      h("caption", {}, t("why.classes")),
      h("tbody", {}, scores.map(([label, share]) => h("tr", {}, h("th", { scope: "row" }, h("bdi", {}, label)), h("td", { class: "share" }, h("span", { class: "bar", style: { "--share": share.toFixed(4) } }), percent(share))))))));
}

function passage(found) {
  const { text, probability } = found.answer;
  return h("section", { "data-answer": text }, h("h3", {}, text ? t("why.answers", { text, sure: percent(probability) }) : t("why.silent")));
}

function shaded(found, one) {
  const method = NAMES[one.method];
  const signed = method === "gradient";
  const limit = Math.max(...one.words.map((word) => Math.abs(word.score))) || 1;
  const colour = (score) => (signed ? diverging : sequential)(score / limit);
  const readout = h("p", { class: "readout", "aria-live": "polite" }, t("why.hint", { limit: number(limit) }));
  const parts = Map.groupBy ? Map.groupBy(one.words, (word) => word.part) : grouped(one.words);
  const lines = [...parts].map(([part, words]) => h("p", { class: "tokens shades", dir: "auto" },
    parts.size > 1 ? h("span", { class: "facts part" }, t(`why.part.${part}`)) : null, words.map((word, place) => shade(word, words[place - 1], colour, readout))));
  const markers = h("p", { class: "facts" }, t("why.markers", { markers: one.markers.map((marker) => `${marker.marker} ${number(marker.score)}`).join(t("list.comma")) }));
  const title = t(`why.method.${method}`);
  const check = one.completeness;
  return figure({
    name: `why-${method}`, title, caption: t(`why.about.${method}`, { of: found.of }),
    content: h("div", { "data-method": method }, lines, readout, markers, check ? completeness(check) : null),
    table: () => ({ columns: [t("why.word"), t("why.score")], rows: [...one.words.map((word) => [word.word, word.score]), ...one.markers.map((marker) => [marker.marker, marker.score])] }),
    drawing: () => wordsDrawing(one.words, colour),
  });
}

function grouped(words) {
  const parts = new Map();
  for (const word of words) parts.set(word.part, [...(parts.get(word.part) ?? []), word]);
  return parts;
}

// A word on its colour; its number is read out when somebody points at it or reaches it with the keyboard.
function shade(word, before, colour, readout) {
  const tint = colour(word.score);
  const tell = () => {
    readout.textContent = t("why.counts", { word: word.word, score: number(word.score) });
  };
  const spaced = before !== undefined && before.end < word.start;
  return [spaced ? " " : null, h("button", { type: "button", class: "token shade", "data-score": word.score.toFixed(4), "aria-label": t("why.counts", { word: word.word, score: number(word.score) }),
    style: { "background-color": css(tint), color: ink(tint) }, onpointerenter: tell, onfocus: tell }, h("bdi", {}, word.word))];
}

function completeness(check) {
  return h("p", { class: "facts completeness", "data-error": check.error.toFixed(6) }, t("why.complete", {
    baseline: check.baseline === "zeros" ? t("why.choice.zero") : check.baseline, steps: check.steps, total: number(check.total), logit: number(check.logit), base: number(check.baseline_logit), difference: number(check.difference), apart: number(Math.abs(check.total - check.difference)),
  }));
}

// The shaded words as a picture to take along, each with its number below.
export function wordsDrawing(words, colour) {
  const [width, line] = [760, 46];
  const pen = document.createElement("canvas").getContext("2d");
  pen.font = "15px system-ui, sans-serif";
  let [x, y] = [12, 12];
  const drawn = words.flatMap((word, place) => {
    const wide = Math.max(44, pen.measureText(word.word).width + 10);
    if (place > 0 && (x + wide > width - 12 || words[place - 1].part !== word.part)) [x, y] = [12, y + line];
    const [tint, left] = [colour(word.score), x];
    x += wide + 6;
    return [
      svg("rect", { x: left, y, width: wide, height: 24, fill: css(tint) }),
      svg("text", { x: left + wide / 2, y: y + 17, "text-anchor": "middle", "font-size": 15, "font-family": "system-ui, sans-serif", fill: ink(tint), class: "cell-value" }, word.word),
      svg("text", { x: left + wide / 2, y: y + 37, "text-anchor": "middle", "font-size": 10, "font-family": "system-ui, sans-serif" }, word.score.toFixed(2).replace("-", "−")),
    ];
  });
  return svg("svg", { viewBox: `0 0 ${width} ${y + line + 6}`, class: "drawing" }, drawn);
}
