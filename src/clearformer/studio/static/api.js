// Questions to the server. Answers about the model never change, so a few are remembered; errors are sentences.

import { t } from "./i18n.js";
import { cellOperands } from "./operands.js";

const remembered = new Map();
const ROOM = 80;
let prepared = null;

// An answer that says no, in words that can be shown.
export class Refusal extends Error {}

// Offline pages carry the answers that they need: whole ones by address, recorded values by name, cells by layer.
export function prepareAnswers(answers) {
  prepared = answers;
}

export async function ask(path, body = null, { fresh = false, signal = null } = {}) {
  const key = body === null ? path : `${path} ${JSON.stringify(body)}`;
  if (prepared !== null) return answerFrom(prepared, path, body);
  if (!fresh && remembered.has(key)) return remembered.get(key);
  const answer = await fetchAnswer(path, body, signal);
  if (!fresh) remember(key, answer);
  return answer;
}

function answerFrom({ answers, values, cells }, path, body) {
  if (path === "/api/cell" && body.layer in cells) return cellOperands(cells[body.layer], values, body);
  if (path === "/api/values" && body.names.every((name) => name in values)) return Object.fromEntries(body.names.map((name) => [name, values[name]]));
  if (path in answers) return answers[path];
  throw new Refusal(t("error.offline"));
}

function remember(key, answer) {
  remembered.set(key, answer);
  if (remembered.size > ROOM) remembered.delete(remembered.keys().next().value);
}

// A picture or a recording, as it is.
export function sendFile(path, file, { signal = null } = {}) {
  return fetchWith(path, { method: "POST", headers: { "content-type": "application/octet-stream" }, body: file }, signal, "12,000,000");
}

function fetchAnswer(path, body, signal) {
  const request = body === null ? {} : { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
  return fetchWith(path, request, signal, "1,000,000");
}

async function fetchWith(path, request, signal, limit) {
  let response;
  try {
    response = await fetch(path, { ...request, signal });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refusal(t("error.gone"));
  }
  const answer = await response.json().catch(() => ({ error: t("error.garbled") }));
  if (response.status === 413) throw new Refusal(t("server.large", { limit }));
  if (!response.ok) throw new Refusal(answer.code ? t(`server.${answer.code}`, answer.values) : answer.error ?? t("error.garbled"));
  return answer;
}
