// Coastlines, borders and states near a tile, from the server's NPZ file of steps.
import { Npz } from "../tile/npz.js";
import { linesOnPlane, PlaneLines } from "./lines.js";

const BREAK = -(2 ** 31);
const KINDS = ["land", "borders", "states"];
const MARGIN_DEG = 2;
const MARGIN_SHARE = 0.6; // of the tile's extent: views are larger than tiles

export class Coastlines {
  #loaded = new Map();

  // {land, borders, states} on a plane, around a tile's grid.
  async on(plane, grid) {
    const key = `${boxOf(grid)} ${plane.key}`;
    if (!this.#loaded.has(key)) {
      if (this.#loaded.size > 12) this.#loaded.clear();
      this.#loaded.set(key, this.#load(plane, boxOf(grid)));
    }
    try {
      return await this.#loaded.get(key);
    } catch (error) {
      this.#loaded.delete(key);
      throw error;
    }
  }

  async #load(plane, box) {
    const npz = await Npz.open(`/console/map/coastlines.npz?box=${box}`);
    const quantum = (await npz.array("quantum_deg")).values[0];
    const found = {};
    for (const kind of KINDS) {
      const { shape, values } = await npz.array(kind);
      found[kind] = new PlaneLines(linesOnPlane(plane, degreesOf(values, shape[1], quantum)), plane.turn);
    }
    return found;
  }
}

function degreesOf(steps, count, quantum) {
  const lines = [];
  let line = [];
  let [x, y] = [0, 0];
  for (let at = 0; at < count; at++) {
    if (steps[at] === BREAK) {
      lines.push(line);
      [line, x, y] = [[], 0, 0];
      continue;
    }
    x += steps[at];
    y += steps[at + count];
    line.push(x * quantum, y * quantum);
  }
  lines.push(line);
  return lines.filter((one) => one.length > 2);
}

// West, south, east, north in whole degrees around a tile.
export function boxOf(grid) {
  const { rows, columns } = grid;
  const [, middle] = grid.latlon((rows - 1) / 2, (columns - 1) / 2);
  let [west, south, east, north] = [Infinity, Infinity, -Infinity, -Infinity];
  for (let n = 0; n <= 24; n++) {
    for (let m = 0; m <= 24; m++) {
      if (n % 24 && m % 24 && (n % 6 || m % 6)) continue; // the edges, and some inside
      const [lat, lon] = grid.latlon((n / 24) * (rows - 1), (m / 24) * (columns - 1));
      if (!Number.isFinite(lat + lon)) continue;
      const near = lon - 360 * Math.round((lon - middle) / 360);
      [west, east] = [Math.min(west, near), Math.max(east, near)];
      [south, north] = [Math.min(south, lat), Math.max(north, lat)];
    }
  }
  const margin = MARGIN_DEG + MARGIN_SHARE * Math.max(east - west, north - south);
  const box = [Math.floor(west - margin), Math.max(-90, Math.floor(south - margin)), Math.ceil(east + margin), Math.min(90, Math.ceil(north + margin))];
  if (box[2] - box[0] >= 350) return `-180,${box[1]},180,${box[3]}`;
  const wrap = (lon) => lon - 360 * Math.floor((lon + 180) / 360);
  return [wrap(box[0]), box[1], wrap(box[2]), box[3]].join(",");
}
