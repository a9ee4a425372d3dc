// The plane of the map: the tile's own grid, or Web Mercator. x increases eastward, y northward.
import { RADIANS } from "../grids/earth.js";

const WEB_LIMIT_DEG = 85.0511; // where web maps end
const FARTHEST_DEG = 89.5; // Mercator is infinite at the poles

function mercator(lat) {
  return Math.asinh(Math.tan(lat * RADIANS)) / RADIANS;
}

// One unit is the height of a cell: nothing is resampled.
export class NativePlane {
  constructor(grid) {
    this.grid = grid;
    this.aspect = grid.aspect;
    this.key = `native ${grid.key}`;
    this.turn = grid.ring ? grid.columns * this.aspect : null;
    this.farthest = Math.max(grid.columns * this.aspect, grid.rows);
  }

  edge = Infinity;

  // Ratio of the horizontal to the vertical unit at a given y.
  narrowing(y) {
    return this.grid.narrowing(y);
  }

  project(lat, lon) {
    const [j, i] = this.grid.index(lat, lon);
    return [i * this.aspect, j];
  }

  unproject(x, y) {
    return this.grid.latlon(y, x / this.aspect);
  }

  // The position of a fractional row and column of any grid.
  place(grid, j, i) {
    if (grid.key === this.grid.key) return [i * this.aspect, j];
    return this.project(...grid.latlon(j, i));
  }

  bounds() {
    const { rows, columns } = this.grid;
    return [-0.5 * this.aspect, -0.5, (columns - 0.5) * this.aspect, rows - 0.5];
  }
}

// One unit is a degree of longitude.
export class WebMercatorPlane {
  turn = 360;
  farthest = 360;
  edge = mercator(WEB_LIMIT_DEG);

  constructor(grid) {
    this.middle = grid.latlon((grid.rows - 1) / 2, (grid.columns - 1) / 2)[1];
    this.home = grid;
    this.key = `web ${grid.key}`;
  }

  project(lat, lon) {
    const within = Math.max(-FARTHEST_DEG, Math.min(FARTHEST_DEG, lat));
    const x = lon - 360 * Math.round((lon - this.middle) / 360);
    return [x, mercator(within)];
  }

  narrowing() {
    return 1;
  }

  unproject(x, y) {
    const lon = x - 360 * Math.floor((x + 180) / 360);
    return [Math.atan(Math.sinh(y * RADIANS)) / RADIANS, lon];
  }

  place(grid, j, i) {
    const [lat, lon] = grid.latlon(j, i);
    const [x, y] = this.project(lat, lon);
    // The columns are meridians: counting from the middle one avoids jumps at the edges.
    if (!grid.meridians) return [x, y];
    const step = grid.source.dlon;
    const middle = (grid.columns - 1) / 2;
    const [centre] = this.project(0, grid.latlon((grid.rows - 1) / 2, middle)[1]);
    return [centre + (i - middle) * step, y];
  }

  bounds() {
    const found = [Infinity, Infinity, -Infinity, -Infinity];
    const { rows, columns } = this.home;
    const top = this.edge;
    for (let n = 0; n <= 32; n++) {
      const [j, i] = [(n / 32) * rows - 0.5, (n / 32) * columns - 0.5];
      for (const place of [[-0.5, i], [rows - 0.5, i], [j, -0.5], [j, columns - 0.5], [j, (columns - 1) / 2], [(rows - 1) / 2, i]]) {
        const [x, y] = this.place(this.home, ...place);
        if (!Number.isFinite(x + y)) continue;
        found[0] = Math.min(found[0], x);
        found[1] = Math.min(found[1], Math.max(y, -top));
        found[2] = Math.max(found[2], x);
        found[3] = Math.max(found[3], Math.min(y, top));
      }
    }
    return found;
  }
}
