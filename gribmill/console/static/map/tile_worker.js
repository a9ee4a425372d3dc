// Reads tiles and computes with their values, beside the page: drawing never waits for it.
import { contourLines } from "./field/contour_lines.js";
import { differenceOf } from "./field/difference.js";
import { rangeOf } from "./field/range.js";
import { TileGrid } from "./grids/tile_grid.js";
import { TileCache } from "./tile/tile_cache.js";

const cache = new TileCache();

const actions = {
  async open({ url }) {
    const tile = await cache.tile(url);
    return { meta: tile.meta, latitudes: await tile.rowLatitudes() };
  },

  async values({ url, name }) {
    const values = (await cache.values(url, name)).slice();
    return { values, range: rangeOf(values) };
  },

  async prefetch({ url, names }) {
    for (const name of names) await cache.values(url, name);
    return {};
  },

  // This variable minus that of another tile, both in the same units, at the first tile's points.
  async difference({ first, second }) {
    const sides = await Promise.all([first, second].map(side));
    const values = differenceOf(...sides);
    return { values, range: rangeOf(values) };
  },

  async contours({ url, name, step, factor, offset }) {
    const tile = await cache.tile(url);
    const values = await cache.values(url, name);
    return contourLines(values, tile.shape, { step, factor, offset });
  },
};

async function side({ url, name, factor, offset }) {
  const tile = await cache.tile(url);
  const grid = new TileGrid(tile.meta.grid, await tile.rowLatitudes());
  return { grid, values: await cache.values(url, name), factor, offset };
}

self.addEventListener("message", async ({ data: { id, action, ...request } }) => {
  try {
    const result = await actions[action](request);
    const buffers = Object.values(result).filter((value) => ArrayBuffer.isView(value) && action !== "open");
    self.postMessage({ id, result }, buffers.map((value) => value.buffer));
  } catch (error) {
    if (request.url) cache.drop(request.url);
    self.postMessage({ id, problem: error.name === "TileError" ? error.message : `The map failed: ${error.message}` });
  }
});
