// The value under the pointer, as text and as data attributes.
import { placeText } from "../forecast/meteogram.js";
import { valueText } from "../scale/numbers.js";
import { exact } from "../tile/float32.js";

const HINT = "Point at the map for a value; click for the forecast.";

// The cell of a layer at a point of the plane: row, column, value, latitude and longitude; null outside the tile.
export function cellAt(layer, plane, x, y) {
  const straight = plane.grid?.key === layer.grid.key;
  const cell = straight ? layer.grid.cell(y, x / plane.aspect) : layer.grid.nearest(...plane.unproject(x, y));
  if (!cell) return null;
  const [lat, lon] = layer.grid.latlon(...cell);
  return { row: cell[0], column: cell[1], lat, lon, value: layer.values[cell[0] * layer.grid.columns + cell[1]] };
}

// `cells` are [layer, cell] of each map that has a cell at this point.
export function showReadout(output, cells, { several, spoken }) {
  output.setAttribute("aria-live", spoken ? "polite" : "off");
  if (!cells.length) {
    output.textContent = HINT;
    for (const name of Object.keys(output.dataset)) delete output.dataset[name];
    return;
  }
  output.textContent = cells.map(([layer, cell]) => textOf(layer, cell, several)).join(" · ");
  const [, { value, row, column }] = cells[0];
  Object.assign(output.dataset, { value: exact(value), row, column });
}

function textOf({ scale, about, tile }, { value, lat, lon, row, column }, several) {
  const where = `${placeText({ lat, lon })}, row ${row}, column ${column}`;
  const name = several ? `${tile.meta.model.toUpperCase()} ` : "";
  if (Number.isNaN(value)) return `${name}no value at ${where}`;
  if (scale.meanings.length) return `${name}${scale.meanings[scale.levels.filter((level) => value >= level).length]} (code ${exact(value)}) at ${where}`;
  const native = scale.factor === 1 && scale.offset === 0 ? `exactly ${exact(value)}` : `${exact(value)} ${about.units}`;
  return `${name}${shownText(scale, value)} ${scale.units} (${native}) at ${where}`;
}

// A value in display units, with as many digits as the scale can distinguish.
export function shownText(scale, value) {
  const step = ((scale.high ?? scale.levels.at(-1)) - (scale.low ?? scale.levels[0])) * Math.abs(scale.factor) * 0.01;
  return valueText(scale.toShown(value), step);
}
