// Tiles that were opened and values that were read, the most recently used first out of the way last.
import { Tile } from "./tile.js";
import { TileError } from "./tile_error.js";

const MOST_TILES = 200;
const MOST_BYTES = 256 * 2 ** 20;

export class TileCache {
  #tiles = new Map();
  #values = new Map();
  #bytes = 0;

  async tile(url) {
    return this.#recent(this.#tiles, url, () => Tile.open(url), MOST_TILES);
  }

  // Values of a stored variable, or a wind speed from its components: `ws10` from u10 and v10.
  async values(url, name) {
    const key = `${url} ${name}`;
    const known = this.#values.get(key);
    if (known) {
      this.#values.delete(key);
      this.#values.set(key, known);
      return known;
    }
    const made = this.#read(url, name);
    this.#values.set(key, made);
    try {
      this.#bytes += (await made).byteLength;
    } catch (error) {
      this.#values.delete(key);
      throw error;
    }
    await this.#forget();
    return made;
  }

  // The tile at this address may have been replaced.
  drop(url) {
    this.#tiles.delete(url);
  }

  async #read(url, name) {
    const tile = await this.tile(url);
    if (Object.hasOwn(tile.meta.variables, name) || !name.startsWith("ws")) return tile.values(name);
    const level = name.slice(2);
    const [u, v] = await Promise.all([this.values(url, `u${level}`), this.values(url, `v${level}`)]);
    const speeds = new Float32Array(u.length);
    for (let at = 0; at < u.length; at++) speeds[at] = Math.sqrt(u[at] * u[at] + v[at] * v[at]);
    return speeds;
  }

  async #forget() {
    for (const [key, values] of this.#values) {
      if (this.#bytes <= MOST_BYTES || this.#values.size <= 2) return;
      this.#values.delete(key);
      this.#bytes -= (await values.catch(() => ({ byteLength: 0 }))).byteLength;
    }
  }

  async #recent(map, key, make, most) {
    const known = map.get(key) ?? make();
    map.delete(key);
    map.set(key, known);
    if (map.size > most) map.delete(map.keys().next().value);
    try {
      return await known;
    } catch (error) {
      map.delete(key);
      if (error instanceof TypeError) throw new TileError("The tile cannot be read.");
      throw error;
    }
  }
}
