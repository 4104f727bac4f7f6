// A walk through the model: one step at a time, with formula, picture and numbers together.

import { ask } from "./api.js";
import { cellPanel } from "./cell.js";
import { h, newId, replace } from "./dom.js";
import { figure } from "./figure.js";
import { formula, letter } from "./formula.js";
import { number, percent } from "./format.js";
import { askCell, currentInput, sides, layerName } from "./heads.js";
import { t } from "./i18n.js";
import { matrix } from "./matrix.js";
import { note, numberField, sentenceBox, Waiting } from "./sentence.js";
import { stepsOf } from "./steps.js";
import { chosen } from "./store.js";
import { part, unpack } from "./tensor.js";
import { describeToken, label, shortLabel } from "./tokens.js";

// leave(action): what is to be done when another page comes. offline: one sentence, and one feature of each output.
export function walkPage(model, leave, { offline = false } = {}) {
  const steps = stepsOf(model);
  const place = new Waiting("step");
  const arithmetic = new Waiting("cell");
  const bar = h("div", { class: "walk-bar" });
  const go = (step) => {
    chosen.step = Math.max(0, Math.min(steps.length - 1, step));
    chosen.cell = null;
    update();
  };
  const update = () => {
    chosen.step = Math.min(chosen.step, steps.length - 1);
    arithmetic.clear();
    replace(bar, walkBar(model, steps, go, update));
    const [step, input] = [steps[chosen.step], currentInput()];
    place.fill(() => gather(step, input), (found) => [
      offline && found.tokens.read_as ? note(t("remark.read", { text: found.tokens.read_as })) : null,
      showStep(model, step, found, (layer, tokens) => openCell(layer, tokens, input, arithmetic, offline)),
    ]);
  };
  const keys = (event) => {
    if (event.target.closest("input, textarea, select, button, summary, [role=application]")) return;
    if (event.key !== " " || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    go(chosen.step + (event.shiftKey ? -1 : 1));
  };
  document.addEventListener("keydown", keys);
  leave(() => document.removeEventListener("keydown", keys));
  update();
  return h("div", {}, h("h2", {}, t("walk.title")), h("p", { class: "lead" }, t("walk.lead")), offline ? null : sentenceBox(model, update), bar, place.element, arithmetic.element);
}

function openCell(layer, tokens, input, arithmetic, offline) {
  chosen.head = chosen.walkHead;
  const follow = (feature) => {
    chosen.feature = feature;
    openCell(layer, tokens, input, arithmetic, offline);
  };
  arithmetic.fill(() => askCell(layer, input), (operands) => cellPanel(operands, { ...sides(layer, tokens), onfeature: offline ? null : follow }));
}

async function gather(step, input) {
  const names = step.pictures.flatMap((picture) => [picture.value, picture.from]).filter(Boolean);
  const [tokens, values] = await Promise.all([ask("/api/trace", input), names.length ? ask("/api/values", { input, names }) : {}]);
  return { tokens, values: Object.fromEntries(Object.entries(values).map(([name, packed]) => [name, unpack(packed)])) };
}

function stepTitle(step) {
  return t(`walk.step.${step.name}`);
}

function groupTitle(step) {
  const stack = t(`stack.${step.stack}`);
  return step.index === null ? stack : t("walk.layer", { stack, layer: step.index + 1 });
}

// Where in the model a step is: its layer, and which part of it.
function placeTitle(step) {
  if (step.attention) return layerName(step.attention);
  return step.part ? t(`layer.${step.part}`, { stack: t(`stack.${step.stack}`), layer: step.index + 1 }) : groupTitle(step);
}

function walkBar(model, steps, go, update) {
  const step = steps[chosen.step];
  const id = newId("jump");
  const jump = h("select", { id, onchange: () => go(Number(jump.value)) });
  let group = null;
  let groupName = "";
  steps.forEach((one, place) => {
    if (groupTitle(one) !== groupName || group === null) {
      groupName = groupTitle(one);
      group = h("optgroup", { label: groupName });
      jump.append(group);
    }
    group.append(h("option", { value: place }, `${place + 1}. ${placeTitle(one)} · ${stepTitle(one)}`));
  });
  jump.value = chosen.step;
  return [
    h("button", { type: "button", onclick: () => go(chosen.step - 1), disabled: chosen.step === 0 }, t("walk.back")),
    h("button", { type: "button", class: "primary", onclick: () => go(chosen.step + 1), disabled: chosen.step === steps.length - 1 }, t("walk.next")),
    h("span", { class: "field" }, h("label", { for: id }, t("walk.jump")), jump),
    step.attention ? numberField(t("walk.head"), chosen.walkHead + 1, { min: 1, max: step.attention.heads }, (head) => {
      chosen.walkHead = head - 1;
      chosen.cell = null;
      update();
    }) : null,
    h("progress", { max: steps.length, value: chosen.step + 1, "aria-label": t("walk.progress", { step: chosen.step + 1, all: steps.length }) }),
  ];
}

function showStep(model, step, found, opencell) {
  const values = { d: model.config.dim, k: step.attention?.key_dim ?? "", heads: step.attention?.heads ?? "", vocabulary: model.config.vocab_size, hidden: model.config.hidden_dim };
  return h("section", { class: "step", "data-step": step.name },
    h("h3", {}, h("span", { class: "step-place" }, `${placeTitle(step)} `), stepTitle(step)),
    step.formula ? h("p", { class: "step-formula" }, formula(step.formula)) : null,
    h("p", { class: "step-text" }, t(`walk.about.${step.name}`, values)),
    h("div", { class: step.pictures.length > 1 ? "pictures" : "" }, step.pictures.map((picture) => draw(model, step, picture, found, opencell))));
}

function draw(model, step, picture, found, opencell) {
  const makers = { text: drawText, tokens: drawTokens, vectors: drawVectors, projected: drawProjected, attention: drawAttention, heads: drawHeads, prediction: drawPrediction };
  return makers[picture.kind](step, picture, found, opencell, model);
}

function tokensOf(step, tokens) {
  return step.stack === "decoder" && tokens.target.length ? tokens.target : tokens.source;
}

function drawText(step, picture, found) {
  return h("blockquote", { class: "given", dir: "auto" }, chosen.text);
}

function drawTokens(step, picture, found) {
  const tokens = tokensOf(step, found.tokens);
  return h("div", { class: "scroller", tabindex: "0", role: "group", "aria-label": t("walk.tokens") },
    h("table", { class: "token-table" },
      h("thead", {}, h("tr", {}, h("th", { scope: "col" }, t("walk.place")), h("th", { scope: "col" }, t("walk.token")), h("th", { scope: "col" }, t("walk.id")))),
      h("tbody", {}, tokens.map((token, place) => h("tr", { title: describeToken(token) }, h("td", {}, place), h("th", { scope: "row" }, h("bdi", { class: `token token-${token.kind}` }, label(token))), h("td", {}, token.id))))));
}

function drawVectors(step, picture, found) {
  const tensor = found.values[picture.value];
  const tokens = sequenceOf(step, found.tokens, tensor.shape[0]);
  const from = picture.from ? found.values[picture.from] : null;
  const width = tensor.shape[1];
  const view = matrix({
    rows: tokens.map((token) => shortLabel(token)), columns: Array.from({ length: width }, (_, place) => String(place)), values: tensor.values, palette: "diverging",
    rowAxis: t("walk.token"), columnAxis: t("walk.feature"), label: picture.value, cell: { width: width <= 32 ? 16 : width <= 64 ? 10 : 6, height: 20 },
    say: (row, column, value) => (from && picture.factor !== 1 ? t("walk.say.scaled", { token: label(tokens[row]), feature: column, from: number(from.values[row * width + column]), factor: number(picture.factor), value: number(value) }) : t("walk.say.vector", { token: label(tokens[row]), feature: column, value: number(value) })),
  });
  return figure({ name: picture.value, title: picture.title ? t(picture.title) : stepTitle(step), caption: t("walk.shape", { rows: tensor.shape[0], columns: width }), content: view.element, table: () => view.table(), drawing: () => view.drawing() });
}

function sequenceOf(step, tokens, length) {
  const own = tokensOf(step, tokens);
  return own.length === length ? own : tokens.source;
}

function drawProjected(step, picture, found) {
  const tensor = found.values[picture.value];
  const { layer } = picture;
  const isKey = picture.letter === "k" || picture.letter === "v";
  const head = isKey ? Math.floor(chosen.walkHead / (layer.heads / layer.kv_heads)) : chosen.walkHead;
  const values = part(tensor, Math.min(head, tensor.shape[0] - 1));
  const { queries, keys } = sides(layer, found.tokens);
  const tokens = isKey ? keys : queries;
  const width = values.shape[1];
  const view = matrix({
    rows: tokens.map((token) => shortLabel(token)), columns: Array.from({ length: width }, (_, place) => String(place)), values: values.values, palette: "diverging",
    rowAxis: t("walk.token"), columnAxis: t("walk.feature"), label: `${picture.value} ${head + 1}`, cell: { width: width <= 16 ? 20 : width <= 40 ? 9 : 6, height: 20 },
    say: (row, column, value) => t("walk.say.vector", { token: label(tokens[row]), feature: column, value: number(value) }),
  });
  const title = picture.letter ? h("span", {}, letter(picture.letter.toUpperCase()), ` ${t(`walk.picture.${picture.letter}`)}`) : t("walk.picture.z");
  return figure({ name: `${picture.value}-${head + 1}`, title, caption: t("walk.shape", { rows: values.shape[0], columns: width }), content: view.element, table: () => view.table(), drawing: () => view.drawing() });
}

function drawAttention(step, picture, found, opencell) {
  const { layer } = picture;
  const tensor = part(found.values[picture.value], chosen.walkHead);
  const { queries, keys } = sides(layer, found.tokens);
  const causal = layer.kind === "masked" && (picture.masked || picture.palette === "sequential");
  const values = picture.masked ? tensor.values.map((value) => (value < -1e30 ? 0 : value)) : tensor.values;
  const view = matrix({
    rows: queries.map((token) => shortLabel(token)), columns: keys.map((token) => shortLabel(token)), values, palette: picture.palette,
    rowAxis: t("heads.query"), columnAxis: t("heads.key"), label: stepTitle(step), hidden: causal ? (row, column) => column > row : null,
    say: (row, column, value) => (causal && column > row ? t("walk.say.hidden", { query: label(queries[row]), key: label(keys[column]) }) : t("heads.cell", { query: label(queries[row]), key: label(keys[column]), weight: number(value) })),
    onopen: (row, column) => {
      chosen.cell = [row, column];
      opencell(layer, found.tokens);
    },
  });
  return figure({ name: `${picture.value}-${chosen.walkHead + 1}`, title: stepTitle(step), caption: layer.exact ? t("heads.click") : "", content: view.element, table: () => view.table(), drawing: () => view.drawing() });
}

function drawHeads(step, picture, found) {
  const tensor = found.values[picture.value];
  const { queries, keys } = sides(picture.layer, found.tokens);
  const side = Math.max(3, Math.min(9, Math.floor(150 / Math.max(queries.length, keys.length))));
  return h("div", { class: "small-heads" }, Array.from({ length: tensor.shape[0] }, (_, head) => {
    const view = matrix({ rows: queries.map(() => ""), columns: keys.map(() => ""), values: part(tensor, head).values, rowAxis: "", columnAxis: t("heads.head", { head: head + 1 }), label: t("heads.head", { head: head + 1 }), cell: { width: side, height: side }, say: (row, column, value) => t("heads.cell", { query: label(queries[row]), key: label(keys[column]), weight: number(value) }) });
    return view.element;
  }));
}

function drawPrediction(step, picture, found) {
  const tokens = tokensOf(step, found.tokens);
  const rows = tokens.map((token, place) => ({ token, choices: found.tokens.predictions[place] ?? [] }));
  const table = () => ({ columns: [t("walk.token"), ...[1, 2, 3, 4, 5].flatMap((rank) => [t("walk.rank", { rank }), "p"])], rows: rows.map(({ token, choices }) => [label(token), ...choices.flatMap((choice) => [label(choice), choice.probability])]) });
  const content = h("div", { class: "scroller", tabindex: "0", role: "group", "aria-label": t("walk.step.prediction") }, h("table", { class: "predictions" },
    h("thead", {}, h("tr", {}, h("th", { scope: "col" }, t("walk.after")), h("th", { scope: "col", colspan: "5" }, t("walk.likeliest")))),
    h("tbody", {}, rows.map(({ token, choices }) => h("tr", {}, h("th", { scope: "row" }, h("bdi", {}, label(token))), choices.map((choice) => h("td", {}, h("span", { class: "probability", style: { "--sure": choice.probability.toFixed(3) } }, h("bdi", {}, label(choice)), " ", percent(choice.probability)))))))));
  return h("div", {}, content, h("details", { class: "data" }, h("summary", {}, t("figure.data")), h("pre", { tabindex: "0" }, table().rows.map((row) => row.join("\t")).join("\n"))));
}
