// A field in colours, drawn without WebGL: the picture of the grid is scaled, or each pixel looked up where it is bent.
import { colourOf } from "../scale/scale.js";
import { turnsInView } from "../view/lines.js";

const PIXEL = 2; // looked up pixels are this wide

export class CanvasRaster {
  #context;
  #field = null;
  #scale = null;
  #plane = null;
  #picture = null;

  constructor(canvas) {
    this.#context = canvas.getContext("2d");
  }

  setField(values, rows, columns) {
    this.#field = { values, rows, columns };
    this.#picture = null;
  }

  setScale(scale) {
    this.#scale = scale;
    this.#picture = null;
  }

  setPlane(plane, grid) {
    [this.#plane, this.grid] = [plane, grid];
  }

  draw(camera) {
    const context = this.#context;
    const { width, height } = context.canvas;
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, width, height);
    if (!this.#field || !this.#scale) return;
    context.setTransform(width / camera.width, 0, 0, height / camera.height, 0, 0);
    if (this.#plane.grid?.key === this.grid.key) this.#drawScaled(camera);
    else this.#drawLookedUp(camera);
  }

  #drawScaled(camera) {
    const { values, rows, columns } = this.#field;
    if (!this.#picture) {
      const image = new ImageData(columns, rows);
      for (let at = 0; at < values.length; at++) {
        const row = rows - 1 - Math.floor(at / columns);
        image.data.set(colourOf(this.#scale, values[at]), (row * columns + (at % columns)) * 4);
      }
      this.#picture = new OffscreenCanvas(columns, rows);
      this.#picture.getContext("2d").putImageData(image, 0, 0);
    }
    const [west, south, east, north] = this.#plane.bounds();
    this.#context.imageSmoothingEnabled = false;
    for (const shift of turnsInView(camera, this.#plane.turn)) {
      const [left, top] = camera.toScreen(west + shift, north);
      this.#context.drawImage(this.#picture, left, top, (east - west) * camera.scale, (north - south) * camera.scale);
    }
  }

  #drawLookedUp(camera) {
    const [across, down] = [Math.ceil(camera.width / PIXEL), Math.ceil(camera.height / PIXEL)];
    const image = new ImageData(across, down);
    for (let row = 0, at = 0; row < down; row++) {
      for (let column = 0; column < across; column++, at += 4) {
        const place = camera.toPlane((column + 0.5) * PIXEL, (row + 0.5) * PIXEL);
        const cell = this.grid.nearest(...this.#plane.unproject(...place));
        if (cell) image.data.set(colourOf(this.#scale, this.#field.values[cell[0] * this.#field.columns + cell[1]]), at);
      }
    }
    const small = new OffscreenCanvas(across, down);
    small.getContext("2d").putImageData(image, 0, 0);
    this.#context.imageSmoothingEnabled = false;
    this.#context.drawImage(small, 0, 0, across * PIXEL, down * PIXEL);
  }
}
