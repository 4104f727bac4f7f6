// Formulas in plain HTML. The letters Q, K and V have one colour each, here and everywhere.

import { h } from "./dom.js";

const LETTERS = { Q: "q", K: "k", V: "v", q: "q", k: "k", v: "v" };

// In the text, {Q} is a coloured letter, _{…} is set below, ^{…} above.
export function formula(text) {
  return h("span", { class: "formula" }, ...pieces(text));
}

function pieces(text) {
  const found = [];
  const pattern = /\{([QKVqkv])\}|_\{([^}]*)\}|\^\{([^}]*)\}/g;
  let last = 0;
  for (const match of text.matchAll(pattern)) {
    if (match.index > last) found.push(text.slice(last, match.index));
    if (match[1]) found.push(letter(match[1]));
    else if (match[2] !== undefined) found.push(h("sub", {}, match[2]));
    else found.push(h("sup", {}, match[3]));
    last = match.index + match[0].length;
  }
  if (last < text.length) found.push(text.slice(last));
  return found;
}

export function letter(name) {
  return h("var", { class: `letter letter-${LETTERS[name]}` }, name);
}
