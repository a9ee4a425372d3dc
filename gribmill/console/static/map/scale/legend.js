// The legend: the colour scale with its units, and a description for screen readers.
import { GROUND, STRIPE } from "../layers/hatch.js";
import { PAPER } from "../layers/picture.js";
import { numberText, ticksBetween } from "./numbers.js";

const SVG = "http://www.w3.org/2000/svg";
const WIDTH = 560;
const BAR = 16;
const STRIPES = 140;

// Redrawn only if it changes. `missing`: whether the field has points without a value.
export function drawLegend(element, scale, title, missing) {
  const colours = scale.levels ? scale.colours : [...scale.lut.subarray(0, 64), ...scale.lut.subarray(-64)];
  const key = [title, scale.units, scale.low, scale.high, scale.levels, colours, scale.meanings, missing].join("|");
  if (element.dataset.key === key && element.childNodes.length) return;
  element.replaceChildren();
  element.dataset.key = key;
  drawScale(element, scale, title);
  if (missing) drawMissing(element);
}

function drawMissing(element) {
  const text = element.ownerDocument.createElement("span");
  text.className = "missing";
  const key = add(text, "svg", { viewBox: "0 0 16 16", class: "swatch", "aria-hidden": "true" });
  add(key, "rect", { width: 16, height: 16, fill: `rgb(${GROUND})` });
  for (const x of [0, 8, 16]) add(key, "path", { d: `M${x + 2} -2L${x - 16} 16`, stroke: `rgb(${STRIPE})`, "stroke-width": 2 });
  text.append("no value");
  element.append(text);
}

function drawScale(element, scale, title) {
  if (scale.meanings.length) return drawMeanings(element, scale, title);
  const picture = add(element, "svg", { viewBox: `0 0 ${WIDTH} 40`, role: "img", class: "scale" });
  const ticks = scale.levels ? drawLevels(picture, scale) : drawBlend(picture, scale);
  const units = scale.units ? ` ${scale.units}` : "";
  picture.setAttribute("aria-label", `Colours of ${title} from ${ticks[0]} to ${ticks.at(-1)}${units}`);
  const text = element.ownerDocument.createElement("span");
  text.className = "units";
  text.textContent = scale.units;
  element.append(text);
}

function drawLevels(picture, scale) {
  const count = scale.colours.length;
  const width = WIDTH / count;
  scale.colours.forEach((colour, n) => bar(picture, n * width, width, colour));
  const every = Math.ceil(count / 12);
  const shown = scale.ticks.map((level) => numberText(Number(scale.toShown(level).toPrecision(3))));
  shown.forEach((text, n) => (n % every ? null : label(picture, (n + 1) * width, text)));
  return shown;
}

function drawBlend(picture, scale) {
  const width = WIDTH / STRIPES;
  for (let n = 0; n < STRIPES; n++) {
    const at = Math.round(((n + 0.5) / STRIPES) * (scale.lut.length / 4 - 1)) * 4;
    bar(picture, n * width, width + 0.5, [...scale.lut.subarray(at, at + 4)]);
  }
  const [low, high] = [scale.toShown(scale.low), scale.toShown(scale.high)];
  const ticks = ticksBetween(Math.min(low, high), Math.max(low, high));
  for (const tick of ticks) label(picture, ((tick - low) / (high - low)) * WIDTH, numberText(tick));
  return ticks.map(numberText);
}

function bar(picture, x, width, [r, g, b, a]) {
  const fill = `rgb(${a ? [r, g, b] : PAPER})`;
  add(picture, "rect", { x, y: 0, width, height: BAR, fill });
  if (!a) add(picture, "rect", { x: x + 0.5, y: 0.5, width: width - 1, height: BAR - 1, class: "nothing" });
}

function label(picture, x, text) {
  const anchor = x < 14 ? "start" : x > WIDTH - 14 ? "end" : "middle";
  add(picture, "line", { x1: x, x2: x, y1: BAR, y2: BAR + 4 });
  add(picture, "text", { x, y: BAR + 18, "text-anchor": anchor }).textContent = text;
}

function drawMeanings(element, scale, title) {
  const list = element.ownerDocument.createElement("ul");
  list.className = "meanings";
  list.setAttribute("aria-label", `Colours of ${title}`);
  scale.meanings.forEach((meaning, n) => {
    const item = element.ownerDocument.createElement("li");
    const key = add(item, "svg", { viewBox: "0 0 16 16", class: "swatch", "aria-hidden": "true" });
    bar(key, 0, 16, scale.colours[n]);
    item.append(meaning);
    list.append(item);
  });
  element.append(list);
}

export function add(parent, name, attributes) {
  const element = parent.ownerDocument.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  parent.append(element);
  return element;
}
