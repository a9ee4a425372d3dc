// A tile: its metadata, and the values of its variables, identical to those read by gribmill in Python.
import { Npz } from "./npz.js";
import { TileError } from "./tile_error.js";

const FORMAT = 1;
const LIMIT_META_BYTES = 16 * 2 ** 20;
const MOST_POINTS = 64_000_000;
const MISSING = 65535;

export class Tile {
  #npz;

  constructor(npz, meta) {
    this.#npz = npz;
    this.meta = meta;
    this.shape = meta.grid.shape;
  }

  static async open(url, signal) {
    const npz = await Npz.open(url, signal);
    const { text } = await npz.array("meta", signal);
    return new Tile(npz, parseMeta(text));
  }

  get heldBytes() {
    return this.#npz.heldBytes;
  }

  // Latitudes of the rows, if they are not evenly spaced.
  async rowLatitudes(signal) {
    if (this.meta.grid.definition.kind !== "gaussian") return null;
    const { shape, values } = await this.#npz.array("lat", signal);
    if (shape.length !== 1 || shape[0] !== this.shape[0]) throw new TileError("The tile has a wrong number of latitudes.");
    return values;
  }

  // Rows south to north, columns west to east, NaN where there is no value.
  async values(name, signal) {
    const about = Object.hasOwn(this.meta.variables, name) ? this.meta.variables[name] : null;
    if (!about) throw new TileError(`The tile has no variable ${name}.`);
    const { shape, values } = await this.#npz.array(name, signal);
    const expected = about.packed ? Uint16Array : Float32Array;
    if (!(values instanceof expected) || shape.length !== 2 || shape[0] !== this.shape[0] || shape[1] !== this.shape[1]) {
      throw new TileError(`The array ${name} has a different type or shape than the metadata says.`);
    }
    return about.packed ? dequantize(values, shape[1], about.packed) : values;
  }
}

function parseMeta(bytes) {
  if (!bytes || bytes.length > LIMIT_META_BYTES) throw new TileError("The tile has no readable metadata.");
  let meta;
  try {
    let end = bytes.length;
    while (end > 0 && bytes[end - 1] === 0) end--;
    meta = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes.subarray(0, end)));
  } catch {
    throw new TileError("The tile's metadata is not JSON.");
  }
  if (meta?.format > FORMAT) throw new TileError(`The tile has format ${meta.format}, which this page cannot read. Reload the page.`);
  const shape = meta?.grid?.shape;
  const counts = Array.isArray(shape) && shape.length === 2 && shape.every((n) => Number.isInteger(n) && n > 0);
  if (meta?.format !== FORMAT || !counts || shape[0] * shape[1] > MOST_POINTS || typeof meta.variables !== "object" || !meta.grid.definition) {
    throw new TileError("The tile's metadata is incomplete.");
  }
  return meta;
}

// value = float32((integer * scale + reference) * factor), in double precision, as gribmill computes it.
function dequantize(integers, columns, { reference, scale, factor, differences, zigzag }) {
  const values = new Float32Array(integers.length);
  for (let row = 0; row < integers.length; row += columns) {
    let sum = 0;
    for (let at = row; at < row + columns; at++) {
      let n = integers[at];
      if (zigzag) n = (n >> 1) ^ -(n & 1);
      sum = (differences ? sum + n : n) & 0xffff;
      values[at] = sum === MISSING ? NaN : (sum * scale + reference) * factor;
    }
  }
  return values;
}
