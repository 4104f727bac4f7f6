// The tokens of a picture, for every page about one: a token step by step from its pixels, and where a token looks in each
// layer and head. One token is followed, one looks; what is chosen stays while layers and heads change.

import { ask } from "./api.js";
import { h } from "./dom.js";
import { figure } from "./figure.js";
import { number, percent } from "./format.js";
import { t } from "./i18n.js";
import { placeName, tokenSteps } from "./patch.js";
import { painted, Photo, strongest } from "./photo.js";
import { note, selectField, Waiting } from "./sentence.js";
import { chosen } from "./store.js";
import { part, unpack } from "./tensor.js";

export class PatchParts {
  // onquery(query, found): another token is to look.
  constructor(model, { onquery = () => {} } = {}) {
    this.layers = model.attention_layers.filter((layer) => layer.stack === "encoder" && layer.kind === "self");
    this.onquery = onquery;
    [this.steps, this.attention] = ["token", "attention"].map((name) => new Waiting(name));
    this.element = h("div", {}, h("h3", { class: "section" }, t("picture.steps")), this.steps.element, h("h3", { class: "section" }, t("picture.attention")), this.attention.element);
  }

  // patch: the token that is followed; query: the one that looks.
  show(found, { patch, query }) {
    Object.assign(chosen, { patch, query });
    if (!found.side || !this.layers.length) return [this.steps, this.attention].forEach((one) => one.show(note(t("picture.notokens"))));
    this.showSteps(found);
    return this.showAttention(found);
  }

  clear() {
    [this.steps, this.attention].forEach((one) => one.clear());
  }

  follow(found, place) {
    chosen.patch = place;
    if (found.side && this.layers.length) this.showSteps(found);
  }

  showSteps(found) {
    const asked = { picture: found.picture, place: chosen.patch, feature: chosen.tokenFeature };
    this.steps.fill((signal) => ask("/api/picture/token", asked, { signal }),
      (token) => tokenSteps(found, token, { choose: (place) => this.follow(found, place), again: () => this.showSteps(found) }));
  }

  showAttention(found) {
    const choose = (query) => {
      chosen.query = query;
      this.showAttention(found);
      this.onquery(query, found);
    };
    chosen.pictureLayer = Math.min(chosen.pictureLayer ?? Infinity, this.layers.length - 1);
    this.attention.fill((signal) => ask("/api/picture/attention", { picture: found.picture, layer: chosen.pictureLayer, query: chosen.query }, { signal }),
      (weights) => attentionView(this.layers, found, weights, { again: () => this.showAttention(found), choose }));
  }
}

function attentionView(layers, found, answer, { again, choose }) {
  const weights = unpack(answer.weights);
  const heads = Array.from({ length: weights.shape[0] }, (_, head) => part(weights, head).values);
  const mean = heads[0].map((_, place) => heads.reduce((sum, one) => sum + one[place], 0) / heads.length);
  const views = [...heads.map((values, head) => ({ key: String(head), name: t("heads.head", { head: head + 1 }), values })),
    { key: "mean", name: t("heads.mean"), values: mean }, { key: "rollout", name: t("picture.rollout"), values: unpack(answer.rollout).values },
    ...(answer.pool ? [{ key: "pool", name: t("picture.pool"), values: unpack(answer.pool).values }] : [])];
  const view = views.find((one) => one.key === chosen.pictureHead) ?? views.find((one) => one.key === "mean");
  const pick = (key) => {
    chosen.pictureHead = key;
    again();
  };
  return [controls(layers, found, { again, choose }),
    h("div", { class: "thumbnail-list", role: "group", "aria-label": t("picture.heads") }, views.map((one) => thumbnail(found, one, one === view, pick))),
    large(layers, found, view, choose)];
}

function controls(layers, found, { again, choose }) {
  const options = layers.map((layer) => [String(layer.index), t("layer.self", { stack: t("stack.encoder"), layer: layer.index + 1 })]);
  return h("div", { class: "controls" },
    selectField(t("picture.layer"), options, String(chosen.pictureLayer), (value) => {
      chosen.pictureLayer = Number(value);
      again();
    }),
    found.extra ? h("button", { type: "button", "data-key": "class-token", "aria-pressed": String(chosen.query < found.extra), class: "toggle", onclick: () => choose(0) }, t("picture.from.class")) : null);
}

function thumbnail(found, { key, name, values }, current, pick) {
  const small = painted(found.canvas, { side: found.side, heat: values.slice(found.extra) }, 72);
  small.setAttribute("aria-hidden", "true");
  return h("button", { type: "button", class: "thumbnail", "data-key": `head-${key}`, "aria-pressed": String(current), "aria-label": t("picture.thumbnail", { name }), onclick: () => pick(key) }, small, h("span", { class: "thumbnail-name" }, name));
}

function large(layers, found, view, choose) {
  const { side, extra } = found;
  const heat = view.values.slice(extra);
  const query = placeName(found, chosen.query);
  const weightOf = (patch) => t("picture.weight", { query, key: placeName(found, patch + extra), weight: number(heat[patch]) });
  const photo = new Photo({ canvas: found.canvas, side, heat, key: "attention", label: t("picture.attention"), selected: chosen.query < extra ? null : chosen.query - extra, say: weightOf, onchoose: (patch) => choose(patch + extra) });
  const kind = view.key === "rollout" || view.key === "pool" ? view.key : "head";
  const title = t(`picture.large.${kind}`, { query, layer: chosen.pictureLayer + 1, head: view.name });
  const rest = extra ? t("picture.rest", { weight: percent(view.values.slice(0, extra).reduce((sum, one) => sum + one, 0)) }) : "";
  const caption = `${t(`picture.about.${kind}`)} ${t("picture.strongest", { limit: number(strongest(heat)) })} ${rest}`;
  return h("div", { "data-view": view.key }, figure({
    name: `attention-layer-${chosen.pictureLayer + 1}-${view.key}`, title, caption, content: photo.element, drawing: () => photo.drawing(), png: () => photo.png(),
    table: () => ({ columns: [t("picture.token"), t("picture.row"), t("picture.column"), t("cell.weight")], rows: Array.from(view.values, (weight, place) => [placeName(found, place), ...(place < extra ? ["", ""] : [Math.floor((place - extra) / side) + 1, ((place - extra) % side) + 1]), weight]) }),
  }), note(t("picture.click")));
}
