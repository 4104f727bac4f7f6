// One attention cell computed again, in float64, from the operands that the model had. No page code: numbers in, numbers
// out.

import { unpack } from "./tensor.js";

export function dot(left, right) {
  let sum = 0;
  for (let place = 0; place < left.length; place += 1) sum += left[place] * right[place];
  return sum;
}

// Softmax of a row in which some places are hidden. The largest score is taken off first, so that nothing overflows.
export function softmax(scores, hidden) {
  const open = scores.filter((_, place) => !hidden.has(place));
  const top = Math.max(...open);
  const exponentials = Array.from(scores, (score, place) => (hidden.has(place) ? 0 : Math.exp(score - top)));
  const sum = exponentials.reduce((total, value) => total + value, 0);
  return { top, exponentials, sum, weights: exponentials.map((value) => (sum > 0 ? value / sum : 0)) };
}

export function mean(values) {
  let sum = 0;
  for (const value of values) sum += value;
  return sum / values.length;
}

// One feature of a normalised vector, with the two numbers that it took.
export function normalise(values, feature, norm) {
  if (norm.kind === "none") return { center: 0, spread: 1, result: values[feature] };
  if (norm.kind === "rms") {
    const square = mean(Array.from(values, (value) => value * value));
    const spread = Math.sqrt(square + norm.eps);
    return { center: 0, square, spread, result: (values[feature] / spread) * norm.gain };
  }
  const center = norm.kind === "batch" ? norm.mean : mean(values);
  const variance = norm.kind === "batch" ? norm.variance : mean(Array.from(values, (value) => (value - center) ** 2));
  const spread = Math.sqrt(variance + norm.eps);
  return { center, variance, spread, result: ((values[feature] - center) / spread) * norm.gain + norm.shift };
}

// A vector whose pairs of features are turned by angles: features (0,1), (2,3) … or (0, K/2), (1, K/2 + 1) …
export function rotate(values, cosines, sines, pairs) {
  const turned = new Array(values.length);
  const half = values.length / 2;
  for (let pair = 0; pair < half; pair += 1) {
    const [first, second] = pairs === "neighbours" ? [2 * pair, 2 * pair + 1] : [pair, pair + half];
    turned[first] = values[first] * cosines[pair] - values[second] * sines[pair];
    turned[second] = values[first] * sines[pair] + values[second] * cosines[pair];
  }
  return turned;
}

function rows(tensor) {
  const width = tensor.shape[1];
  return Array.from({ length: tensor.shape[0] }, (_, row) => tensor.values.subarray(row * width, (row + 1) * width));
}

// Everything that the panel shows: operands, the model's own results, and the same results computed here.
export function computeCell(operands) {
  const { key, feature, scale, norm } = operands;
  const q = unpack(operands.q).values;
  const keys = rows(unpack(operands.k));
  const values = rows(unpack(operands.v));
  const hidden = new Set(operands.hidden);
  const bias = operands.bias === null ? null : unpack(operands.bias).values;

  const rotation = operands.rotation ? computeRotation(operands.rotation) : null;
  const products = Array.from(q, (value, place) => value * keys[key][place]);
  const scores = keys.map((one) => dot(q, one));
  const scaled = scores.map((score) => score * scale);
  const biased = bias === null ? scaled : scaled.map((score, place) => score + bias[place]);
  const soft = softmax(biased, hidden);
  const gathered = Array.from(values[0], (_, place) => soft.weights.reduce((sum, weight, row) => sum + weight * values[row][place], 0));

  const concat = unpack(operands.concat).values;
  const outWeight = unpack(operands.out_weight).values;
  const output = dot(concat, outWeight) + (operands.out_bias ?? 0);
  const input = unpack(operands.input).values;
  const own = {
    scores: unpack(operands.scores).values,
    scaled: unpack(operands.scaled).values,
    weights: unpack(operands.weights).values,
    gathered: unpack(operands.gathered).values,
    output: unpack(operands.output).values,
    sum: unpack(operands.sum).values,
    norm: unpack(norm.result).values,
  };
  return {
    q, keys, values, hidden, bias, rotation, products, scores, scaled, biased, soft, gathered, concat, outWeight, output, input, own,
    weighted: Array.from(values[key], (value) => value * soft.weights[key]),
    sum: input[feature] + output,
    norm: normalise(unpack(norm.of).values, feature, norm),
  };
}

function computeRotation(rotation) {
  const cosines = rows(unpack(rotation.cos));
  const sines = rows(unpack(rotation.sin));
  const q = unpack(rotation.q).values;
  const k = unpack(rotation.k).values;
  return {
    q, k, cosines, sines,
    turnedQ: rotate(q, cosines[0], sines[0], rotation.pairs),
    turnedK: rotate(k, cosines[1], sines[1], rotation.pairs),
  };
}
