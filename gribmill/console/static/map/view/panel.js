// One map: a stack of canvases for colours, lines and particles.
import { drawBarbs } from "../layers/barbs.js";
import { Particles } from "../layers/particles.js";
import { Raster } from "../layers/raster.js";
import { Camera } from "./camera.js";

const MOST_RATIO = 2; // device pixels per CSS pixel
const MARGIN = 0.2; // share of the view drawn beyond each edge, so that panning only shifts the canvas
const ZOOMED = [0.6, 1.7]; // how far a drawing is scaled before it is redrawn
const REST_MS = 110;
const COAST = "rgb(16 16 24 / 0.9)";

export class Panel {
  #layers;
  #coast;
  #lines;
  #motes;
  #pin;
  #drawn = null; // the camera of the current drawing
  #resting = 0;

  constructor(element, { webgl }) {
    this.element = element;
    this.#layers = element.ownerDocument.createElement("div");
    this.#layers.className = "map-layers";
    element.prepend(this.#layers);
    this.raster = new Raster(this.#layers, { webgl });
    this.#coast = canvasIn(this.#layers, "coast");
    this.#lines = canvasIn(this.#layers, "lines");
    this.#motes = canvasIn(this.#layers, "particles");
    this.particles = new Particles(this.#motes);
    this.#pin = element.ownerDocument.createElement("div");
    this.#pin.className = "map-pin";
    this.#pin.hidden = true;
    element.append(this.#pin);
    this.content = null;
  }

  // {field, scale, grid, plane, coast, wind, windStyle, contours, picture}: drawn at once at the camera's position.
  show(content, camera) {
    const before = this.content;
    this.content = content;
    this.raster.show(content);
    const stays = this.#drawn && this.#fits(camera) && this.#drawn.scale === camera.scale && before?.plane.key === content.plane.key && before.coast === content.coast;
    if (!stays) return this.draw(camera);
    this.raster.draw(this.#drawn, this.#ratio);
    this.#drawLines();
    this.#blow(camera);
  }

  clear() {
    this.content = null;
    this.#drawn = null;
    clearTimeout(this.#resting);
    this.particles.stop();
    this.raster.hide();
    for (const canvas of [this.#coast, this.#lines]) canvas.width = canvas.width;
  }

  // Moves the drawing with the camera, and redraws when the camera stops or the drawing no longer fills the view.
  move(camera) {
    if (!this.content) return;
    clearTimeout(this.#resting);
    if (!this.#drawn || !this.#fits(camera)) return this.draw(camera);
    this.#place(camera);
    this.#resting = setTimeout(() => this.draw(camera), REST_MS);
  }

  draw(camera) {
    clearTimeout(this.#resting);
    if (!this.content) return;
    this.#drawn = Object.assign(new Camera(), camera, {
      width: Math.round(camera.width * (1 + 2 * MARGIN)),
      height: Math.round(camera.height * (1 + 2 * MARGIN)),
    });
    const { style } = this.#layers;
    [style.width, style.height] = [`${this.#drawn.width}px`, `${this.#drawn.height}px`];
    this.#place(camera);
    this.raster.draw(this.#drawn, this.#ratio);
    this.#drawCoast();
    this.#drawLines();
    this.particles.stop();
    this.#blow(camera);
  }

  // Shows a pin at a place in degrees; removes it for null.
  mark(place, camera) {
    const at = place && this.content ? this.content.plane.project(...place) : [NaN, NaN];
    this.#pin.hidden = !Number.isFinite(at[0] + at[1]);
    if (this.#pin.hidden) return;
    const { turn } = this.content.plane;
    if (turn) at[0] -= turn * Math.round((at[0] - camera.x) / turn);
    const [left, top] = camera.toScreen(...at);
    this.#pin.style.transform = `translate(${left}px, ${top}px)`;
  }

  get #ratio() {
    return Math.min(MOST_RATIO, window.devicePixelRatio || 1);
  }

  // Scale and shift from the drawing to the camera's view.
  #shift(camera) {
    const drawn = this.#drawn;
    const { turn } = this.content.plane;
    let dx = drawn.x - camera.x;
    if (turn) dx -= turn * Math.round(dx / turn);
    const factor = camera.scale / drawn.scale;
    const left = camera.width / 2 - (factor * drawn.width) / 2 + dx * camera.scale;
    const top = camera.height / 2 - (factor * drawn.height) / 2 - (drawn.y - camera.y) * camera.scale;
    return { factor, left, top };
  }

  #fits(camera) {
    const { factor, left, top } = this.#shift(camera);
    const within = factor >= ZOOMED[0] && factor <= ZOOMED[1] && left <= 1 && top <= 1;
    return within && left + factor * this.#drawn.width >= camera.width - 1 && top + factor * this.#drawn.height >= camera.height - 1;
  }

  #place(camera) {
    const { factor, left, top } = this.#shift(camera);
    const whole = (value) => (factor === 1 ? Math.round(value * this.#ratio) / this.#ratio : value);
    this.#layers.style.transform = `matrix(${factor}, 0, 0, ${factor}, ${whole(left)}, ${whole(top)})`;
  }

  #pen(canvas) {
    const ratio = this.#ratio;
    const [width, height] = [Math.round(this.#drawn.width * ratio), Math.round(this.#drawn.height * ratio)];
    const context = canvas.getContext("2d");
    context.setTransform(1, 0, 0, 1, 0, 0);
    if (canvas.width !== width || canvas.height !== height) [canvas.width, canvas.height] = [width, height];
    else context.clearRect(0, 0, width, height);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    return context;
  }

  #drawCoast() {
    const { coast } = this.content;
    const context = this.#pen(this.#coast);
    coast?.states.stroke(context, this.#drawn, { colour: "rgb(40 40 48 / 0.5)", width: 0.7 });
    coast?.borders.stroke(context, this.#drawn, { colour: "rgb(24 24 32 / 0.8)", width: 1 });
    coast?.land.stroke(context, this.#drawn, { colour: COAST, width: 1, light: "rgb(255 255 255 / 0.45)" });
  }

  #drawLines() {
    const { contours, wind, windStyle, plane } = this.content;
    this.#lines.hidden = !contours && (windStyle !== "barbs" || !wind); // compositing an empty canvas costs as much
    if (this.#lines.hidden) return;
    const context = this.#pen(this.#lines);
    contours?.draw(context, this.#drawn, { colour: "#111318", halo: "rgb(255 255 255 / 0.65)" });
    if (windStyle === "barbs" && wind) drawBarbs(context, wind, plane, this.#drawn, { colour: "#14161c", halo: "rgb(255 255 255 / 0.7)" });
  }

  // Particles are only drawn within the view, not beyond its edges.
  #blow(camera) {
    const { wind, windStyle, plane } = this.content;
    this.#motes.hidden = windStyle !== "particles" || !wind;
    if (this.#motes.hidden) return this.particles.stop();
    const { style } = this.#motes;
    const view = Object.assign(new Camera(), this.#drawn, { width: camera.width, height: camera.height });
    [style.width, style.height] = [`${view.width}px`, `${view.height}px`];
    style.transform = `translate(${(this.#drawn.width - view.width) / 2}px, ${(this.#drawn.height - view.height) / 2}px)`;
    this.particles.show(wind, plane, view, "20 24 32");
  }
}

function canvasIn(element, name) {
  const canvas = element.ownerDocument.createElement("canvas");
  canvas.className = name;
  canvas.setAttribute("aria-hidden", "true");
  element.append(canvas);
  return canvas;
}
