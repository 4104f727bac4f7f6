// The lab: every experiment with its verdict, one of them in full, and knobs that are turned while one looks.

import { ask } from "./api.js";
import { h, replace } from "./dom.js";
import { figure } from "./figure.js";
import { language, t } from "./i18n.js";
import { knobs } from "./knobs.js";
import { message, Waiting } from "./sentence.js";
import { chosen } from "./store.js";

const said = (text) => text[language()] ?? text;

export function labPage(model) {
  const list = new Waiting("lab-list");
  const one = new Waiting("lab-experiment");
  const open = (name, { focus = false } = {}) => {
    chosen.experiment = name;
    one.fill(() => ask(`/api/lab/experiments/${name}`, null, { fresh: true }), (found) => experiment(found, one, refresh)).then(() => {
      if (focus) one.element.querySelector("h3")?.focus();
    });
  };
  const refresh = () => list.fill(() => ask("/api/lab", null, { fresh: true }), (found) => {
    chosen.experiment ??= found.find((item) => item.name === "root-of-width")?.name ?? found[0].name;
    return listing(found, (name) => {
      open(name, { focus: true });
      list.element.querySelectorAll("[aria-pressed]").forEach((button) => button.setAttribute("aria-pressed", String(button.dataset.key === name)));
    });
  });
  refresh().then(() => open(chosen.experiment));
  return h("div", {}, h("h2", {}, t("lab.title")), h("p", { class: "lead" }, t("lab.lead")), list.element, one.element, knobs(model));
}

function listing(found, onchoose) {
  const names = ["number", "question", "claim", "minutes", "verdict"];
  return h("div", { class: "table-holder experiments", tabindex: "0", role: "group", "aria-label": t("lab.list") }, h("table", { class: "worded" },
    h("thead", {}, h("tr", {}, names.map((name) => h("th", { scope: "col" }, t(`lab.${name}`))))),
    h("tbody", {}, found.map((item) => h("tr", {},
      h("td", {}, item.number),
      h("td", {}, h("button", { type: "button", class: "alternative", "data-key": item.name, "aria-pressed": String(item.name === chosen.experiment), onclick: () => onchoose(item.name) }, said(item.question))),
      h("td", {}, said(item.claim)),
      h("td", {}, String(item.minutes)),
      h("td", {}, verdict(item)))))));
}

function verdict(item) {
  if (!item.verdict) return t("lab.never");
  const when = item.last ? t(`lab.${item.last.scale}`, { date: item.last.date }) : t("lab.shipped");
  return [h("strong", { class: `verdict verdict-${item.verdict.kind}` }, said(item.verdict)), h("span", { class: "facts" }, ` ${when}`)];
}

function experiment(found, place, refresh) {
  const measure = h("button", { type: "button", class: "primary", disabled: !found.short, onclick: async () => {
    measure.disabled = true;
    place.element.setAttribute("aria-busy", "true");
    try {
      const answer = await ask(`/api/lab/experiments/${found.name}`, {}, { fresh: true });
      place.show(experiment(answer, place, refresh));
      refresh();
    } catch (error) {
      place.element.removeAttribute("aria-busy");
      measure.disabled = false;
      replace(trouble, message(error));
    }
  } }, t("lab.measure"));
  const trouble = h("div", {});
  return h("section", { class: "experiment", "data-experiment": found.name },
    h("h3", { tabindex: "-1" }, said(found.question)),
    h("blockquote", { class: "given" }, said(found.claim)),
    h("p", {}, verdict(found)),
    h("p", {}, said(found.answer)),
    h("p", { class: "note" }, t("lab.expected", { text: said(found.expected) })),
    h("p", { class: "controls" }, measure, h("code", {}, `clearformer lab ${found.name}`)),
    found.short ? null : h("p", { class: "note" }, t("lab.long")),
    trouble,
    found.found ? evidence(found) : null,
    h("p", { class: "facts" }, t("lab.code", { files: found.code.join(", ") })));
}

function evidence({ found, name, timed, scale }) {
  const tables = found.tables.map((one) => ({ columns: one.columns[language()], rows: one.rows.map((row) => row[language()]), title: said(one.title) }));
  return [
    h("p", { class: "facts" }, t(`lab.of.${scale}`), timed ? ` ${t("lab.timed")}` : null),
    found.figures.map((one) => figure({ name: `lab-${name}-${one.name}`, title: said(one.caption), content: h("div", { class: "scroller", tabindex: "0", role: "group", "aria-label": said(one.caption) }, drawing(said(one.svg))), table: () => tables[0] })),
    tables.map(shownTable),
  ];
}

// The lab's drawings come as text that the library has written; they have no scripts and no styles.
function drawing(text) {
  return document.importNode(new DOMParser().parseFromString(text, "image/svg+xml").documentElement, true);
}

function shownTable({ title, columns, rows }) {
  return h("div", { class: "table-holder", tabindex: "0", role: "group", "aria-label": title }, h("table", {},
    h("caption", {}, title),
    h("thead", {}, h("tr", {}, columns.map((column) => (column ? h("th", { scope: "col" }, column) : h("td", {}))))),
    h("tbody", {}, rows.map((row) => h("tr", {}, row.map((cell) => h("td", {}, cell)))))));
}
