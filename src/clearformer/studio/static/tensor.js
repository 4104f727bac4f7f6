// Numbers as the model has them: float32, with a shape.

export function unpack(packed) {
  if ("values" in packed) return packed; // it is unpacked
  const text = atob(packed.f32 ?? packed.u16 ?? packed.u8);
  const bytes = new Uint8Array(text.length);
  for (let place = 0; place < text.length; place += 1) bytes[place] = text.charCodeAt(place);
  const values = "f32" in packed ? new Float32Array(bytes.buffer) : "u16" in packed ? new Uint16Array(bytes.buffer) : bytes;
  return { shape: packed.shape, values };
}

// Row `row` of a matrix, or matrix `row` of a stack of them, without copying.
export function part(tensor, row) {
  const shape = tensor.shape.slice(1);
  const size = shape.reduce((product, length) => product * length, 1);
  return { shape, values: tensor.values.subarray(row * size, (row + 1) * size) };
}

export function largest(values) {
  let found = 0;
  for (const value of values) if (Number.isFinite(value) && Math.abs(value) > found) found = Math.abs(value);
  return found;
}
