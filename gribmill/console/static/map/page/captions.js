// The text around the maps: titles, legends, notes, credits.
import { drawLegend } from "../scale/legend.js";
import { runText } from "./catalogue.js";
import { titleOf } from "./fields.js";
import { shownText } from "./readout.js";

const KEYS = "Arrow keys move the map, plus and minus zoom, 0 shows all of it, comma and full stop change the hour, Enter shows the forecast for the centre.";

// `other` is the tile that `tile` is compared with.
export function describe(figures, state, { tile, other, layers }) {
  const name = ({ meta }) => `${meta.model.toUpperCase()} ${runText(meta.run)}`;
  layers.forEach((layer, n) => {
    const minus = state.compare === "difference" && other ? ` minus ${name(other)}` : "";
    const title = titleOf(layer.tile.meta, state.variable);
    const text = `${name(layer.tile)}${minus}: ${title}`;
    const figure = figures[n];
    set(figure.querySelector(".what"), text);
    set(figure.querySelector(".range"), rangeText(layer));
    drawLegend(figure.querySelector(".map-legend"), layer.scale, title, Boolean(layer.range?.missing ?? true));
    const place = tile.meta.region.title || state.region;
    figure.querySelector(".map-panel").setAttribute("aria-label", `Map of ${title}, ${name(layer.tile)}${minus}, ${place}. ${KEYS}`);
  });
}

export function creditsOf({ tile, other }) {
  return [...new Set([tile, other].filter(Boolean).map(({ meta }) => meta.attribution).filter(Boolean))].join(" ");
}

export function notesOf(state, { tile, other, layers }) {
  const notes = [];
  if (state.compare === "difference" && other && other.grid.key !== tile.grid.key) notes.push("Values of the second model are from its nearest grid point.");
  if (layers.length && state.wind !== "none" && !layers[0].wind) notes.push("This tile has no wind.");
  if (layers.length && state.isobars && !layers[0].contours) notes.push("This tile has no pressure at sea level.");
  return notes;
}

function rangeText({ range, scale }) {
  if (!range) return "no values";
  if (scale.meanings.length) return "";
  return `${shownText(scale, range.low)} to ${shownText(scale, range.high)}${scale.units ? ` ${scale.units}` : ""}`;
}

function set(element, text) {
  if (element.textContent !== text) element.textContent = text;
}
