// The grid of a tile: a window of its source grid. Row 0 is the southernmost, column 0 the westernmost.
import { TileError } from "../tile/tile_error.js";
import { GaussianGrid, LatLonGrid, RotatedLatLonGrid } from "./degree_grids.js";
import { LambertGrid, MercatorGrid, PolarStereographicGrid } from "./plane_grids.js";

const KINDS = {
  latlon: LatLonGrid,
  rotated_latlon: RotatedLatLonGrid,
  lambert: LambertGrid,
  polar_stereographic: PolarStereographicGrid,
  mercator: MercatorGrid,
};

export class TileGrid {
  // `latitudes` are the latitudes of the tile's rows, for Gaussian grids.
  constructor(record, latitudes = null) {
    const { definition, rows, cols, shape } = record;
    [this.rows, this.columns] = shape;
    this.firstRow = rows[0];
    this.firstColumn = cols[0][0];
    const firstRow = this.firstRow;
    const Kind = Object.hasOwn(KINDS, definition.kind) ? KINDS[definition.kind] : null;
    if (definition.kind === "gaussian") this.source = new GaussianGrid(definition, firstRow, latitudes);
    else if (Kind) this.source = new Kind(definition);
    else throw new TileError(`The map cannot draw grids of the kind ${String(definition.kind).slice(0, 40)}.`);
    this.ring = this.source.wraps && this.columns === this.source.nx;
    this.key = JSON.stringify([definition, rows, cols]);
  }

  // Latitude and longitude of a (fractional) row and column.
  latlon(j, i) {
    return this.source.latlon(j + this.firstRow, i + this.firstColumn);
  }

  // Fractional row and column of a place, also outside the tile.
  index(lat, lon) {
    const [j, i] = this.source.index(lat, lon);
    const column = i - this.firstColumn;
    const turn = this.source.wraps ? this.source.nx : this.meridians ? 360 / this.source.dlon : null;
    return [j - this.firstRow, turn ? nearestTurn(column, turn, this.columns) : column];
  }

  // The nearest point to a place as [row, column], or null outside the tile.
  nearest(lat, lon) {
    const [j, i] = this.index(lat, lon);
    return this.cell(j, i);
  }

  // The point whose cell contains a fractional row and column. Cells extend half a step beyond the outermost points.
  cell(j, i) {
    const row = Math.floor(j + 0.5);
    let column = Math.floor(i + 0.5);
    if (this.ring) column = ((column % this.columns) + this.columns) % this.columns;
    return row >= 0 && row < this.rows && column >= 0 && column < this.columns ? [row, column] : null;
  }

  // Width of the cells in a row relative to those for which the aspect was computed; below 1 where meridians converge.
  narrowing(j) {
    return this.source.narrowing?.(j + this.firstRow) ?? 1;
  }

  // Whether each column has a constant longitude.
  get meridians() {
    return Boolean(this.source.dlon) && !this.source.axes;
  }

  // Width-to-height ratio of a cell in the middle of the tile.
  get aspect() {
    if (this.source.aspectAt) return this.source.aspectAt(this.latlon((this.rows - 1) / 2, (this.columns - 1) / 2)[0]);
    return this.source.aspect;
  }
}

// The same meridian, in the 360° turn nearest to the middle of the tile.
function nearestTurn(column, turn, columns) {
  const middle = (columns - 1) / 2;
  return column - turn * Math.round((column - middle) / turn);
}
