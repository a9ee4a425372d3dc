// A field in colours on a canvas, by WebGL2 where there is one, and without it elsewhere.
import { meshOf } from "../view/mesh.js";
import { CanvasRaster } from "./raster_2d.js";
import { GlRaster } from "./raster_gl.js";

export class Raster {
  #canvas;
  #drawer;

  constructor(parent, { webgl = true } = {}) {
    this.parent = parent;
    this.#begin(webgl);
  }

  get kind() {
    return this.#drawer instanceof GlRaster ? "WebGL2" : "canvas";
  }

  get canvas() {
    return this.#canvas;
  }

  #begin(webgl) {
    const canvas = this.parent.ownerDocument.createElement("canvas");
    canvas.className = "raster";
    canvas.setAttribute("aria-hidden", "true");
    if (this.#canvas) this.#canvas.replaceWith(canvas);
    else this.parent.append(canvas);
    if (this.#canvas) [canvas.width, canvas.height] = [this.#canvas.width, this.#canvas.height];
    this.#canvas = canvas;
    if (webgl) this.#drawer = glOn(canvas);
    if (webgl && !this.#drawer) return this.#begin(false); // on another canvas: this one may be taken by WebGL
    if (!webgl) this.#drawer = new CanvasRaster(canvas);
    canvas.addEventListener("webglcontextlost", () => {
      this.#begin(false);
      if (this.shown) this.show(this.shown);
    });
  }

  show({ field, scale, plane, grid }) {
    this.shown = { field, scale, plane, grid };
    if (this.#drawer instanceof GlRaster && Math.max(grid.rows, grid.columns) > this.#drawer.largest) this.#begin(false);
    this.#drawer.setField(field, grid.rows, grid.columns);
    this.#drawer.setScale(scale);
    if (this.#drawer instanceof CanvasRaster) this.#drawer.setPlane(plane, grid);
    else this.#drawer.setMesh(meshOf(grid, plane), plane.turn);
  }

  draw(camera, ratio) {
    const [width, height] = [Math.round(camera.width * ratio), Math.round(camera.height * ratio)];
    if (this.#canvas.width !== width) this.#canvas.width = width;
    if (this.#canvas.height !== height) this.#canvas.height = height;
    this.#drawer.draw(camera);
  }
}

function glOn(canvas) {
  try {
    return GlRaster.on(canvas);
  } catch {
    return null; // a driver that cannot run the shaders
  }
}
