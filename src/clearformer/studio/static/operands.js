// One cell's operands, as the server would send them, from all recorded values: for pages without a server.

import { part, unpack } from "./tensor.js";

const HIDDEN = -3.4028234663852886e38; // what attention writes where a mask hides: the smallest float32

// fixed: what the layer has besides recorded values; values: those, by name.
export function cellOperands(fixed, values, { layer, head, query, key }) {
  const all = (name) => unpack(values[name]);
  const own = (name) => all(`${layer}.${name}`);
  const row = (name) => part(part(own(name), head), query);
  const shared = Math.floor(head / fixed.shared); // several heads may share one key/value head
  const flows = part(all(fixed.input), query);
  const sum = part(all(`${layer}_residual.sum`), query);
  const isPre = fixed.norm.place === "pre";
  return {
    layer, head, query, key, feature: fixed.feature, scale: fixed.scale,
    q: row("q"), k: part(own("k"), shared), v: part(own("v"), shared),
    scores: row("scores"), scaled: row("scaled"), weights: row("weights"), gathered: row("heads"),
    bias: `${layer}.bias` in values ? row("bias") : null,
    hidden: Array.from(row("masked").values.keys()).filter((place) => row("masked").values[place] === HIDDEN),
    concat: sideBySide(own("heads"), query), out_weight: fixed.out_weight, out_bias: fixed.out_bias,
    output: part(own("output"), query), input: flows, sum,
    norm: { ...fixed.norm, of: isPre ? flows : sum, result: part(all(`${layer}_residual.${isPre ? "before" : "after"}`), query) },
    ...(fixed.rotation ? { rotation: rotationOf(fixed.rotation, { head, shared, query, key }) } : {}),
  };
}

function sideBySide(heads, query) {
  const [count, , width] = heads.shape;
  const values = new Float32Array(count * width);
  for (let head = 0; head < count; head += 1) values.set(part(part(heads, head), query).values, head * width);
  return { shape: [count * width], values };
}

function rotationOf({ pairs, q, k, cos, sin }, { head, shared, query, key }) {
  const two = (packed) => {
    const tensor = unpack(packed);
    const [first, second] = [part(tensor, query), part(tensor, key)];
    const values = new Float32Array(2 * first.values.length);
    values.set(first.values);
    values.set(second.values, first.values.length);
    return { shape: [2, first.values.length], values };
  };
  return { pairs, q: part(part(unpack(q), head), query), k: part(part(unpack(k), shared), key), cos: two(cos), sin: two(sin) };
}
