// The sentence that all pages look at, and the places where pages show that something went wrong.

import { ask, Refusal } from "./api.js";
import { h, newId, replace, settle } from "./dom.js";
import { language, t } from "./i18n.js";
import { chosen } from "./store.js";

const EXAMPLES = { en: "Two dogs play in the snow.", fr: "Deux chiens jouent dans la neige.", de: "Zwei Hunde spielen im Schnee.", zh: "两只狗在雪地里玩耍。" };

export function exampleFor(model) {
  if (!model.has_tokenizer) return "5 17 3 8";
  if (model.task === "generate") return "Once upon a time";
  if (model.use === "summarization") return t("summary.example");
  return EXAMPLES[model.source_language] ?? EXAMPLES.en;
}

// onchange: called when typing has paused.
export function sentenceBox(model, onchange, name = t(model.has_tokenizer ? "sentence" : "sentence.ids")) {
  const id = newId("sentence");
  const remark = h("p", { class: "remark", role: "status" });
  const look = () => remarkOn(model, remark);
  const later = settle(220, () => {
    look();
    onchange();
  });
  const box = h("textarea", {
    id, rows: 2, spellcheck: "false", dir: "auto", lang: model.source_language,
    oninput: () => {
      setText(box.value);
      later();
    },
  });
  box.value = chosen.text ?? "";
  look();
  return h("div", { class: "sentence" }, h("label", { for: id }, name), box, remark);
}

// Another text: what was chosen in the old one means nothing in it. Gives the text.
export function setText(text) {
  Object.assign(chosen, { text, alternative: null, prefix: [], node: null, cell: null, place: null, token: null, against: null });
  return text;
}

// A model writes fluent nonsense for a language that it does not know; then somebody should say so.
async function remarkOn(model, remark) {
  const { text } = chosen;
  if (!model.has_tokenizer || !model.source_language || !text?.trim()) return replace(remark);
  try {
    const found = await ask("/api/language", { text });
    if (text !== chosen.text) return remark;
    const [name, expected] = [found.language, found.expected].map((code) => (code ? languageName(code) : null));
    const language = found.other ? t(name ? "remark.language" : "remark.other", { name, expected }) : null;
    return replace(remark, found.read_as ? t("remark.read", { text: found.read_as }) : language);
  } catch {
    return replace(remark); // whatever is wrong with the text is said where its answer would stand
  }
}

function languageName(code) {
  try {
    return new Intl.DisplayNames([language()], { type: "language" }).of(code);
  } catch {
    return code;
  }
}

// A part of a page that waits for an answer: shows that it waits, then the answer, or why there is none.
export class Waiting {
  constructor(name) {
    this.element = h("div", { class: "waiting", "data-part": name });
    this.turn = 0;
    this.waits = new AbortController();
  }

  // work(signal): a promise of something; show(answer): elements. Only the newest question is answered; one that has
  // handed the signal on is given up as soon as there is a newer one. failed(): done when there is no answer.
  async fill(work, show, failed = () => {}) {
    const turn = this.supersede();
    this.element.setAttribute("aria-busy", "true");
    try {
      const answer = await work(this.waits.signal);
      if (turn === this.turn) this.put(await show(answer));
    } catch (error) {
      if (turn === this.turn) {
        replace(this.element, message(error, () => this.fill(work, show, failed)));
        failed();
      }
      if (!(error instanceof Refusal) && error.name !== "AbortError") console.error(error);
    } finally {
      if (turn === this.turn) this.element.removeAttribute("aria-busy");
    }
  }

  // Whoever works with the keyboard stays where they were: the new element with the old one's key is focused.
  put(content) {
    const key = this.element.contains(document.activeElement) ? document.activeElement.dataset.key : null;
    replace(this.element, content);
    if (key) this.element.querySelector(`[data-key="${CSS.escape(key)}"]`)?.focus({ preventScroll: true });
  }

  clear() {
    this.show(null);
  }

  // Something that needs no waiting.
  show(content) {
    this.supersede();
    this.element.removeAttribute("aria-busy");
    this.put(content);
  }

  supersede() {
    this.waits.abort();
    this.waits = new AbortController();
    this.turn += 1;
    return this.turn;
  }
}

export function message(error, again = null) {
  const text = error instanceof Refusal ? error.message : t("error.page", { reason: error.message });
  return h("div", { class: "message", role: "alert" }, h("p", {}, text), again ? h("button", { type: "button", onclick: again }, t("error.again")) : null);
}

export function note(text) {
  return h("p", { class: "note" }, text);
}

// A row of choices of which one holds.
export function segmented(name, options, value, onchange) {
  const group = newId("choice");
  return h("fieldset", { class: "segmented" }, h("legend", {}, name),
    options.map(([option, text]) => {
      const id = newId("option");
      const radio = h("input", { type: "radio", name: group, id, "data-key": `${name}/${option}`, value: option, onchange: () => onchange(option) });
      radio.checked = option === value;
      return [radio, h("label", { for: id }, text)];
    }));
}

// optional: an empty field is allowed and means null.
export function numberField(name, value, { min = null, max = null, step = 1, optional = false }, onchange) {
  const id = newId("number");
  const field = h("input", { type: "number", id, min, max, step, onchange: () => {
    if (optional && field.value === "") return onchange(null);
    const wanted = Number(field.value);
    const allowed = Math.min(max ?? Infinity, Math.max(min ?? -Infinity, Number.isFinite(wanted) ? wanted : min ?? 0));
    field.value = allowed;
    return onchange(allowed);
  } });
  field.value = value ?? "";
  return h("span", { class: "field" }, h("label", { for: id }, name), field);
}

// A text, or with `many` one on each line. nothing: what an empty field means.
export function textField(name, value, { many = false, nothing = null }, onchange) {
  const id = newId("text");
  const field = h(many ? "textarea" : "input", { id, class: "setting", ...(many ? { rows: 1 } : { type: "text" }), spellcheck: "false", dir: "auto", onchange: () => {
    const lines = field.value.split("\n").filter((line) => line !== "");
    onchange(lines.length === 0 ? nothing : many ? lines : field.value);
  } });
  field.value = many ? (value ?? []).join("\n") : value ?? "";
  return h("span", { class: "field" }, h("label", { for: id }, name), field);
}

export function selectField(name, options, value, onchange) {
  const id = newId("select");
  const field = h("select", { id, "data-key": name, onchange: () => onchange(field.value) }, options.map(([option, text]) => h("option", { value: option }, text)));
  field.value = value;
  return h("span", { class: "field" }, h("label", { for: id }, name), field);
}

export function slider(name, value, { min, max, step = 1 }, oninput, say = String) {
  const id = newId("slider");
  const output = h("output", { for: id }, say(value));
  const field = h("input", { type: "range", id, min, max, step, oninput: () => {
    output.textContent = say(Number(field.value));
    oninput(Number(field.value));
  } });
  field.value = value;
  return h("span", { class: "field" }, h("label", { for: id }, name), field, output);
}
