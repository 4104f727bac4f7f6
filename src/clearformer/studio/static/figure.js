// The frame of every figure: a title, what it shows, the same data as a table, and ways to save it.

import { h, replace, svg } from "./dom.js";
import { formula } from "./formula.js";
import { number } from "./format.js";
import { language, t } from "./i18n.js";

const INLINED = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray", "opacity", "font-family", "font-size", "font-weight", "font-style", "text-anchor", "dominant-baseline"];
const TABLE_ROWS = 400;

// name: of the files; table: a function that gives { columns, rows }; drawing: a function that gives an <svg>, where the
// one in the content would not do (false: there is nothing drawn); png: a function that promises a picture of pixels, where the figure is one.
export function figure({ name, title, caption = "", math = null, content, table, drawing = null, png = null }) {
  const image = drawing || (() => content.querySelector("svg"));
  const save = (kind, make) => h("button", { type: "button", class: "quiet", onclick: async () => download(`${name}.${kind}`, await make()), title: t(`figure.save.${kind}`) }, kind.toUpperCase());
  return h("figure", { class: "figure" },
    h("figcaption", {},
      h("div", { class: "figure-head" },
        h("h3", {}, title),
        h("div", { class: "figure-tools", role: "group", "aria-label": t("figure.save", { title: textOf(title) }) },
          drawing === false ? null : save("svg", () => standalone(image(), textOf(title))), png ? save("png", png) : null, save("csv", () => toCsv(table())), save("json", () => toJson(textOf(title), table())))),
      math ? h("p", { class: "step-formula" }, formula(math)) : null,
      caption ? h("p", { class: "caption" }, caption) : null),
    h("div", { class: "figure-body" }, content),
    dataTable(textOf(title), table));
}

// A title may have coloured letters in it.
function textOf(title) {
  return title instanceof Node ? title.textContent : title;
}

// The table is made when somebody opens it: a screen reader needs it whole, the page does not.
function dataTable(title, table) {
  const holder = h("div", { class: "table-holder", tabindex: "0", role: "group", "aria-label": t("figure.table", { title }) });
  const details = h("details", { class: "data" }, h("summary", {}, t("figure.data")), holder);
  details.addEventListener("toggle", () => {
    if (!details.open || holder.firstChild) return;
    const { columns, rows } = table();
    const shown = rows.slice(0, TABLE_ROWS);
    replace(holder,
      h("table", {},
        h("caption", { class: "hidden" }, title),
        h("thead", {}, h("tr", {}, columns.map((column) => h("th", { scope: "col" }, column)))),
        h("tbody", {}, shown.map((row) => h("tr", {}, row.map((entry, place) => h(place === 0 ? "th" : "td", place === 0 ? { scope: "row" } : {}, h("bdi", {}, cellText(entry)))))))),
      rows.length > shown.length ? h("p", { class: "caption" }, t("figure.more", { shown: shown.length, all: rows.length })) : null);
  });
  return details;
}

function cellText(entry) {
  return typeof entry === "number" ? (Number.isInteger(entry) ? String(entry) : number(entry)) : String(entry ?? "");
}

function toCsv({ columns, rows }) {
  const quote = (entry) => {
    const text = String(entry ?? "");
    return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return new Blob([[columns, ...rows].map((row) => row.map(quote).join(",")).join("\r\n"), "\r\n"], { type: "text/csv" });
}

function toJson(title, { columns, rows }) {
  return new Blob([JSON.stringify({ title, language: language(), columns, rows }, null, 1)], { type: "application/json" });
}

// A copy of a drawing that looks the same anywhere: styles become attributes, the page's background a rectangle.
export function standalone(original, title) {
  const copy = original.cloneNode(true);
  const from = [original, ...original.querySelectorAll("*")];
  const to = [copy, ...copy.querySelectorAll("*")];
  from.forEach((element, place) => inlineStyles(element, to[place]));
  const { width, height } = original.viewBox.baseVal;
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("width", width);
  copy.setAttribute("height", height);
  for (const name of ["tabindex", "class", "role", "aria-describedby"]) copy.removeAttribute(name);
  const paper = getComputedStyle(document.body).backgroundColor;
  copy.prepend(svg("title", {}, title), svg("rect", { width, height, fill: paper }));
  // pixels inside a drawing get their name only now: the page's policy forbids to load them here
  const text = new XMLSerializer().serializeToString(copy).replaceAll('data-href="data:image/png', 'href="data:image/png');
  return new Blob([`<?xml version="1.0" encoding="UTF-8"?>\n`, text], { type: "image/svg+xml" });
}

function inlineStyles(element, copy) {
  const style = getComputedStyle(element);
  for (const property of INLINED) {
    const value = style.getPropertyValue(property);
    if (value && !copy.hasAttribute(property)) copy.setAttribute(property, value);
  }
  copy.removeAttribute("style");
  copy.removeAttribute("class");
}

function download(fileName, blob) {
  const address = URL.createObjectURL(blob);
  const link = h("a", { href: address, download: fileName });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
