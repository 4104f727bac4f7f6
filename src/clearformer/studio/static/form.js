// The settings of a search: the form is built from the server's own description of them (/api/form).

import { ask } from "./api.js";
import { h, replace } from "./dom.js";
import { language, t } from "./i18n.js";
import { numberField, segmented, selectField, textField } from "./sentence.js";
import { chosen } from "./store.js";
import { CHINESE_HELP } from "./zh.js";

let fields = [];

export async function loadForm() {
  ({ fields } = await ask("/api/form"));
}

// What holds: the person's choice, or else what the model folder's own recipe says. Only choices are sent.
export function setting(name) {
  return name in chosen.settings ? chosen.settings[name] : fields.find((field) => field.name === name)?.default;
}

// A row of fields for what this model does. method: fixed where the page has only one. onchange: after a choice.
export function settingsForm(model, onchange, { method = null } = {}) {
  const row = h("div", { class: "controls" });
  const help = h("details", { class: "help" });
  const choose = (field) => (value) => {
    if (JSON.stringify(value) === JSON.stringify(field.default)) delete chosen.settings[field.name];
    else chosen.settings[field.name] = value;
    draw();
    onchange();
  };
  function draw() {
    const present = method ?? setting("method");
    const shown = fields.filter((field) => field.tasks.includes(model.task) && field.methods.includes(present) && !(method && field.name === "method"));
    replace(row, shown.map((field) => control(field, setting(field.name), choose(field))));
    replace(help, h("summary", {}, t("form.help")), h("dl", {}, shown.map((field) => [h("dt", {}, t(`field.${field.name}`)), h("dd", {}, helpOf(field))])));
  }
  draw();
  return h("div", { class: "settings" }, row, help);
}

export function helpOf(field) {
  return (language() === "zh" ? CHINESE_HELP[field.name] : null) ?? field.help;
}

// One field, as the server describes it, with its present value.
export function control(field, value, onchange) {
  const name = t(`field.${field.name}`);
  if (field.choices) {
    const options = field.choices.map((choice) => [choice, t(`field.${field.name}.${choice}`)]);
    return (field.name === "method" ? segmented : selectField)(name, options, value, onchange);
  }
  if (field.kind === "text") return textField(name, value, { many: field.many, nothing: field.default }, onchange);
  const step = field.kind === "integer" ? 1 : field.most !== null && field.most <= 1 ? 0.05 : 0.1;
  return numberField(name, value, { min: field.least, max: field.most, step, optional: field.optional }, onchange);
}
