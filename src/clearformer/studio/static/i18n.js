// Every word on the page comes from one of two catalogues; switching between them needs no reload.

import { ENGLISH } from "./en.js";
import { CHINESE } from "./zh.js";

const CATALOGUES = { en: ENGLISH, zh: CHINESE };

let current = "en";

export function language() {
  return current;
}

export function setLanguage(code) {
  current = code in CATALOGUES ? code : "en";
  document.documentElement.lang = current === "zh" ? "zh-Hans" : "en";
}

export function preferredLanguage() {
  return navigator.language.toLowerCase().startsWith("zh") ? "zh" : "en";
}

// The text of a key, with {names} filled in. A missing key shows itself, so that nobody overlooks it.
export function t(key, values = {}) {
  const text = CATALOGUES[current][key] ?? `⟦${key}⟧`;
  return text.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? String(values[name]) : whole));
}
