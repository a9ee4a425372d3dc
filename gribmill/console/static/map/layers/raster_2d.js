// Draws a field in colours without WebGL: scales its bitmap or, on another projection, looks up each pixel.
import { turnsInView } from "../view/lines.js";
import { hatchPattern } from "./hatch.js";
import { pictureOf } from "./picture.js";

const PIXEL = 2; // size of looked-up pixels

export class CanvasRaster {
  #context;
  #content = null;
  #picture = null; // of the whole grid, as a canvas or a bitmap
  #pixels = null; // the picture as 32-bit pixels, if pixels are looked up

  constructor(canvas) {
    this.#context = canvas.getContext("2d");
  }

  // `picture` is the field's bitmap if the worker painted it; `range` says whether points are missing.
  show({ field, scale, plane, grid, picture = null, range = null }) {
    this.#picture?.close?.();
    this.#content = { field, scale, plane, grid, whole: range?.missing === 0 };
    this.#picture = picture;
    this.#pixels = null;
  }

  get #straight() {
    return this.#content.plane.grid?.key === this.#content.grid.key;
  }

  draw(camera) {
    const context = this.#context;
    const { width, height } = context.canvas;
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, width, height);
    if (!this.#content) return;
    context.imageSmoothingEnabled = false;
    const ratio = width / camera.width;
    if (this.#straight) this.#drawScaled(camera, ratio);
    else this.#drawLookedUp(camera, ratio);
  }

  #painted() {
    const { field, scale, grid } = this.#content;
    return pictureOf(field, grid.rows, grid.columns, scale);
  }

  #drawScaled(camera, ratio) {
    const { plane, grid, whole } = this.#content;
    if (!this.#picture) {
      this.#picture = new OffscreenCanvas(grid.columns, grid.rows);
      this.#picture.getContext("2d").putImageData(this.#painted(), 0, 0);
    }
    const [west, south, east, north] = plane.bounds();
    const [width, height] = [(east - west) * camera.scale * ratio, (north - south) * camera.scale * ratio];
    const hatch = whole ? null : hatchPattern(this.#context, ratio);
    for (const shift of turnsInView(camera, plane.turn)) {
      const [left, top] = camera.toScreen(west + shift, north).map((one) => one * ratio);
      if (hatch) this.#context.fillStyle = hatch;
      if (hatch) this.#context.fillRect(left, top, width, height);
      this.#context.drawImage(this.#picture, left, top, width, height);
    }
  }

  #drawLookedUp(camera, ratio) {
    const { plane, grid } = this.#content;
    this.#pixels ??= new Uint32Array(this.#painted().data.buffer);
    const [across, down] = [Math.ceil(camera.width / PIXEL), Math.ceil(camera.height / PIXEL)];
    const [found, holes] = [new ImageData(across, down), new ImageData(across, down)];
    const [colours, missing] = [found, holes].map((image) => new Uint32Array(image.data.buffer));
    for (let row = 0, at = 0; row < down; row++) {
      for (let column = 0; column < across; column++, at++) {
        const place = camera.toPlane((column + 0.5) * PIXEL, (row + 0.5) * PIXEL);
        const cell = grid.nearest(...plane.unproject(...place));
        if (!cell) continue;
        colours[at] = this.#pixels[(grid.rows - 1 - cell[0]) * grid.columns + cell[1]];
        if (!colours[at]) missing[at] = 0xffffffff;
      }
    }
    const context = this.#context;
    this.#stretch(holes, ratio);
    context.globalCompositeOperation = "source-in";
    context.fillStyle = hatchPattern(context, ratio);
    context.fillRect(0, 0, context.canvas.width, context.canvas.height);
    context.globalCompositeOperation = "source-over";
    this.#stretch(found, ratio);
  }

  #stretch(image, ratio) {
    const small = new OffscreenCanvas(image.width, image.height);
    small.getContext("2d").putImageData(image, 0, 0);
    this.#context.drawImage(small, 0, 0, image.width * PIXEL * ratio, image.height * PIXEL * ratio);
  }
}
