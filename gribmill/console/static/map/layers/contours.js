// Isobars with their values.
import { numberText } from "../scale/numbers.js";
import { PlaneLines, turnsInView } from "../view/lines.js";

const LABEL_EVERY_PIXELS = 260;
const LABEL_MARGIN = 24;

export class Contours {
  // `found` are the worker's lines, in cells of a grid.
  constructor(found, grid, plane) {
    this.plane = plane;
    this.lines = [];
    let begin = 0;
    found.ends.forEach((end, n) => {
      const line = [];
      for (let at = begin; at < end; at++) line.push(...plane.place(grid, found.points[2 * at + 1], found.points[2 * at]));
      if (line.every(Number.isFinite)) this.lines.push({ line, level: found.levels[n] });
      begin = end;
    });
    this.drawn = new PlaneLines(this.lines.map(({ line }) => line), plane.turn);
  }

  draw(context, camera, { colour, halo }) {
    this.drawn.stroke(context, camera, { colour, light: halo, width: 1 });
    context.font = "600 11px system-ui, sans-serif";
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.lineJoin = "round";
    context.lineWidth = 4;
    context.strokeStyle = halo;
    context.fillStyle = colour;
    const taken = [];
    for (const shift of turnsInView(camera, this.plane.turn)) {
      for (const { line, level } of this.lines) this.#label(context, camera, line, shift, numberText(level), taken);
    }
  }

  #label(context, camera, line, shift, text, taken) {
    let since = LABEL_EVERY_PIXELS / 2;
    let before = null;
    for (let at = 0; at < line.length; at += 2) {
      const place = camera.toScreen(line[at] + shift, line[at + 1]);
      if (before) since += Math.hypot(place[0] - before[0], place[1] - before[1]);
      before = place;
      if (since < LABEL_EVERY_PIXELS || !inside(place, camera) || taken.some((other) => Math.hypot(place[0] - other[0], place[1] - other[1]) < 40)) continue;
      context.strokeText(text, ...place);
      context.fillText(text, ...place);
      taken.push(place);
      since = 0;
    }
  }
}

function inside([left, top], camera) {
  return left > LABEL_MARGIN && top > LABEL_MARGIN && left < camera.width - LABEL_MARGIN && top < camera.height - LABEL_MARGIN;
}
