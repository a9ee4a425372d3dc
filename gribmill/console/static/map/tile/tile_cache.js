// A cache of opened tiles and their values; the least recently used are evicted first.
import { Tile } from "./tile.js";
import { TileError } from "./tile_error.js";

const MOST_TILES = 200;
const MOST_HELD_BYTES = 48 * 2 ** 20;
const MOST_BYTES = 256 * 2 ** 20;

export class TileCache {
  #tiles = new Map(); // url: {made, tile}
  #values = new Map(); // "url name": {made, bytes}

  async tile(url) {
    const entry = this.#tiles.get(url) ?? { made: Tile.open(url), tile: null };
    recent(this.#tiles, url, entry);
    try {
      entry.tile = await entry.made;
    } catch (error) {
      this.#tiles.delete(url);
      throw error instanceof TypeError ? new TileError("The tile cannot be read.") : error;
    }
    this.#forgetTiles(url);
    return entry.tile;
  }

  // Values of a stored variable, or a wind speed from its components: `ws10` from u10 and v10.
  async values(url, name) {
    const key = `${url} ${name}`;
    const entry = this.#values.get(key) ?? { made: this.#read(url, name), bytes: 0 };
    recent(this.#values, key, entry);
    try {
      const values = await entry.made;
      entry.bytes = values.byteLength;
      this.#forgetValues(key);
      return values;
    } catch (error) {
      this.#values.delete(key);
      throw error;
    }
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

  #forgetTiles(kept) {
    let held = 0;
    for (const { tile } of this.#tiles.values()) held += tile?.heldBytes ?? 0;
    for (const [url, { tile }] of this.#tiles) {
      if (this.#tiles.size <= MOST_TILES && held <= MOST_HELD_BYTES) return;
      if (url === kept) continue;
      this.#tiles.delete(url);
      held -= tile?.heldBytes ?? 0;
    }
  }

  #forgetValues(kept) {
    let bytes = 0;
    for (const entry of this.#values.values()) bytes += entry.bytes;
    for (const [key, entry] of this.#values) {
      if (bytes <= MOST_BYTES) return;
      if (key === kept) continue;
      this.#values.delete(key);
      bytes -= entry.bytes;
    }
  }
}

function recent(map, key, entry) {
  map.delete(key);
  map.set(key, entry);
}
