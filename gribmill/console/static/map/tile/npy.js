// One array in NumPy's .npy format. The header is matched, never evaluated; values must be little-endian, in C order.
import { TileError } from "./tile_error.js";

const HEADER = /^\{'descr': '([<>|=])([a-zA-Z])(\d{1,9})', 'fortran_order': (True|False), 'shape': \(((?:\d{1,10}, ?)*(?:\d{1,10})?)\), ?\} *\n$/;
const TYPES = {
  f4: Float32Array, f8: Float64Array, i1: Int8Array, i2: Int16Array, i4: Int32Array,
  u1: Uint8Array, u2: Uint16Array, u4: Uint32Array, b1: Uint8Array,
};
const latin1 = new TextDecoder("latin1");

// {shape, values} of numbers, or {shape, text} of one byte string.
export function parseNpy(raw, name) {
  const { kind, width, shape, start } = header(raw, name);
  const points = shape.reduce((product, size) => product * size, 1);
  if (points * width !== raw.length - start) {
    throw new TileError(`The array ${name} declares the shape (${shape.join(", ")}), which its data do not fill.`);
  }
  if (kind === "S") return { shape, text: raw.subarray(start) };
  const Type = TYPES[`${kind}${width}`];
  if (!Type) throw new TileError(`The array ${name} has elements of type ${kind}${width}, which the map cannot read.`);
  const at = raw.byteOffset + start;
  const aligned = at % width === 0;
  return { shape, values: aligned ? new Type(raw.buffer, at, points) : new Type(raw.slice(start).buffer) };
}

function header(raw, name) {
  const version = raw[6];
  const wide = version === 2 ? 4 : 2;
  const magic = raw[0] === 0x93 && latin1.decode(raw.subarray(1, 6)) === "NUMPY";
  if (!magic || (version !== 1 && version !== 2) || raw[7] !== 0 || raw.length < 8 + wide) {
    throw new TileError(`The array ${name} is not an .npy array.`);
  }
  const view = new DataView(raw.buffer, raw.byteOffset, raw.length);
  const start = 8 + wide + (wide === 2 ? view.getUint16(8, true) : view.getUint32(8, true));
  const match = start <= Math.min(raw.length, 4096) ? HEADER.exec(latin1.decode(raw.subarray(8 + wide, start))) : null;
  if (!match) throw new TileError(`The array ${name} is not a plain array.`);
  const [, order, kind, width, fortran, sizes] = match;
  const shape = sizes.split(",").map((part) => part.trim()).filter(Boolean).map(Number);
  const foreign = order === ">" || (fortran === "True" && shape.length > 1);
  if (foreign || shape.length > 4 || Number(width) === 0) throw new TileError(`The array ${name} has a layout that tiles do not use.`);
  return { kind, width: Number(width), shape, start };
}
