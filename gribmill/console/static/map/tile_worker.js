// Reads and processes tiles in a worker, so that drawing is never blocked.
import { contourLines } from "./field/contour_lines.js";
import { differenceOf } from "./field/difference.js";
import { rangeOf } from "./field/range.js";
import { TileGrid } from "./grids/tile_grid.js";
import { pictureOf } from "./layers/picture.js";
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

  // One pixel for each point; `scale` has the numbers and colours of a scale.
  async picture({ url, name, scale }) {
    const { shape } = await cache.tile(url);
    const canvas = new OffscreenCanvas(shape[1], shape[0]);
    canvas.getContext("2d").putImageData(pictureOf(await cache.values(url, name), ...shape, scale), 0, 0);
    return { picture: canvas.transferToImageBitmap() };
  },

  // Variables that the tile does not have are ignored.
  async prefetch({ url, names }) {
    const { meta } = await cache.tile(url);
    for (const name of names) if (Object.hasOwn(meta.variables, name) || name.startsWith("ws")) await cache.values(url, name);
    return {};
  },

  // The variable of the first tile minus that of the second, in the same units, at the first tile's points.
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

function transferable(result) {
  return Object.values(result).flatMap((value) => (ArrayBuffer.isView(value) ? [value.buffer] : value instanceof ImageBitmap ? [value] : []));
}

self.addEventListener("message", async ({ data: { id, action, ...request } }) => {
  try {
    const result = await actions[action](request);
    self.postMessage({ id, result }, action === "open" ? [] : transferable(result));
  } catch (error) {
    const known = error.name === "TileError";
    self.postMessage({ id, problem: known ? error.message : `The map failed: ${error.message}`, kind: known ? error.kind : "" });
  }
});
