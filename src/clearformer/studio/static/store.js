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
  summary: {}, // what differs from the defaults of its form
  why: {}, // what differs from the defaults of its form
  file: null, // a picture or a recording
  patch: null, // the token of a picture that is followed from its pixels
  query: null, // the token of a picture that looks
  pictureLayer: null,
  pictureHead: "mean",
  tokenFeature: 0,
  experiment: null, // of the lab
  knobs: { softmax: { power: 6, hot: 5, scaled: "no" }, distance: { kind: "sinusoidal" }, schedule: { power: 9, warmup: 4000, kind: "inverse-sqrt" }, temperature: { layer: null, head: 0, hot: 5 } },
  threshold: null, // least score of an object; null is the model's own
  duplicates: null, // part of their area that two boxes may share; null is the model's own
  paint: {}, // what differs from the model folder's recipe
  painted: 0, // number of a picture among those that were painted
  paintStep: null, // null is the last
  code: null, // numbers that were changed, or null
  dimension: 0, // of a code, that is followed from low to high
  maskChannel: 0,
  tile: 0,
  piece: 0, // of a recording
  soundToken: 0,
  soundLayer: 0,
  soundHead: null, // null is the mean of all
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
