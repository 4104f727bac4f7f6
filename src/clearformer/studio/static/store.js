// What the person has chosen: kept while pages change, and a little of it between visits.

const KEPT = "clearformer-studio";

export const chosen = {
  language: null,
  theme: "auto",
  text: null,
  settings: {}, // what differs from the defaults of the form
  alternative: null,
  layer: null,
  head: 0,
  view: "matrix",
  cell: null,
  feature: 0,
  step: 0,
  walkHead: 0,
  prefix: [],
  place: null, // of a token in the text whose successor is looked at; null is the last
  token: null, // the one that is followed through the layers; null is the likeliest
  against: null,
  question: null,
  why: {}, // what differs from the defaults of its form
  node: null,
  showCut: true,
  runs: null,
  checkpoint: null,
  runLayer: null,
  pair: 0,
  position: 8,
};

export function restore() {
  try {
    const { language, theme } = JSON.parse(localStorage.getItem(KEPT) ?? "{}");
    if (language) chosen.language = language;
    if (theme) chosen.theme = theme;
  } catch {
    // a browser that keeps nothing still shows everything
  }
}

export function keep() {
  try {
    localStorage.setItem(KEPT, JSON.stringify({ language: chosen.language, theme: chosen.theme }));
  } catch {
    // as above
  }
}
