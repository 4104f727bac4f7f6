// A short text for a long one, while it is being typed, and how it came about.

import { ask } from "./api.js";
import { h, replace } from "./dom.js";
import { control, helpOf } from "./form.js";
import { number, percent } from "./format.js";
import { t } from "./i18n.js";
import { note, sentenceBox, Waiting } from "./sentence.js";
import { chosen } from "./store.js";

export function summaryPage(model) {
  const title = h("h2", {}, t("summary.title"));
  if (!model.has_target || !model.has_tokenizer || !model.reads_tokens) return h("div", {}, title, note(t("summary.none")));
  const [controls, help, answer] = [h("div", { class: "controls" }), h("details", { class: "help" }), new Waiting("summary")];
  let fields = [];
  const value = (field) => (field.name in chosen.summary ? chosen.summary[field.name] : field.default);
  const drawForm = () => {
    replace(controls, fields.map((field) => control(field, value(field), (wanted) => change(field, wanted))));
    replace(help, h("summary", {}, t("form.help")), h("dl", {}, fields.map((field) => [h("dt", {}, t(`field.${field.name}`)), h("dd", {}, helpOf(field))])));
  };
  const update = () => {
    if (!chosen.text.trim()) {
      answer.show(note(t("summary.empty")));
      return;
    }
    answer.fill(() => ask("/api/summary", { text: chosen.text, settings: chosen.summary }), show);
  };
  const change = (field, wanted) => {
    if (wanted === field.default) delete chosen.summary[field.name];
    else chosen.summary[field.name] = wanted;
    update();
  };
  const form = new Waiting("summary-form");
  form.fill(() => ask("/api/summary"), (found) => {
    ({ fields } = found);
    drawForm();
    return h("div", { class: "settings" }, controls, help);
  });
  update();
  const box = sentenceBox(model, update, t("summary.text"));
  box.querySelector("textarea").rows = 8; // what is to be summarised is long
  return h("div", {}, title, h("p", { class: "lead" }, t("summary.lead")), box, form.element, answer.element);
}

function show(found) {
  return [
    h("h3", {}, t("summary.result")),
    h("p", { class: "summary", dir: "auto", "data-result": found.text }, found.text),
    h("p", { class: "facts" }, t("summary.facts", { share: percent(found.share), tokens: found.tokens, score: number(found.score) })),
    remarks(found).map(note),
  ];
}

// What a reader should know of how it came about; mostly nothing.
function remarks(found) {
  return [
    found.read < found.tokens ? t("summary.beginning", { read: found.read, tokens: found.tokens }) : null,
    found.read === found.tokens && found.parts > 1 ? t("summary.parts", { parts: found.parts }) : null,
    found.ended ? null : t("summary.broken"),
    found.share === 1 ? t("summary.same") : null,
  ].filter((told) => told !== null);
}
