// Prepares tiles for drawing: grids, values, winds, isobars, and their colour scales.
import { TileGrid } from "../grids/tile_grid.js";
import { scaleOf } from "../scale/scale.js";
import { TileError } from "../tile/tile_error.js";
import { hourText, runTime } from "./catalogue.js";
import { getJson } from "./request.js";

const FIRST = ["t2m", "ws10", "tp", "refc", "mslp", "swh", "tcc"]; // default variable: the first of these in the tile
const PRESSURE = ["mslp", "mslet"];

export class Fields {
  #grids = new Map();
  #shown = new Map();
  #ranges = new Map();

  constructor(reader, catalogue, colours) {
    Object.assign(this, { reader, catalogue, colours });
  }

  // The tile of a model at a step of its run.
  async tile({ model, run, region }, minutes) {
    const hour = (await this.catalogue.hours(model, run, region)).find((one) => one.minutes === minutes);
    if (!hour) throw new TileError(`${model.toUpperCase()} has no tile of ${region} at ${hourText(minutes)}.`);
    const { meta, latitudes } = await this.reader.open(hour.url);
    const key = JSON.stringify(meta.grid);
    if (!this.#grids.has(key)) this.#grids.set(key, new TileGrid(meta.grid, latitudes));
    return { url: hour.url, meta, grid: this.#grids.get(key), source: `${model} ${run} ${region}` };
  }

  // The tile of another model over the same region with the same valid time, from its newest run that has one; or null.
  async sameTime(model, region, valid) {
    for (const run of this.catalogue.runs(model)) {
      if (!this.catalogue.regions(model, run).includes(region)) continue;
      const minutes = (valid - runTime(run)) / 60_000;
      const hours = minutes >= 0 ? await this.catalogue.hours(model, run, region) : [];
      if (hours.some((one) => one.minutes === minutes)) return this.tile({ model, run, region }, minutes);
    }
    return null;
  }

  // Values and scale of a variable in each tile. Tiles with the same units share one scale.
  async fields(tiles, name, { colours, units }) {
    const found = await Promise.all(tiles.map((tile) => this.#read(tile, name)));
    const shared = found.every(({ about }) => about.units === found[0].about.units) ? found.map(({ range }) => range).filter(Boolean) : null;
    return found.map((one, n) => {
      const source = shared ? tiles.map((tile) => tile.source).join(" ") : tiles[n].source;
      const kept = this.#range(`${source} ${name}`, shared ? together(shared) : one.range);
      const { about, variable } = one;
      const flags = about.flag_values?.length ? about.flag_values.map((value, k) => [value, about.flag_meanings[k]]) : null;
      return { ...one, scale: scaleOf({ table: this.colours[colours][variable.palette], variable, system: units, range: kept, flags }) };
    });
  }

  async #read(tile, name) {
    const about = facts(tile.meta, name);
    if (!about) throw new TileError(`${tile.meta.model.toUpperCase()} has no ${name} at this hour.`);
    const [{ values, range }, variable] = await Promise.all([this.reader.values(tile.url, name), this.#variable(name, about.units)]);
    return { name, values, range, about, variable, stored: true };
  }

  // The first tile's variable minus the second's, in display units, on the first one's grid.
  async difference(first, second, name, { colours, units }) {
    const sides = await Promise.all([first, second].map(async (tile) => {
      const about = facts(tile.meta, name);
      if (!about) throw new TileError(`${tile.meta.model.toUpperCase()} has no ${name} to compare.`);
      const variable = await this.#variable(name, about.units);
      return { url: tile.url, name, about, variable, factor: variable[units][1], offset: variable[units][2] };
    }));
    const [a, b] = sides;
    if (a.variable[units][0] !== b.variable[units][0]) throw new TileError(`The two models have ${name} in different units, which cannot be compared.`);
    const plain = ({ url, factor, offset }) => ({ url, name, factor, offset });
    const { values, range } = await this.reader.difference(plain(a), plain(b));
    const kept = this.#range(`${first.source} ${second.source} ${name} ${units}`, range);
    const same = [a.variable[units][0], 1, 0];
    const variable = { palette: "difference", to_palette: [1, 0], metric: same, us: same };
    const scale = scaleOf({ table: this.colours[colours].difference, variable, system: units, range: kept, symmetric: true });
    return { name, values, range, about: { ...a.about, units: same[0] }, variable, scale };
  }

  // The wind at the level of a variable, or at 10 m; null if the tile has none.
  async wind(tile, name) {
    const level = windLevel(tile.meta.variables, name);
    if (level === null) return null;
    const [u, v] = await Promise.all([`u${level}`, `v${level}`].map((one) => this.reader.values(tile.url, one)));
    return { grid: tile.grid, u: u.values, v: v.values };
  }

  // Isobars every 4 hPa, in cells of the tile's grid; null if the tile has no pressure.
  async isobars(tile) {
    const name = PRESSURE.find((one) => Object.hasOwn(tile.meta.variables, one));
    if (!name) return null;
    const { metric } = await this.#variable(name, tile.meta.variables[name].units);
    return this.reader.contours(tile.url, name, { step: 4, factor: metric[1], offset: metric[2] });
  }

  // A stored field as a bitmap, painted in the worker.
  async picture(tile, { name, scale }) {
    return (await this.reader.picture(tile.url, name, scale)).picture;
  }

  // The variables of a tile that a view needs.
  needed(meta, { variable, wind, isobars }) {
    const level = wind === "none" ? null : windLevel(meta.variables, variable);
    const pressure = isobars ? PRESSURE.filter((one) => Object.hasOwn(meta.variables, one)).slice(0, 1) : [];
    return [variable, ...(level === null ? [] : [`u${level}`, `v${level}`]), ...pressure];
  }

  // Errors are ignored here; they are reported when the values are needed.
  prefetch(url, names) {
    return this.reader.prefetch(url, names).catch(() => null);
  }

  // Scales that depend on the data keep the range of the first hour shown, so that colours do not change during playback.
  #range(key, range) {
    if (!this.#ranges.has(key) && range) this.#ranges.set(key, range);
    return this.#ranges.get(key) ?? range;
  }

  async #variable(name, units) {
    const query = String(new URLSearchParams({ name, units }));
    if (!this.#shown.has(query)) this.#shown.set(query, getJson(`/console/map/variable?${query}`));
    return this.#shown.get(query);
  }
}

function together(ranges) {
  if (!ranges.length) return null;
  const least = (pick) => Math.min(...ranges.map(pick));
  const most = (pick) => Math.max(...ranges.map(pick));
  return { low: least(({ low }) => low), high: most(({ high }) => high), bulk: [least(({ bulk }) => bulk[0]), most(({ bulk }) => bulk[1])] };
}

// The metadata of a stored variable, or of a wind speed computed from two.
export function facts(meta, name) {
  if (Object.hasOwn(meta.variables, name)) return meta.variables[name];
  const level = name.startsWith("ws") ? name.slice(2) : null;
  if (level === null || !Object.hasOwn(meta.variables, `u${level}`) || !Object.hasOwn(meta.variables, `v${level}`)) return null;
  const { units, level: where, step_minutes } = meta.variables[`u${level}`];
  return { units, long_name: "Wind speed", level: where, step_minutes };
}

// [{name, title, level}] of everything that can be drawn, computed wind speeds included.
export function drawable(meta) {
  const names = Object.keys(meta.variables);
  const speeds = names.filter((name) => name.startsWith("u") && facts(meta, `ws${name.slice(1)}`)).map((name) => `ws${name.slice(1)}`);
  const all = [...new Set([...names, ...speeds])].map((name) => ({ name, title: titleOf(meta, name), level: facts(meta, name).level }));
  return all.sort((a, b) => a.title.localeCompare(b.title, "en"));
}

export function firstVariable(meta) {
  return FIRST.find((name) => facts(meta, name)) ?? Object.keys(meta.variables).sort()[0] ?? "";
}

export function titleOf(meta, name) {
  const about = facts(meta, name);
  if (!about) return name;
  const begin = about.step_minutes?.[0];
  const hours = (about.step_minutes?.[1] - begin) / 60;
  const span = hours > 0 ? ` (${Number(hours.toFixed(2))} h)` : "";
  const level = about.long_name.toLowerCase().includes(about.level.toLowerCase().split(" ")[0]) ? "" : `, ${about.level}`;
  return `${about.long_name}${level}${span}`;
}

function windLevel(variables, name) {
  // Components still relative to the grid lack their counterpart, so the wind cannot be computed.
  const whole = (name) => Object.hasOwn(variables, name) && variables[name].winds !== "grid";
  const has = (level) => whole(`u${level}`) && whole(`v${level}`);
  const own = /^(?:ws|[a-z]+)(_\d+)$/.exec(name)?.[1] ?? (name.startsWith("ws") ? name.slice(2) : null);
  if (own && has(own)) return own;
  if (has("10")) return "10";
  return Object.keys(variables).filter((one) => one.startsWith("u") && has(one.slice(1))).map((one) => one.slice(1))[0] ?? null;
}
