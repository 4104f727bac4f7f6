// What a model of speech hears: the text, the spectrum as it reads it, and for each token where it looked or spoke.

import { ask, sendFile } from "./api.js";
import { h } from "./dom.js";
import { figure } from "./figure.js";
import { number, percent } from "./format.js";
import { t } from "./i18n.js";
import { matrix } from "./matrix.js";
import { note, selectField, Waiting } from "./sentence.js";
import { Spectrogram } from "./spectrogram.js";
import { chosen } from "./store.js";
import { part, unpack } from "./tensor.js";
import { fileBox } from "./upload.js";

const FEW = 500; // pieces in the vocabulary of a model that knows some words alone

export function recordingPage(model, onleave) {
  const title = h("h2", {}, t("sound.title"));
  if (model.use !== "transcription") return h("div", {}, title, note(t("sound.none")));
  const [said, heard, labels] = ["sound", "heard", "labels"].map((name) => new Waiting(name));
  const player = new Player();
  onleave(() => player.stop());
  const showToken = (found, piece) => {
    const asked = { sound: found.sound, piece: chosen.piece, layer: chosen.soundLayer, head: chosen.soundHead, token: chosen.soundToken };
    const again = () => showToken(found, piece);
    heard.fill((signal) => ask("/api/sound/attention", asked, { signal }), (answer) => [piecePicker(found, openPiece), tokenView(found, piece, answer, again)]);
  };
  const openPiece = (found, number) => {
    Object.assign(chosen, { piece: number, soundToken: 0 });
    labels.clear();
    heard.fill((signal) => ask("/api/sound/piece", { sound: found.sound, piece: number }, { signal }), (piece) => {
      chosen.soundToken = Math.max(0, piece.tokens.findIndex((token) => token.kind !== "special"));
      if (piece.labels) labels.show(labelView(piece));
      if (!piece.tokens.length) return [piecePicker(found, openPiece), silence(piece)];
      showToken(found, piece);
      return null;
    });
  };
  const look = (file) => {
    Object.assign(chosen, { file, soundHead: null });
    player.stop();
    heard.clear();
    labels.clear();
    said.fill((signal) => sendFile("/api/sound", file, { signal }), (found) => {
      chosen.soundLayer = found.layers.length - 1;
      if (found.pieces.length) openPiece(found, 0);
      return transcript(found, player.button(file));
    });
  };
  const names = model.config.vocab_size < FEW ? ["digits", "speech"] : ["speech", "digits"];
  const examples = names.map((name) => ({ name: t(`sound.example.${name}`), address: `/${name}.wav` }));
  const box = fileBox({ name: t("sound.choose"), hint: t("sound.drop"), accept: "audio/*,.flac", examples, onfile: look });
  if (chosen.file) look(chosen.file);
  else fetch(examples[0].address).then((answer) => answer.blob()).then(look, () => {});
  return h("div", {}, title, h("p", { class: "lead" }, t("sound.lead")), box, said.element, h("h3", { class: "section" }, t("sound.heard")), heard.element, labels.element);
}

// The browser's own decoder plays what was given; the model hears it at its own rate.
class Player {
  constructor() {
    this.context = null;
  }

  stop() {
    this.context?.close();
    this.context = null;
  }

  button(file) {
    const told = h("span", { class: "facts", role: "status" });
    return h("p", {}, h("button", { type: "button", class: "quiet", onclick: async () => {
      this.stop();
      try {
        const context = new AudioContext();
        this.context = context;
        const source = context.createBufferSource();
        source.buffer = await context.decodeAudioData(await file.arrayBuffer());
        source.connect(context.destination);
        source.start();
      } catch {
        told.textContent = t("sound.mute");
      }
    } }, t("sound.play")), told);
  }
}

function transcript(found, button) {
  const facts = t("sound.facts", { seconds: number(found.seconds, 1), rate: found.rate, read: found.read_rate, pieces: found.pieces.length });
  const parts = found.segments.flatMap((one) => (one.words.length ? one.words : [one]));
  return h("div", { "data-text": found.text }, figure({
    name: "transcript", title: t("sound.text"), caption: facts,
    content: h("div", {}, h("p", { class: "given", dir: "auto" }, found.text || t("sound.nothing")), button),
    drawing: false, table: () => ({ columns: [t("sound.start"), t("sound.end"), t("sound.words")], rows: parts.map((one) => [one.start, one.end, one.text]) }),
  }));
}

function piecePicker(found, open) {
  if (found.pieces.length < 2) return null;
  const options = found.pieces.map((one, place) => [String(place), t("sound.piece", { number: place + 1, start: number(one.start, 1), end: number(one.end, 1) })]);
  return h("div", { class: "controls" }, selectField(t("sound.pieces"), options, String(chosen.piece), (value) => open(found, Number(value))));
}

function silence(piece) {
  const view = new Spectrogram({ ...spectrum(piece), label: t("sound.spectrogram") });
  return figure({ name: "spectrogram", title: t("sound.spectrogram"), caption: t("sound.nothing"), content: view.element, drawing: () => view.drawing(), table: () => frameTable(piece) });
}

function spectrum(piece) {
  return { frames: unpack(piece.frames), step: piece.step, start: piece.start, begin: piece.begin };
}

function frameTable(piece) {
  const { shape: [count, mels], values } = unpack(piece.frames);
  return { columns: [t("sound.time"), ...Array.from({ length: mels }, (_, mel) => t("sound.band", { band: mel + 1 }))], rows: Array.from({ length: count }, (_, frame) => [+(piece.start + frame * piece.step).toFixed(4), ...values.subarray(frame * mels, (frame + 1) * mels)]) };
}

// --- one token --------------------------------------------------------------------------------------------------------

function tokenView(found, piece, answer, again) {
  const weights = unpack(answer.weights);
  const heads = weights.shape[0];
  const own = Array.from({ length: heads }, (_, head) => part(weights, head).values);
  const heat = chosen.soundHead === null ? own[0].map((_, state) => own.reduce((sum, one) => sum + one[state], 0) / heads) : own[chosen.soundHead];
  const token = piece.tokens[chosen.soundToken];
  const labelled = piece.spans.length > 0;
  const span = labelled ? piece.spans[chosen.soundToken] : null;
  const names = { token: token.text.trim() || token.text, layer: chosen.soundLayer + 1, head: chosen.soundHead === null ? t("heads.mean") : t("heads.head", { head: chosen.soundHead + 1 }) };
  const title = t(labelled ? "sound.looks.frames" : "sound.looks", names);
  const view = new Spectrogram({ ...spectrum(piece), heat, span, label: title });
  const peak = heat.indexOf(Math.max(...heat));
  const beyond = unpack(answer.beyond).values;
  const lost = chosen.soundHead === null ? beyond.reduce((sum, one) => sum + one, 0) / heads : beyond[chosen.soundHead];
  const facts = [t("sound.peak", { time: number(view.time(view.at(peak) + 1), 2), weight: number(heat[peak]) }), span ? t("sound.span", { start: number(view.time(view.at(span[0])), 2), end: number(view.time(view.at(span[1] + 1)), 2) }) : "", lost > 0.0005 ? t("sound.beyond", { share: percent(lost) }) : ""];
  const rows = () => Array.from(heat, (_, state) => [+view.time(view.at(state)).toFixed(4), ...own.map((one) => one[state])]);
  return h("div", { "data-token": chosen.soundToken },
    tokenRow(piece, again), controls(found, heads, again),
    figure({ name: `spectrogram-token-${chosen.soundToken + 1}`, title, caption: [t(labelled ? "sound.looks.about.frames" : "sound.looks.about"), ...facts].join(" "), content: view.element, drawing: () => view.drawing(),
      table: () => ({ columns: [t("sound.time"), ...own.map((_, head) => t("heads.head", { head: head + 1 }))], rows: rows() }) }),
    allTokens(piece, view, answer, names, again));
}

function tokenRow(piece, again) {
  return h("p", { class: "tokens shades", role: "group", "aria-label": t("sound.tokens"), dir: "auto" }, piece.tokens.map((token, place) => h("button", {
    type: "button", class: `token shade${token.kind === "special" ? " token-special" : ""}${token.starts ? " token-starts" : ""}`, "data-key": `token-${place}`, "aria-pressed": String(place === chosen.soundToken), onclick: () => {
      chosen.soundToken = place;
      again();
    },
  }, token.text.trim() || "␣")));
}

function controls(found, heads, again) {
  const layers = found.layers.map((layer, place) => [String(place), t(`layer.${layer.kind}`, { stack: t(`stack.${layer.stack}`), layer: layer.index + 1 })]);
  const choices = [["mean", t("heads.mean")], ...Array.from({ length: heads }, (_, head) => [String(head), t("heads.head", { head: head + 1 })])];
  return h("div", { class: "controls" },
    selectField(t("picture.layer"), layers, String(chosen.soundLayer), (value) => {
      chosen.soundLayer = Number(value);
      again();
    }),
    selectField(t("heads.title"), choices, chosen.soundHead === null ? "mean" : String(chosen.soundHead), (value) => {
      chosen.soundHead = value === "mean" ? null : Number(value);
      again();
    }));
}

function allTokens(piece, view, answer, names, again) {
  const { shape: [, states], values } = unpack(answer.map);
  const times = Array.from({ length: states }, (_, state) => number(view.time(view.at(state)), 2));
  const rows = piece.tokens.map((token) => token.text.trim() || "␣");
  const title = t("sound.map", names);
  const grid = matrix({
    rows, columns: times, values, max: Math.max(...values), rowAxis: t("picture.token"), columnAxis: t("sound.time"), label: title, selected: [chosen.soundToken, 0], cell: { width: Math.max(3, Math.min(14, 900 / states)), height: 18 },
    say: (row, column, weight) => t("sound.cell", { token: rows[row], time: times[column], weight: number(weight) }),
    onopen: (row) => {
      chosen.soundToken = row;
      again();
    },
  });
  return figure({ name: `tokens-layer-${chosen.soundLayer + 1}`, title, caption: t(piece.spans.length ? "sound.map.about.frames" : "sound.map.about"), content: grid.element, drawing: () => grid.drawing(), table: () => grid.table() });
}

// --- what each frame says ---------------------------------------------------------------------------------------------

function labelView(piece) {
  const { shape: [, states], values } = unpack(piece.labels.shares);
  const at = (state) => piece.start + (2 * state - piece.begin) * piece.step;
  const times = Array.from({ length: states }, (_, state) => number(at(state), 2));
  const rows = piece.labels.names.map((name) => name.trim() || t("sound.blank"));
  const grid = matrix({
    rows, columns: times, values, rowAxis: t("sound.label"), columnAxis: t("sound.time"), label: t("sound.labels"), cell: { width: Math.max(3, Math.min(14, 900 / states)), height: 18 },
    say: (row, column, share) => t("sound.cell", { token: rows[row], time: times[column], weight: number(share) }),
  });
  return figure({ name: "frame-labels", title: t("sound.labels"), caption: t("sound.labels.about"), content: grid.element, drawing: () => grid.drawing(), table: () => grid.table() });
}
