// Reads tables that the API sends as NPZ, a ZIP of NumPy arrays without compression. It is far smaller and faster to read
// than JSON: a million rows take a tenth of a second.

const END_SIGNATURE = 0x06054b50; // of the ZIP's end record
const END_SIZE = 22; // bytes of the end record without a comment
const ENTRY_SIZE = 46; // bytes of an entry of the directory without its name
const LOCAL_SIZE = 30; // bytes of a file's own header without its name
const TYPES = { f8: Float64Array, f4: Float32Array, i8: BigInt64Array, i4: Int32Array, u1: Uint8Array };

// A map of each column's name to its values: a typed array of numbers, in which NaN is missing, or an array of texts,
// in which null is missing.
export function readColumns(buffer) {
  const arrays = readArrays(buffer);
  const { columns, levels } = JSON.parse(new TextDecoder().decode(arrays.get("header")));
  const valuesOf = (name, place) => {
    const values = arrays.get(`column${place}`);
    const texts = levels[name];
    if (!texts) return values;
    const cells = new Array(values.length);
    for (let row = 0; row < values.length; row += 1) cells[row] = values[row] < 0 ? null : texts[values[row]];
    return cells;
  };
  return new Map(columns.map((name, place) => [name, valuesOf(name, place)]));
}

function readArrays(buffer) {
  const view = new DataView(buffer);
  const end = buffer.byteLength - END_SIZE;
  if (end < 0 || view.getUint32(end, true) !== END_SIGNATURE) throw new Error("The service sent no valid table.");
  const arrays = new Map();
  let at = view.getUint32(end + 16, true);
  for (let left = view.getUint16(end + 10, true); left > 0; left -= 1) {
    const [nameLength, extraLength, commentLength] = [28, 30, 32].map((field) => view.getUint16(at + field, true));
    const name = new TextDecoder().decode(new Uint8Array(buffer, at + ENTRY_SIZE, nameLength));
    const local = view.getUint32(at + 42, true);
    const start = local + LOCAL_SIZE + view.getUint16(local + 26, true) + view.getUint16(local + 28, true);
    arrays.set(name.replace(/\.npy$/, ""), readArray(buffer, start));
    at += ENTRY_SIZE + nameLength + extraLength + commentLength;
  }
  return arrays;
}

// The array of a file in the format NPY, version 1: 10 bytes, a description, and the numbers.
function readArray(buffer, start) {
  const length = new DataView(buffer).getUint16(start + 8, true);
  const description = new TextDecoder().decode(new Uint8Array(buffer, start + 10, length));
  const type = /'descr': '[<|](\w+)'/.exec(description)[1];
  const count = Number(/'shape': \((\d+),\)/.exec(description)[1]);
  const Type = TYPES[type];
  const from = start + 10 + length;
  const values = new Type(buffer.slice(from, from + count * Type.BYTES_PER_ELEMENT)); // a copy is aligned
  return type === "i8" ? Float64Array.from(values, Number) : values;
}
