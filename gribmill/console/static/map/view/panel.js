// One map: a stack of canvases for colours, lines and particles, and what is drawn on each.
import { drawBarbs } from "../layers/barbs.js";
import { Particles } from "../layers/particles.js";
import { Raster } from "../layers/raster.js";

const MOST_RATIO = 2; // pixels of the screen per CSS pixel

export class Panel {
  #lines;
  #settling = 0;

  constructor(element, { webgl }) {
    this.element = element;
    this.raster = new Raster(element, { webgl });
    this.#lines = canvasIn(element, "lines");
    this.particles = new Particles(canvasIn(element, "particles"));
    this.content = null;
  }

  // {field, scale, grid, plane, coast, wind, windStyle, contours}
  show(content) {
    this.content = content;
    this.raster.show(content);
  }

  clear() {
    this.content = null;
    this.particles.stop();
    for (const canvas of this.element.querySelectorAll("canvas")) canvas.width = canvas.width;
  }

  // Colours and lines at once; particles begin again when the view has come to rest.
  draw(camera, crosshair = null) {
    if (!this.content) return;
    const ratio = Math.min(MOST_RATIO, window.devicePixelRatio || 1);
    this.raster.draw(camera, ratio);
    this.#drawLines(camera, ratio, crosshair);
    this.particles.stop();
    clearTimeout(this.#settling);
    const { wind, windStyle, plane } = this.content;
    if (windStyle === "particles" && wind) {
      this.#settling = setTimeout(() => this.particles.show(wind, plane, camera, "20 24 32"), 60);
    }
  }

  #drawLines(camera, ratio, crosshair) {
    const canvas = this.#lines;
    [canvas.width, canvas.height] = [Math.round(camera.width * ratio), Math.round(camera.height * ratio)];
    const context = canvas.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    const { coast, contours, wind, windStyle, plane } = this.content;
    coast?.states.stroke(context, camera, { colour: "rgb(40 40 48 / 0.45)", width: 0.7 });
    coast?.borders.stroke(context, camera, { colour: "rgb(24 24 32 / 0.75)", width: 1 });
    coast?.land.stroke(context, camera, { colour: "rgb(16 16 24 / 0.9)", width: 1.2, halo: "rgb(255 255 255 / 0.35)" });
    contours?.draw(context, camera, { colour: "#111318", halo: "rgb(255 255 255 / 0.65)" });
    if (windStyle === "barbs" && wind) drawBarbs(context, wind, plane, camera, { colour: "#14161c", halo: "rgb(255 255 255 / 0.7)" });
    if (crosshair) drawCrosshair(context, ...crosshair);
  }
}

function canvasIn(element, name) {
  const canvas = element.ownerDocument.createElement("canvas");
  canvas.className = name;
  canvas.setAttribute("aria-hidden", "true");
  element.append(canvas);
  return canvas;
}

function drawCrosshair(context, left, top) {
  for (const [colour, width] of [["#ffffff", 4], ["#111111", 1.6]]) {
    context.strokeStyle = colour;
    context.lineWidth = width;
    context.beginPath();
    for (const [dx, dy] of [[1, 0], [-1, 0], [0, 1], [0, -1]]) {
      context.moveTo(left + 4 * dx, top + 4 * dy);
      context.lineTo(left + 13 * dx, top + 13 * dy);
    }
    context.stroke();
  }
}
