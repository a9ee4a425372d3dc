// The colour scale of a field: maps values in the tile's units to colours and to display units.
import { categoriesOf } from "./categories.js";
import { hexToRgb, mixed } from "./rgb.js";

export const LUT_SIZE = 1024;
const TAIL = 0.25; // fraction of the range without outliers: points within this distance of it are not outliers

// `table` is the server's colour table; `variable[system]` is [units, factor, offset]; `range` describes the values.
export function scaleOf({ table, variable, system, range, flags, symmetric = false }) {
  const [units, factor, offset] = variable[system];
  const toShown = (value) => value * factor + offset;
  const base = { units: plainUnits(units), factor, offset, toShown, meanings: [] };
  const codes = flags && categoriesOf(flags);
  if (codes) return { ...base, units: "", ...codes };
  if (table.levels.length) return { ...base, ...leveled(table, variable, system) };
  return { ...base, ...blended(table, variable, range, symmetric) };
}

function leveled(table, variable, system) {
  const us = system === "us" && table.us_levels.length && variable.us[0] === table.us_units;
  const [factor, offset] = us ? variable.us.slice(1) : variable.to_palette;
  const levels = (us ? table.us_levels : table.levels).map((level) => (level - offset) / factor);
  // With a tolerance, because float32 rounding moves values off round levels.
  const slack = 1e-5 * Math.abs(levels.at(-1) - levels[0] || 1);
  const colours = table.colours.map((colour) => (colour ? [...hexToRgb(colour), 255] : [0, 0, 0, 0]));
  return { levels: levels.map((level) => level - slack), ticks: levels, colours };
}

function blended(table, variable, range, symmetric) {
  const [factor, offset] = variable.to_palette;
  const toNative = (place) => (place - offset) / factor;
  let [low, high] = bulkOf(range);
  if (symmetric) {
    const most = Math.max(Math.abs(low), Math.abs(high)) || 1;
    [low, high] = [-most, most];
  }
  const stops = table.relative
    ? table.stops.map(([place, colour]) => [symmetric ? place * high : low + place * (high - low), hexToRgb(colour)])
    : table.stops.map(([place, colour]) => [toNative(place), hexToRgb(colour)]);
  if (!table.relative) [low, high] = within([low, high], stops);
  if (!(high > low)) [low, high] = [low - 0.5, low + 0.5];
  const lut = new Uint8Array(LUT_SIZE * 4);
  for (let n = 0; n < LUT_SIZE; n++) lut.set([...mixed(stops, low + ((high - low) * n) / (LUT_SIZE - 1)), 255], n * 4);
  return { low, high, lut };
}

// The range without outliers.
function bulkOf(range) {
  if (!range) return [0, 1];
  const [a, b] = range.bulk;
  const tail = TAIL * (b - a);
  return [range.low >= a - tail ? range.low : a, range.high <= b + tail ? range.high : b];
}

function within([low, high], stops) {
  const [first, last] = [stops[0][0], stops.at(-1)[0]];
  return [Math.min(Math.max(low, first), last), Math.max(Math.min(high, last), first)];
}

function plainUnits(units) {
  return ["1", "-", "~", "Numeric"].includes(units) ? "" : units;
}

// Red, green, blue and opacity of a value, as the map draws it.
export function colourOf(scale, value) {
  if (Number.isNaN(value)) return [0, 0, 0, 0];
  if (scale.levels) {
    let n = 0;
    while (n < scale.levels.length && value >= Math.fround(scale.levels[n])) n++;
    return scale.colours[n];
  }
  const share = Math.min(1, Math.max(0, (value - scale.low) / (scale.high - scale.low)));
  const at = Math.round(share * (LUT_SIZE - 1)) * 4;
  return [...scale.lut.subarray(at, at + 4)];
}
