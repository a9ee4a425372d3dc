// Grids evenly spaced in degrees, and regular Gaussian grids, whose latitudes are in the tile.
import { RADIANS, wrapLongitude } from "./earth.js";

// Fractional column, in the 360° turn centred on the grid.
export function columnOf(lon, { west, dlon, nx, wraps }) {
  const middle = (nx - 1) / 2;
  const turn = wraps ? nx : 360 / dlon;
  const from = (lon - west) / dlon - middle + turn / 2;
  return from - turn * Math.floor(from / turn) - turn / 2 + middle;
}

export class LatLonGrid {
  constructor(spec) {
    Object.assign(this, spec);
    this.wraps = this.nx > 1 && Math.abs(this.nx * this.dlon - 360) < 0.05 * this.dlon;
  }

  latlon(j, i) {
    return [this.south + this.dlat * j, wrapLongitude(this.west + this.dlon * i)];
  }

  index(lat, lon) {
    return [(lat - this.south) / this.dlat, columnOf(lon, this)];
  }

  // Width-to-height ratio of a cell at this latitude, so that shapes are undistorted in the middle of the map.
  aspectAt(lat) {
    return (this.dlon / this.dlat) * Math.max(0.2, Math.cos(lat * RADIANS));
  }
}

export class GaussianGrid extends LatLonGrid {
  constructor(spec, firstRow, latitudes) {
    const step = 90 / spec.n;
    super({ ...spec, south: latitudes[0] - firstRow * step, dlat: step });
    Object.assign(this, { firstRow, latitudes });
  }

  latlon(j, i) {
    const row = j - this.firstRow;
    const rows = this.latitudes;
    const below = Math.min(Math.max(Math.floor(row), 0), rows.length - 2);
    const slope = rows.length > 1 && row >= 0 && row <= rows.length - 1 ? rows[below + 1] - rows[below] : this.dlat;
    const base = row > rows.length - 1 ? rows.length - 1 : row < 0 || rows.length < 2 ? 0 : below;
    return [rows[base] + (row - base) * slope, wrapLongitude(this.west + this.dlon * i)];
  }

  index(lat, lon) {
    const rows = this.latitudes;
    const last = rows.length - 1;
    const column = columnOf(lon, this);
    if (!(lat > rows[0])) return [this.firstRow + (lat - rows[0]) / this.dlat, column];
    if (lat >= rows[last]) return [this.firstRow + last + (lat - rows[last]) / this.dlat, column];
    let [low, high] = [0, last];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (rows[middle] <= lat) low = middle;
      else high = middle;
    }
    return [this.firstRow + low + (lat - rows[low]) / (rows[high] - rows[low]), column];
  }
}

export class RotatedLatLonGrid extends LatLonGrid {
  constructor(spec) {
    super({ angle: 0, ...spec });
    this.axes = rotatedAxes(this.pole_lat * RADIANS, this.pole_lon * RADIANS, this.angle * RADIANS);
  }

  latlon(j, i) {
    const [x, y, z] = this.axes;
    const back = [0, 1, 2].map((k) => [x[k], y[k], z[k]]);
    return turned(this.south + this.dlat * j, this.west + this.dlon * i, back);
  }

  index(lat, lon) {
    const [rlat, rlon] = turned(lat, lon, this.axes);
    return [(rlat - this.south) / this.dlat, columnOf(rlon, this)];
  }

  aspectAt() {
    return this.dlon / this.dlat; // near its own equator
  }

  narrowing(j) {
    return Math.cos((this.south + this.dlat * j) * RADIANS);
  }
}

function rotatedAxes(pole, origin, turn) {
  const x = [-Math.sin(pole) * Math.cos(origin), -Math.sin(pole) * Math.sin(origin), Math.cos(pole)];
  const y = [-Math.sin(origin), Math.cos(origin), 0];
  const z = [x[1] * y[2] - x[2] * y[1], x[2] * y[0] - x[0] * y[2], x[0] * y[1] - x[1] * y[0]];
  const [c, s] = [Math.cos(turn), Math.sin(turn)];
  return [x.map((v, k) => c * v + s * y[k]), y.map((v, k) => c * v - s * x[k]), z];
}

function turned(lat, lon, [ax, ay, az]) {
  const phi = lat * RADIANS;
  const lam = lon * RADIANS;
  const [x, y, z] = [Math.cos(phi) * Math.cos(lam), Math.cos(phi) * Math.sin(lam), Math.sin(phi)];
  const u = ax[0] * x + ax[1] * y + ax[2] * z;
  const v = ay[0] * x + ay[1] * y + ay[2] * z;
  const w = az[0] * x + az[1] * y + az[2] * z;
  return [Math.atan2(w, Math.hypot(u, v)) / RADIANS, wrapLongitude(Math.atan2(v, u) / RADIANS)];
}
