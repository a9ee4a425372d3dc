// A field as a bitmap: one pixel for each grid point, north up.
import { LUT_SIZE } from "../scale/scale.js";

// The colour of values that the scale leaves out: the background of the map.
export const PAPER = [246, 247, 245];

// Colours as 32-bit pixels in native byte order.
function pixelsOf(colours) {
  const bytes = new Uint8ClampedArray(colours.length * 4);
  colours.forEach(([r, g, b, a], n) => bytes.set(a ? [r, g, b, 255] : [...PAPER, 255], n * 4));
  return new Uint32Array(bytes.buffer);
}

// Missing points are transparent. `scale` needs only its numbers and colours.
export function pictureOf(values, rows, columns, scale) {
  const image = new ImageData(columns, rows);
  const pixels = new Uint32Array(image.data.buffer);
  const paint = scale.levels ? byLevels : byBlend;
  for (let row = 0; row < rows; row++) paint(values, row * columns, columns, scale, pixels, (rows - 1 - row) * columns);
  return image;
}

function byLevels(values, from, count, scale, pixels, to) {
  const levels = (scale.rounded ??= Float32Array.from(scale.levels));
  const colours = (scale.pixels ??= pixelsOf(scale.colours));
  for (let at = 0; at < count; at++) {
    const value = values[from + at];
    if (value !== value) continue;
    let [low, high] = [0, levels.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (value >= levels[middle]) low = middle + 1;
      else high = middle;
    }
    pixels[to + at] = colours[low];
  }
}

function byBlend(values, from, count, { low, high, lut }, pixels, to) {
  const colours = new Uint32Array(lut.buffer, lut.byteOffset, LUT_SIZE);
  const last = LUT_SIZE - 1;
  const factor = last / (high - low);
  for (let at = 0; at < count; at++) {
    const value = values[from + at];
    if (value !== value) continue;
    const place = (value - low) * factor + 0.5;
    pixels[to + at] = colours[place <= 0 ? 0 : place >= last ? last : place | 0];
  }
}
