// Draws a field in colours with WebGL2. Without WebGL2, or with software rendering on the tile's own grid, draws it as
// a scaled bitmap, which is faster there.
import { CanvasRaster } from "./raster_2d.js";
import { GlRaster } from "./raster_gl.js";

export class Raster {
  #drawers = {};
  #kind = "";

  // `webgl`: false disables it; "always" uses it even if a bitmap would be faster.
  constructor(parent, { webgl = true } = {}) {
    Object.assign(this, { parent, always: webgl === "always" });
    if (webgl) this.#begin("WebGL2", glOn);
    if (!this.#drawers.WebGL2) this.#flat();
  }

  get kind() {
    return this.#kind;
  }

  get canvas() {
    return this.#drawers[this.#kind].canvas;
  }

  // Whether a bitmap from the worker can be used.
  picturesOf(plane, grid) {
    return this.#kindFor(plane, grid) === "canvas" && plane.grid?.key === grid.key;
  }

  #kindFor(plane, grid) {
    const gl = this.#drawers.WebGL2?.drawer;
    if (!gl || Math.max(grid.rows, grid.columns) > gl.largest) return "canvas";
    return gl.software && !this.always && plane.grid?.key === grid.key ? "canvas" : "WebGL2";
  }

  #flat() {
    this.#begin("canvas", (canvas) => new CanvasRaster(canvas));
  }

  #begin(kind, make) {
    const canvas = this.parent.ownerDocument.createElement("canvas");
    canvas.className = "raster";
    canvas.hidden = true;
    canvas.setAttribute("aria-hidden", "true");
    const drawer = make(canvas);
    if (!drawer) return;
    this.parent.prepend(canvas);
    this.#drawers[kind] = { canvas, drawer };
    this.#kind ||= kind;
    canvas.addEventListener("webglcontextlost", () => this.#lost());
  }

  #lost() {
    this.#drawers.WebGL2.canvas.remove();
    delete this.#drawers.WebGL2;
    if (!this.#drawers.canvas) this.#flat();
    if (this.shown) this.show({ ...this.shown, picture: null });
  }

  // {field, scale, plane, grid, picture}
  show(content) {
    this.shown = { ...content, picture: null };
    this.#kind = this.#kindFor(content.plane, content.grid);
    if (!this.#drawers[this.#kind]) this.#flat();
    for (const [kind, { canvas }] of Object.entries(this.#drawers)) canvas.hidden = kind !== this.#kind;
    this.#drawers[this.#kind].drawer.show(content);
  }

  draw(camera, ratio) {
    const { canvas, drawer } = this.#drawers[this.#kind];
    const [width, height] = [Math.round(camera.width * ratio), Math.round(camera.height * ratio)];
    if (canvas.width !== width) canvas.width = width;
    if (canvas.height !== height) canvas.height = height;
    drawer.draw(camera);
  }

  hide() {
    for (const { canvas } of Object.values(this.#drawers)) canvas.hidden = true;
  }
}

function glOn(canvas) {
  try {
    return GlRaster.on(canvas);
  } catch {
    return null; // the driver cannot run the shaders
  }
}
