// What a language model expects next while a text is typed, how much each token surprised it, and how it came to that.

import { ask } from "./api.js";
import { bars } from "./bars.js";
import { h } from "./dom.js";
import { figure } from "./figure.js";
import { number, percent, share } from "./format.js";
import { t } from "./i18n.js";
import { lensFigure } from "./lens.js";
import { css, ink, sequential } from "./palette.js";
import { partsFigures } from "./parts.js";
import { note, selectField, sentenceBox, setText, Waiting } from "./sentence.js";
import { chosen } from "./store.js";
import { chip, label, labels, shorten } from "./tokens.js";
import { wordsDrawing } from "./why.js";

const DARKEST = 10; // nats: one scale for every text, so that shades do not change while somebody types

export function nextPage(model, onleave) {
  const title = h("h2", {}, t("next.title"));
  if (model.shape !== "decoder" || model.config.head.kind !== "language-model") return h("div", {}, title, note(t("next.none")));
  const [expected, lens, parts] = ["next", "lens", "parts"].map((name) => new Waiting(name));
  let offered = null; // the candidates on the page, and the text that they belong to
  const update = () => {
    const asked = { text: chosen.text, place: chosen.place };
    expected.fill((signal) => ask("/api/next", asked, { signal }), (found) => {
      const last = found.place === found.tokens.length - 1;
      offered = { text: asked.text, candidates: last ? found.likeliest : [] };
      lookInside(asked.text, found);
      return [surprises(found, choosePlace), candidates(found, last, take)];
    }, () => [lens, parts].forEach((part) => part.clear()));
  };
  const lookInside = (text, found) => {
    const asked = { text, place: found.place, token: chosen.token };
    lens.fill((signal) => ask("/api/lens", asked, { signal }), (layers) => [rivals(found, layers.token, chooseToken), lensFigure(layers)]);
    if (model.config.norm.place === "post" || model.config.head.transform) parts.show(note(t("parts.none")));
    else parts.fill((signal) => ask("/api/parts", { ...asked, against: chosen.against }, { signal }), (sum) => partsFigures(sum));
  };
  const choosePlace = (place, last) => {
    [chosen.place, chosen.token, chosen.against] = [place === last ? null : place, null, null];
    update();
  };
  const chooseToken = (name, id) => {
    chosen[name] = id;
    update();
  };
  const take = (candidate) => {
    if (candidate.adds === null || offered?.text !== chosen.text) return; // the page is behind what was typed
    box.querySelector("textarea").value = setText(chosen.text + candidate.adds);
    update();
  };
  const box = sentenceBox(model, update);
  onleave(() => [expected, lens, parts].forEach((part) => part.clear()));
  update();
  return h("div", { onkeydown: (event) => {
    const digit = event.altKey && /^Digit\d$/.test(event.code) ? (Number(event.code.at(-1)) + 9) % 10 : null;
    if (digit === null || !offered?.candidates[digit]) return;
    event.preventDefault();
    take(offered.candidates[digit]);
  } }, title, h("p", { class: "lead" }, t("next.lead")), box, expected.element, h("h3", { class: "section" }, t("next.inside")), lens.element, parts.element);
}

// --- what was typed ---------------------------------------------------------------------------------------------------

function surprises(found, choosePlace) {
  const counted = found.tokens.filter((token) => token.surprise !== null);
  const mean = counted.reduce((sum, token) => sum + token.surprise, 0) / counted.length;
  const readout = h("p", { class: "readout", "aria-live": "polite" }, t("next.hint"));
  const tint = (surprise) => sequential(Math.min(1, surprise / DARKEST));
  const shades = found.tokens.map((token, place) => {
    const about = told(token);
    const tell = () => {
      readout.textContent = about;
    };
    const colour = token.surprise === null ? {} : { "background-color": css(tint(token.surprise)), color: ink(tint(token.surprise)) };
    return chip(token, { type: "button", class: "shade", "data-key": `token/${place}`, "data-surprise": token.surprise?.toFixed(4), "aria-label": about, title: about, "aria-pressed": String(place === found.place), style: colour, onpointerenter: tell, onfocus: tell, onclick: () => choosePlace(place, found.tokens.length - 1) }, "button");
  });
  return figure({
    name: "surprise", title: t("next.surprise"), caption: t("next.surprise.about", { limit: DARKEST }),
    content: h("div", {}, h("p", { class: "tokens shades", dir: "auto" }, shades), readout,
      counted.length ? h("p", { class: "facts", "data-mean": mean.toFixed(6) }, t("next.mean", { count: counted.length, mean: number(mean), perplexity: number(Math.exp(mean), 2) })) : null),
    table: () => ({ columns: [t("walk.token"), t("next.nats"), t("next.probability"), t("next.rank")], rows: found.tokens.map((token) => [label(token), token.surprise ?? "", token.surprise === null ? "" : Math.exp(-token.surprise), token.rank ?? ""]) }),
    drawing: () => wordsDrawing(found.tokens.map((token) => ({ word: label(token), score: token.surprise ?? 0 })), tint),
  });
}

function told(token) {
  if (token.surprise === null) return t("next.first", { token: label(token) });
  return t("next.token", { token: label(token), nats: number(token.surprise, 2), sure: percent(Math.exp(-token.surprise)), rank: token.rank });
}

// --- what may come ----------------------------------------------------------------------------------------------------

function candidates(found, last, take) {
  const after = t("next.after", { token: label(found.tokens[found.place]) });
  const [names, follows] = [labels(found.likeliest), last ? null : found.tokens[found.place + 1].id];
  const rows = found.likeliest.map((candidate, place) => h("tr", { class: candidate.id === follows ? "chosen" : null },
    h("td", { class: "key" }, last ? h("kbd", {}, (place + 1) % 10) : null),
    h("th", { scope: "row" }, named(candidate, names[place], place, last, take)),
    h("td", { class: "share", "data-probability": candidate.probability.toFixed(6) }, h("span", { class: "bar", style: { "--share": candidate.probability.toFixed(4) } }), share(candidate.probability))));
  return figure({
    name: "next-tokens", title: after, caption: t(last ? "next.candidates.about" : "next.candidates.past"),
    content: h("div", {}, h("div", { class: "table-holder", tabindex: "0", role: "group", "aria-label": after }, h("table", { class: "costs candidates" }, h("caption", { class: "hidden" }, after), h("tbody", {}, rows))),
      h("p", { class: "facts" }, t("next.entropy", { entropy: number(found.entropy, 2) }))),
    table: () => ({ columns: [t("walk.token"), t("walk.id"), t("next.probability")], rows: found.likeliest.map((candidate, place) => [names[place], candidate.id, candidate.probability]) }),
    drawing: () => bars({ rows: found.likeliest.map((candidate, place) => ({ name: shorten(names[place], 20), value: candidate.probability })), label: after, say: share }),
  });
}

function named(candidate, name, place, last, take) {
  if (!last) return h("bdi", {}, name);
  const about = t(candidate.adds === null ? "next.untyped" : "next.take", { token: name, key: (place + 1) % 10 });
  return h("button", { type: "button", class: "candidate", "data-key": `candidate/${place}`, "aria-disabled": candidate.adds === null ? "true" : null, title: about, onclick: () => take(candidate) }, h("bdi", {}, name));
}

// Which token is followed through the model, and which it is set against.
function rivals(found, token, choose) {
  const follows = found.tokens[found.place + 1];
  const known = [...new Map([...found.likeliest, ...(follows ? [follows] : []), token].map((one) => [one.id, one])).values()];
  const names = labels(known);
  const options = known.map((one, place) => [String(one.id), names[place]]);
  const pick = (name) => (value) => choose(name, value === "" ? null : Number(value));
  return h("div", { class: "controls" },
    selectField(t("parts.token"), options, String(token.id), pick("token")),
    selectField(t("parts.against"), [["", t("parts.alone")], ...options.filter(([id]) => id !== String(token.id))], chosen.against === null ? "" : String(chosen.against), pick("against")));
}
