// A walk through the model for one sentence, as a list of steps made from the model's own description.
//
// A step has a title, a formula, and pictures: each picture names a recorded value and says how to draw it
// (tokens, vectors: token × feature, attention: query × key, heads: every head small, prediction: likeliest tokens).

export function stepsOf(model) {
  const stacks = Object.keys(model.layers);
  const steps = [];
  for (const stack of stacks) {
    const group = { stack, index: null };
    steps.push(...frontSteps(model, stack).map((step) => ({ ...step, ...group })));
    for (let index = 0; index < model.layers[stack]; index += 1) {
      steps.push(...layerSteps(model, stack, index).map((step) => ({ ...step, stack, index })));
    }
    steps.push({ ...group, name: stack === "encoder" && model.has_target ? "memory" : "states", formula: stack === "encoder" && model.has_target ? "memory = Encoder(x)" : "", pictures: [vectors(`${stack}.output`)] });
  }
  if (model.config.head.kind === "language-model") {
    const last = stacks.at(-1);
    steps.push({ stack: last, index: null, name: "prediction", formula: "p = softmax(x W + b)", pictures: [{ kind: "prediction" }] });
  }
  return steps;
}

function vectors(name, title = null) {
  return { kind: "vectors", value: name, title };
}

function frontSteps(model, stack) {
  const front = `${stack}.front`;
  const scale = model.embedding_scale[stack] ?? 1;
  const scaled = scale === 1 ? "x = E[id]" : "x = E[id] × √d";
  const position = (stack === "decoder" ? model.config.decoder_position : null) ?? model.config.position;
  const added = ["sinusoidal", "split-sinusoidal", "tensor2tensor", "learned"].includes(position.kind);
  return [
    ...(stack === "decoder" && model.has_target ? [] : [{ name: "text", formula: "", pictures: [{ kind: "text" }] }]),
    { name: stack === "decoder" && model.has_target ? "written" : "tokens", formula: "", pictures: [{ kind: "tokens" }] },
    { name: "embedding", formula: scaled, pictures: [{ ...vectors(`${front}.scaled`), factor: scale, from: `${front}.embeddings` }] },
    added
      ? { name: "position", formula: position.kind === "learned" ? "x + P[pos]" : "PE_{pos,2i} = sin(pos / 10000^{2i/d}),  PE_{pos,2i+1} = cos(pos / 10000^{2i/d})", pictures: [vectors(`${front}.positions`, "walk.picture.positions"), vectors(`${front}.output`, "walk.picture.input")] }
      : { name: "noposition", formula: "", pictures: [vectors(`${front}.output`, "walk.picture.input")] },
  ];
}

function layerSteps(model, stack, index) {
  const base = `${stack}.layers.${index}`;
  const layers = model.attention_layers.filter((layer) => layer.stack === stack && layer.index === index && layer.exact);
  const pre = model.config.norm.place === "pre";
  return [...layers.flatMap((layer) => attentionSteps(layer, pre)), ...feedForwardSteps(model, base, pre)];
}

function attentionSteps(layer, pre) {
  const at = (value) => `${layer.name}.${value}`;
  const scores = (value, palette = "diverging") => ({ kind: "attention", value: at(value), palette, layer });
  const steps = [
    pre ? { name: "normfirst", formula: "x̂ = norm(x)", pictures: [vectors(`${layer.name}_residual.before`)] } : null,
    { name: layer.kind === "cross" ? "qkv.cross" : "qkv", formula: layer.kind === "cross" ? "{Q} = x W^{Q},  {K} = memory W^{K},  {V} = memory W^{V}" : "{Q} = x W^{Q},  {K} = x W^{K},  {V} = x W^{V}", pictures: ["q", "k", "v"].map((letter) => ({ kind: "projected", value: at(letter), letter, layer })) },
    { name: "scores", formula: "{Q} {K}^{T}", pictures: [scores("scores")] },
    { name: "scale", formula: "{Q} {K}^{T} / √d_{k}", pictures: [scores("scaled")] },
    ["alibi", "buckets", "shaw", "relative", "disentangled"].includes(layer.position) ? { name: "bias", formula: "{Q} {K}^{T} / √d_{k} + b", pictures: [scores("bias")] } : null,
    layer.kind === "masked" ? { name: "mask", formula: "{Q} {K}^{T} / √d_{k} + mask", pictures: [{ ...scores("masked"), masked: true }] } : null,
    { name: "softmax", formula: "A = softmax({Q} {K}^{T} / √d_{k})", pictures: [scores("weights", "sequential")] },
    { name: "gather", formula: "Z = A {V}", pictures: [{ kind: "projected", value: at("heads"), letter: null, layer }] },
    { name: "heads", formula: "Concat(Z_{1}, …, Z_{h}) W^{O}", pictures: [{ kind: "heads", value: at("weights"), layer }, vectors(at("output"), "walk.picture.output")] },
    { name: pre ? "add" : "addnorm", formula: pre ? "x + Attention(x̂)" : "norm(x + Attention(x))", pictures: pre ? [vectors(`${layer.name}_residual.sum`)] : [vectors(`${layer.name}_residual.sum`, "walk.picture.sum"), vectors(`${layer.name}_residual.after`, "walk.picture.normed")] },
  ].filter(Boolean);
  return steps.map((step) => ({ ...step, attention: layer }));
}

const ACTIVATION_NAMES = { relu: "ReLU", gelu: "GELU", "gelu-tanh": "GELU", silu: "SiLU", tanh: "tanh" };

function feedForwardSteps(model, base, pre) {
  const activation = ACTIVATION_NAMES[model.config.activation];
  const inner = model.config.gated ? `(${activation}(x W_{g}) ⊙ x W_{1}) W_{2}` : `${activation}(x W_{1} + b_{1}) W_{2} + b_{2}`;
  const inside = model.config.experts
    ? { formula: "FFN(x) = Σ_{e} s_{e} · FFN_{e}(x)", picture: vectors(`${base}.ffn.shares`, "walk.picture.shares") }
    : { formula: `FFN(x) = ${inner}`, picture: vectors(`${base}.ffn.hidden`, "walk.picture.hidden") };
  return [
    pre ? { name: "normfirst", formula: "x̂ = norm(x)", pictures: [vectors(`${base}.ffn_residual.before`)] } : null,
    { name: "ffn", formula: inside.formula, pictures: [inside.picture, vectors(`${base}.ffn.output`, "walk.picture.output")] },
    { name: pre ? "add" : "addnorm", formula: pre ? "x + FFN(x̂)" : "norm(x + FFN(x))", pictures: [vectors(`${base}.ffn_residual.sum`, "walk.picture.sum"), ...(pre ? [] : [vectors(`${base}.ffn_residual.after`, "walk.picture.normed")])] },
  ].filter(Boolean).map((step) => ({ ...step, part: "ffn" }));
}
