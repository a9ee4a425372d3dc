// The visible part of the plane: centre of the view, and pixels per unit of the plane.
const MARGIN = 0.96;
const LARGEST_CELL = 120; // pixels

export class Camera {
  x = 0;
  y = 0;
  scale = 1;
  most = LARGEST_CELL; // the largest scale
  width = 1;
  height = 1;

  resize(width, height) {
    [this.width, this.height] = [Math.max(1, width), Math.max(1, height)];
  }

  // Shows all of these bounds, or one turn of a repeating plane. `cell` is the height of a cell of the tile.
  fit([west, south, east, north], turn = null, cell = 1) {
    this.most = LARGEST_CELL / cell;
    [this.x, this.y] = [(west + east) / 2, (south + north) / 2];
    this.bounds = [west, south, east, north];
    const round = turn !== null && east - west > 0.99 * turn;
    this.least = round ? this.width / turn : Math.min(this.width / (east - west), this.height / (north - south)) * MARGIN;
    this.scale = this.least;
    this.round = round;
  }

  toScreen(x, y) {
    return [this.width / 2 + (x - this.x) * this.scale, this.height / 2 - (y - this.y) * this.scale];
  }

  toPlane(left, top) {
    return [this.x + (left - this.width / 2) / this.scale, this.y - (top - this.height / 2) / this.scale];
  }

  move(left, top) {
    this.x -= left / this.scale;
    this.y += top / this.scale;
    this.#keepInside();
  }

  // Zooms around a point of the screen, which stays in place.
  zoom(factor, left = this.width / 2, top = this.height / 2) {
    const [x, y] = this.toPlane(left, top);
    this.scale = Math.min(Math.max(this.scale * factor, this.least * (this.round ? 1 : 0.5)), Math.max(this.most, this.least));
    this.x = x - (left - this.width / 2) / this.scale;
    this.y = y + (top - this.height / 2) / this.scale;
    this.#keepInside();
  }

  #keepInside() {
    const [west, south, east, north] = this.bounds ?? [-Infinity, -Infinity, Infinity, Infinity];
    if (this.round) this.x -= (east - west) * Math.floor((this.x - west) / (east - west));
    else this.x = Math.min(Math.max(this.x, west), east);
    this.y = Math.min(Math.max(this.y, south), north);
  }
}
