// One way to write a number, everywhere: four decimals; very large and very small ones with a power of ten.

export function number(value, decimals = 4) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  const size = Math.abs(value);
  if (size >= 1e6 || (size !== 0 && size < 0.5 * 10 ** -decimals)) return minus(value.toExponential(2));
  return minus(value.toFixed(decimals));
}

export function percent(value) {
  return `${(100 * value).toFixed(1)}%`;
}

// A probability; one that would be rounded to nothing says so.
export function share(value) {
  return value > 0 && value < 0.0005 ? "< 0.1%" : percent(value);
}

export function count(value) {
  return Math.round(value).toLocaleString("en-US");
}

// Three digits and a letter: 63.1 M.
export function short(value) {
  const power = Math.min(4, Math.max(0, Math.floor(Math.log10(Math.max(1, Math.abs(value))) / 3)));
  const digits = value / 1000 ** power;
  return `${power === 0 ? Math.round(digits) : digits.toFixed(1)} ${["", "k", "M", "G", "T"][power]}`.trim();
}

function minus(text) {
  return text.replaceAll("-", "−");
}
