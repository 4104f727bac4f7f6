// What the model writes for a text, while it is being typed: alternatives, scores, probabilities, confidence, alignment.

import { ask } from "./api.js";
import { h, replace } from "./dom.js";
import { figure } from "./figure.js";
import { settingsForm } from "./form.js";
import { number, percent } from "./format.js";
import { t } from "./i18n.js";
import { matrix } from "./matrix.js";
import { css, sequential } from "./palette.js";
import { note, sentenceBox, Waiting } from "./sentence.js";
import { chosen } from "./store.js";
import { part, unpack } from "./tensor.js";
import { chip, label, shortLabel } from "./tokens.js";

export function translatePage(model) {
  const answer = new Waiting("answer");
  const update = () => {
    const text = chosen.text.trim();
    if (text === "") {
      answer.clear();
      replace(answer.element, note(t("translate.empty")));
      return;
    }
    answer.fill(() => write(model), (found) => show(model, found, update));
  };
  const changed = () => {
    chosen.alternative = null;
    update();
  };
  update();
  return h("div", {}, h("h2", {}, t(`translate.title.${model.task}`)), sentenceBox(model, update), model.task === "read" ? null : settingsForm(model, changed), answer.element);
}

async function write() {
  const request = { text: chosen.text, settings: chosen.settings };
  const found = await ask("/api/translate", request);
  const ids = chosen.alternative;
  if (ids === null || !found.results.length) return { ...found, shown: found.results[0] ?? null };
  return { ...found, shown: await ask("/api/translate", { ...request, ids }) };
}

function show(model, found, update) {
  if (!found.shown) return reading(model, found);
  const { shown } = found;
  const weights = shown.alignment ? unpack(shown.alignment) : null;
  const readout = h("p", { class: "readout", "aria-live": "polite" }, t(weights ? "translate.hint" : "translate.hint.generate"));
  const source = found.source.map((token) => chip(token, { type: "button", class: "source" }, "button"));
  const target = shown.tokens.map((token) => written(token));
  if (weights) connect(found, shown, weights, source, target, readout);
  else shown.tokens.forEach((token, place) => listen(target[place], () => tellChoices(readout, token, shown.choices[place])));
  return [
    h("div", { class: "pair" },
      h("div", { class: "side" }, h("h3", {}, t("translate.source")), h("p", { class: "tokens", dir: "auto" }, source)),
      h("div", { class: "side" }, h("h3", {}, t(model.task === "generate" ? "translate.continuation" : "translate.result")),
        h("p", { class: "tokens result", dir: "auto", lang: model.target_language, "data-result": shown.text }, target.length ? target : note(t("translate.nothing"))))),
    found.read_as && shown.restored ? h("p", { class: "tokens", dir: "auto" }, t("translate.restored", { text: shown.restored })) : null,
    found.read_as && !shown.restored ? note(t("translate.lost")) : null,
    readout,
    h("p", { class: "facts" }, t("translate.score", { score: number(shown.score), total: number(shown.log_prob), end: shown.end_log_prob === null ? "–" : percent(Math.exp(shown.end_log_prob)) }), shown.confidence == null ? null : " · " + t("translate.good", { chance: percent(shown.confidence) })),
    found.results.length > 1 ? alternatives(found, shown, update) : null,
    weights && target.length ? alignment(found, shown, weights) : null,
  ];
}

// A written token: the bar under it is as long as the model was sure.
function written(token) {
  const probability = Math.exp(token.log_prob);
  const element = chip(token, { type: "button", class: "target", "data-probability": probability.toFixed(4) }, "button");
  element.style.setProperty("--sure", probability.toFixed(3));
  return element;
}

function listen(element, action, leave = () => {}) {
  element.addEventListener("pointerenter", action);
  element.addEventListener("focus", action);
  element.addEventListener("pointerleave", leave);
  element.addEventListener("blur", leave);
}

function connect(found, shown, weights, source, target, readout) {
  const clear = () => [...source, ...target].forEach((element) => {
    element.style.removeProperty("background-color");
    element.classList.remove("linked");
  });
  const tint = (element, weight) => {
    if (weight < 0.02) return;
    element.style.setProperty("background-color", css(sequential(0.75 * weight)));
    element.classList.toggle("linked", weight > 0.45);
  };
  target.forEach((element, row) => listen(element, () => {
    clear();
    const looked = part(weights, row).values;
    source.forEach((one, place) => tint(one, looked[place]));
    tellChoices(readout, shown.tokens[row], shown.choices[row], strongest(looked, found.source));
  }, clear));
  source.forEach((element, column) => listen(element, () => {
    clear();
    const seen = shown.tokens.map((_, row) => weights.values[row * source.length + column]);
    target.forEach((one, row) => tint(one, seen[row]));
    readout.textContent = t("translate.seen", { token: label(found.source[column]), by: strongest(seen, shown.tokens) });
  }, clear));
}

function strongest(weights, tokens) {
  return Array.from(weights, (weight, place) => [weight, label(tokens[place])])
    .sort((one, other) => other[0] - one[0])
    .slice(0, 3)
    .map(([weight, name]) => `${name} ${percent(weight)}`)
    .join(", ");
}

function tellChoices(readout, token, choices, looked = null) {
  const others = choices.map((choice) => `${label(choice)} ${percent(choice.probability)}`).join(", ");
  readout.textContent = t(looked ? "translate.token" : "translate.token.generate", { token: label(token), sure: percent(Math.exp(token.log_prob)), looked, others });
}

function alternatives(found, shown, update) {
  return h("section", {}, h("h3", {}, t("translate.alternatives")),
    h("ol", { class: "alternatives" }, found.results.map((one) => {
      const current = String(one.ids) === String(shown.ids);
      return h("li", {}, h("button", { type: "button", class: "alternative", "data-key": String(one.ids), "aria-pressed": String(current), onclick: () => {
        chosen.alternative = one.ids;
        update();
      } }, h("bdi", {}, one.text || t("translate.nothing"))), h("span", { class: "facts" }, number(one.score)), sameText(one));
    })));
}

// A text can be cut into pieces in several ways; the search compares pieces, so it may find one text twice.
function sameText(one) {
  if (one.same_text_as === null) return null;
  return h("span", { class: "facts same-text" }, t("translate.same", { place: one.same_text_as + 1, pieces: one.tokens.map((token) => label(token)).join(" | ") }));
}

function alignment(found, shown, weights) {
  const view = matrix({
    rows: shown.tokens.map((token) => shortLabel(token)), columns: found.source.map((token) => shortLabel(token)), values: weights.values,
    rowAxis: t("translate.result"), columnAxis: t("translate.source"), label: t("translate.alignment"),
    say: (row, column, value) => t("heads.cell", { query: label(shown.tokens[row]), key: label(found.source[column]), weight: number(value) }),
  });
  return figure({ name: "alignment", title: t("translate.alignment"), caption: t("translate.alignment.about"), content: view.element, table: () => view.table(), drawing: () => view.drawing() });
}

// A model that writes nothing: how it cuts the text, and what it would put at each place if it can say so.
function reading(model, found) {
  return [
    h("p", { class: "tokens" }, found.source.map((token) => chip(token))),
    found.readings.length
      ? h("div", { class: "table-holder", tabindex: "0", role: "group", "aria-label": t("translate.readings") }, h("table", {},
        h("caption", {}, t("translate.readings")),
        h("thead", {}, h("tr", {}, h("th", { scope: "col" }, t("walk.token")), h("th", { scope: "col" }, t("translate.likeliest")))),
        h("tbody", {}, found.source.map((token, place) => h("tr", {}, h("th", { scope: "row" }, h("bdi", {}, label(token))), h("td", {}, found.readings[place].map((one) => `${label(one)} ${percent(one.probability)}`).join(", ")))))))
      : note(t("translate.read")),
    h("p", {}, h("a", { href: "#/heads" }, t("translate.toheads"))),
  ];
}
