// Tokens as people read them. Invisible and direction-changing characters are made visible; parts of a character are
// shown as its bytes, with the character itself beside them.

import { h } from "./dom.js";
import { t } from "./i18n.js";

const INVISIBLE = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;
const NAMED = { "\n": "↵", "\t": "⇥", "\r": "␍" };

function visible(text) {
  return text.replace(INVISIBLE, (character) => NAMED[character] ?? `U+${character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}`);
}

// For axes and tables: short, never empty.
export function label(token) {
  if (token.kind === "bytes") return token.whole ? `${visible(token.whole)}·${token.text}` : token.text;
  const text = visible(token.text.replace(/^ /, ""));
  return text.trim() === "" ? "␣".repeat(Math.max(1, text.length)) : text;
}

// For rivals in one list: two that differ in the space before them alone show it.
export function labels(tokens) {
  const names = tokens.map(label);
  return names.map((name, place) => (names.indexOf(name) === names.lastIndexOf(name) || !tokens[place].text.startsWith(" ") || name.startsWith("␣") ? name : `␣${name}`));
}

export function shortLabel(token, length = 12) {
  return shorten(label(token), length);
}

export function shorten(name, length = 12) {
  const characters = [...name];
  return characters.length > length ? `${characters.slice(0, length - 1).join("")}…` : characters.join("");
}

// A token in a row of tokens; the space before a word is the gap before it.
export function chip(token, attributes = {}, tag = "span") {
  const classes = ["token", `token-${token.kind}`, token.starts ? "token-starts" : "", attributes.class ?? ""];
  return h(tag, { ...attributes, class: classes.join(" ").trim(), title: attributes.title ?? describeToken(token) }, h("bdi", {}, label(token)));
}

export function describeToken(token) {
  const about = token.kind === "bytes" && token.whole ? t("token.bytes", { character: visible(token.whole), bytes: token.text }) : label(token);
  return t("token.about", { token: about, id: token.id });
}
