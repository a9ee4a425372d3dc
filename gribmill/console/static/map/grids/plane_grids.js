// Grids evenly spaced in metres on a map projection. `latlon` and `index` are inverses of each other.
import { Earth, RADIANS, wrapLongitude } from "./earth.js";
import { columnOf } from "./degree_grids.js";

class PlaneGrid {
  wraps = false;

  constructor(spec) {
    Object.assign(this, spec, { earth: new Earth(spec.earth) });
  }

  latlon(j, i) {
    return this.unproject(this.x0 + this.dx * i, this.y0 + this.dy * j);
  }

  index(lat, lon) {
    const [x, y] = this.project(lat, lon);
    return [(y - this.y0) / this.dy, (x - this.x0) / this.dx];
  }

  // Width-to-height ratio of a cell.
  get aspect() {
    return this.dx / this.dy;
  }
}

const ONE_PARALLEL_DEG = 1e-4; // below this distance, the formula for two standard parallels loses precision

export class LambertGrid extends PlaneGrid {
  constructor(spec) {
    super(spec);
    const earth = this.earth;
    let { latin1, latin2 } = spec;
    if (Math.abs(latin1 - latin2) < ONE_PARALLEL_DEG) {
      latin1 = latin2 = (latin1 + latin2) / 2;
      this.n = Math.sin(latin1 * RADIANS);
    } else {
      const radii = Math.log(earth.parallelRadius(latin1) / earth.parallelRadius(latin2));
      this.n = radii / Math.log(earth.colatitude(latin1) / earth.colatitude(latin2));
    }
    this.scale = (earth.a * earth.parallelRadius(latin1)) / (this.n * earth.colatitude(latin1) ** this.n);
    this.origin = this.scale * earth.colatitude(this.lad) ** this.n;
  }

  project(lat, lon) {
    const radius = this.scale * this.earth.colatitude(lat) ** this.n;
    const angle = this.n * wrapLongitude(lon - this.lov) * RADIANS;
    return Number.isFinite(radius) ? [radius * Math.sin(angle), this.origin - radius * Math.cos(angle)] : [NaN, NaN];
  }

  unproject(x, y) {
    const sign = Math.sign(this.n);
    const east = sign * x;
    const down = sign * (this.origin - y);
    const lon = Math.atan2(east, down) / RADIANS / this.n;
    if (Math.abs(lon) > 180 + 1e-9) return [NaN, NaN]; // the gap in the flattened cone
    const lat = this.earth.latitude((Math.hypot(east, down) / Math.abs(this.scale)) ** (1 / this.n));
    return [lat, wrapLongitude(lon + this.lov)];
  }
}

export class PolarStereographicGrid extends PlaneGrid {
  constructor(spec) {
    super(spec);
    const { a, e } = this.earth;
    const parallel = Math.abs(spec.lad);
    this.sign = spec.south_pole ? -1 : 1;
    this.scale =
      parallel > 90 - 1e-9
        ? (2 * a) / Math.sqrt((1 + e) ** (1 + e) * (1 - e) ** (1 - e))
        : (a * this.earth.parallelRadius(parallel)) / this.earth.colatitude(parallel);
  }

  project(lat, lon) {
    const radius = this.scale * this.earth.colatitude(this.sign * lat);
    const angle = (lon - this.lov) * RADIANS;
    return [radius * Math.sin(angle), -this.sign * radius * Math.cos(angle)];
  }

  unproject(x, y) {
    const down = -this.sign * y;
    const lat = this.sign * this.earth.latitude(Math.hypot(x, down) / this.scale);
    return [lat, wrapLongitude(Math.atan2(x, down) / RADIANS + this.lov)];
  }
}

export class MercatorGrid extends PlaneGrid {
  constructor(spec) {
    super({ lon0: 0, ...spec });
    this.scale = this.earth.a * this.earth.parallelRadius(spec.lad);
    this.dlon = this.dx / this.scale / RADIANS;
    this.west = this.lon0 + this.x0 / this.scale / RADIANS;
    this.wraps = Math.abs(this.nx * this.dlon - 360) < 0.05 * this.dlon;
  }

  project(lat, lon) {
    const y = -this.scale * Math.log(this.earth.colatitude(lat));
    return [this.x0 + this.dx * columnOf(lon, this), Number.isFinite(y) ? y : NaN];
  }

  unproject(x, y) {
    return [this.earth.latitude(Math.exp(-y / this.scale)), wrapLongitude(this.lon0 + x / this.scale / RADIANS)];
  }
}
