// The walk-through as a page of its own: no server, the answers are inside.

import { prepareAnswers } from "./api.js";
import { h, replace } from "./dom.js";
import { language, setLanguage, t } from "./i18n.js";
import { chosen } from "./store.js";
import { walkPage } from "./walk.js";

const given = JSON.parse(document.getElementById("answers").textContent);
prepareAnswers(given);
setLanguage(given.language);
chosen.text = given.text;

let leaveOffline = null;

function drawOffline() {
  leaveOffline?.();
  document.documentElement.dataset.theme = chosen.theme;
  document.title = `${t("walk.title")} · Clearformer`;
  const model = given.answers["/api/model"];
  replace(document.body,
    h("header", { class: "top" },
      h("div", {}, h("h1", { class: "wordmark" }, "Clearformer"), h("p", { class: "model-facts" }, `${model.name} · ${model.family} · ${t(`shape.${model.shape}`)}`)),
      h("div", { class: "switches" },
        h("button", { type: "button", class: "quiet", lang: language() === "zh" ? "en" : "zh-Hans", onclick: () => {
          setLanguage(language() === "zh" ? "en" : "zh");
          drawOffline();
        } }, language() === "zh" ? "English" : "中文"),
        h("button", { type: "button", class: "quiet", onclick: () => {
          chosen.theme = { auto: "light", light: "dark", dark: "auto" }[chosen.theme];
          drawOffline();
        } }, t(`theme.${chosen.theme}`)))),
    h("main", {}, walkPage(model, (action) => {
      leaveOffline = action;
    }, { offline: true })),
    h("footer", { class: "bottom" }, h("p", {}, t("shell.footer"))));
}

drawOffline();
