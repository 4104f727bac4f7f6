// Colours of numbers, the same as in clearformer/figures/palette.py (a test compares them). Probabilities: one hue, darker for more. Signed values: two hues that colour-blind people tell apart.

const SEQUENTIAL = {
  light: [[255, 255, 255], [222, 207, 240], [151, 108, 202], [61, 22, 112]],
  dark: [[30, 30, 36], [74, 47, 128], [160, 118, 220], [245, 236, 255]],
};
const DIVERGING = {
  light: [[22, 88, 150], [140, 190, 222], [252, 252, 250], [240, 165, 120], [165, 42, 20]],
  dark: [[120, 190, 245], [48, 96, 140], [30, 30, 36], [140, 70, 45], [250, 150, 110]],
};

const prefersDark = matchMedia("(prefers-color-scheme: dark)"); // made once: a panel asks for a thousand colours

export function isDark() {
  const wanted = document.documentElement.dataset.theme;
  return wanted === "dark" || (wanted !== "light" && prefersDark.matches);
}

// share: from 0 to 1.
export function sequential(share) {
  return between(SEQUENTIAL[isDark() ? "dark" : "light"], share);
}

// share: from -1 to 1.
export function diverging(share) {
  return between(DIVERGING[isDark() ? "dark" : "light"], (share + 1) / 2);
}

function between(stops, share) {
  const place = Math.min(1, Math.max(0, Number.isFinite(share) ? share : 0)) * (stops.length - 1);
  const low = Math.min(stops.length - 2, Math.floor(place));
  const rest = place - low;
  return stops[low].map((value, channel) => Math.round(value + rest * (stops[low + 1][channel] - value)));
}

export function css([red, green, blue]) {
  return `rgb(${red} ${green} ${blue})`;
}

// Black or white, whichever can be read on a colour: at the brightness where they are equal, both have a contrast of 4.6.
export function ink([red, green, blue]) {
  const linear = [red, green, blue].map((value) => (value <= 10 ? value / 3295 : ((value / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2] > 0.179 ? "rgb(0 0 0)" : "rgb(255 255 255)";
}

// Lines of a chart: told apart by colour and by dashes.
export const SERIES = Array.from({ length: 12 }, (_, place) => `series-${place}`);
