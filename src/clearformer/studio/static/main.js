// The frame around the pages: which one is shown, in which language and theme.

import { ask } from "./api.js";
import { boxesPage } from "./boxes.js";
import { codePage } from "./code.js";
import { h, replace } from "./dom.js";
import { loadForm } from "./form.js";
import { short } from "./format.js";
import { headsPage } from "./heads.js";
import { language, preferredLanguage, setLanguage, t } from "./i18n.js";
import { labPage } from "./lab.js";
import { masksPage } from "./masks.js";
import { modelPage } from "./model.js";
import { nextPage } from "./next.js";
import { paintPage } from "./paint.js";
import { picturePage } from "./picture.js";
import { positionsPage } from "./positions.js";
import { recordingPage } from "./recording.js";
import { exampleFor, message } from "./sentence.js";
import { chosen, keep, restore } from "./store.js";
import { summaryPage } from "./summary.js";
import { trainingPage } from "./training.js";
import { translatePage } from "./translate.js";
import { treePage } from "./tree.js";
import { walkPage } from "./walk.js";
import { whyPage } from "./why.js";

const PAGES = { picture: picturePage, boxes: boxesPage, masks: masksPage, recording: recordingPage, paint: paintPage, code: codePage, translate: translatePage, summary: summaryPage, next: nextPage, walk: walkPage, heads: headsPage, why: whyPage, tree: treePage, training: trainingPage, model: modelPage, positions: positionsPage, lab: labPage };

let model = null;
let leave = null; // what the present page wants done before another one comes

// The page of each use of a model that reads no text.
const SENSES = { "picture-classification": "picture", detection: "boxes", segmentation: "masks", transcription: "recording", painting: "paint", autoencoding: "code" };

// The pages that have something to show of this model, the first of them for a start. Others still open by address.
function pagesOf() {
  const general = ["training", "model", "positions", "lab"];
  if (model.use in SENSES) return [SENSES[model.use], ...general];
  if (model.config.front.kind !== "tokens") return general;
  return [model.use === "summarization" ? "summary" : "translate", "next", "walk", "heads", "why", "tree", ...general];
}

function pageName() {
  const name = location.hash.replace(/^#\//, "");
  return name in PAGES ? name : pagesOf()[0];
}

// What the first page is for depends on what the model does.
function pageTitle(name) {
  return t(name === "translate" ? `page.${model.task}` : `page.${name}`);
}

function draw({ keepFocus = false } = {}) {
  const name = pageName();
  const focused = keepFocus ? document.activeElement?.id : null;
  leave?.();
  document.title = `${pageTitle(name)} · Clearformer`;
  document.documentElement.dataset.theme = chosen.theme;
  const main = h("main", { id: "main", tabindex: "-1" });
  replace(document.body, h("a", { class: "skip", href: "#main", onclick: (event) => {
    event.preventDefault();
    main.focus();
  } }, t("shell.skip")), header(), navigation(name), main, footer());
  leave = null;
  try {
    const page = PAGES[name](model, (action) => {
      leave = action;
    });
    main.append(page);
  } catch (error) {
    main.append(message(error, () => draw()));
    console.error(error);
  }
  if (focused) document.getElementById(focused)?.focus();
}

function header() {
  const facts = [model.name, model.family, t(`shape.${model.shape}`), t("shell.parameters", { count: short(model.parameters) })];
  return h("header", { class: "top" },
    h("div", {}, h("h1", { class: "wordmark" }, "Clearformer"), h("p", { class: "model-facts" }, facts.join(" · "))),
    h("div", { class: "switches" },
      h("button", { type: "button", id: "switch-language", class: "quiet", lang: language() === "zh" ? "en" : "zh-Hans", onclick: () => {
        chosen.language = language() === "zh" ? "en" : "zh";
        setLanguage(chosen.language);
        keep();
        draw({ keepFocus: true });
      } }, language() === "zh" ? "English" : "中文"),
      h("button", { type: "button", id: "switch-theme", class: "quiet", onclick: () => {
        const order = ["auto", "light", "dark"];
        chosen.theme = order[(order.indexOf(chosen.theme) + 1) % order.length];
        keep();
        draw({ keepFocus: true });
      } }, t(`theme.${chosen.theme}`))));
}

function navigation(current) {
  return h("nav", { class: "pages", "aria-label": t("shell.pages") }, h("ul", {}, pagesOf().map((name) => h("li", {}, h("a", { href: `#/${name}`, "aria-current": name === current ? "page" : null }, pageTitle(name))))));
}

function footer() {
  return h("footer", { class: "bottom" }, h("p", {}, t("shell.footer")));
}

async function start() {
  restore();
  setLanguage(chosen.language ?? preferredLanguage());
  document.documentElement.dataset.theme = chosen.theme;
  try {
    model = await ask("/api/model", null, { fresh: true });
    await loadForm();
  } catch (error) {
    replace(document.body, h("main", {}, h("h1", {}, "Clearformer"), message(error, start)));
    return;
  }
  chosen.text ??= exampleFor(model);
  draw();
  addEventListener("hashchange", () => {
    draw();
    scrollTo(0, 0);
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => draw());
}

start();
