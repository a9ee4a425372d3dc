// Triangles that map the cells of a grid to a plane: two for a tile on its own grid, many on another projection.
const FIRST_KNOTS = 32;
const FIRST_MERIDIANS = 8; // on Web Mercator, meridians are straight and evenly spaced
const MOST_KNOTS = 640;
const ROUNDS = 7;
const SAMPLES = 24;
const PICTURE_PIXELS = 2000; // the largest view of a whole tile
const OFF_PIXELS = 0.12;
const OFF_CELLS = 0.1;

// {places: x, y …; cells: column, row …; triangles}
export function meshOf(grid, plane) {
  const place = (j, i) => plane.place(grid, j, i);
  const straight = plane.grid?.key === grid.key;
  const upright = grid.meridians && !plane.grid;
  let rows = knotsTo(grid.rows, straight ? 1 : FIRST_KNOTS);
  let columns = knotsTo(grid.columns, straight ? 1 : upright ? FIRST_MERIDIANS : FIRST_KNOTS);
  const most = Math.min((plane.farthest / PICTURE_PIXELS) * OFF_PIXELS, cellOf(grid, plane) * OFF_CELLS);
  for (let n = 0; n < ROUNDS && !straight; n++) {
    const before = rows.length + columns.length;
    rows = refined(rows, columns, place, plane, most);
    columns = refined(columns, rows, (i, j) => place(j, i), plane, most);
    if (rows.length + columns.length === before) break;
  }
  return trianglesOf(rows, columns, place, plane);
}

// The height of a cell in the middle of a grid, in units of a plane.
export function cellOf(grid, plane) {
  const [j, i] = [(grid.rows - 1) / 2, (grid.columns - 1) / 2];
  const [below, above] = [plane.place(grid, j - 0.5, i), plane.place(grid, j + 0.5, i)];
  const height = Math.hypot(above[0] - below[0], above[1] - below[1]);
  return Number.isFinite(height) && height > 0 ? height : 1;
}

function knotsTo(count, parts) {
  return Array.from({ length: parts + 1 }, (_, n) => (n / parts) * count - 0.5);
}

// Adds a knot in the middle of each interval in which a straight line is off by more than `most`.
function refined(knots, cross, place, plane, most) {
  const every = Math.max(1, Math.floor(cross.length / SAMPLES));
  const samples = cross.filter((_, n) => n % every === 0 || n === cross.length - 1);
  const found = [knots[0]];
  for (let n = 1; n < knots.length; n++) {
    const [a, b] = [knots[n - 1], knots[n]];
    if (found.length < MOST_KNOTS && samples.some((at) => isBent(place(a, at), place((a + b) / 2, at), place(b, at), plane, most))) found.push((a + b) / 2);
    found.push(b);
  }
  return found;
}

function isBent(a, middle, b, plane, most) {
  const near = (x) => x - (plane.turn ? plane.turn * Math.round((x - middle[0]) / plane.turn) : 0);
  const off = Math.hypot((near(a[0]) + near(b[0])) / 2 - middle[0], (a[1] + b[1]) / 2 - middle[1]);
  return off > most && Math.min(Math.abs(a[1]), Math.abs(middle[1]), Math.abs(b[1])) < plane.edge;
}

// Omits triangles that have a corner outside the plane or that contain a pole. A triangle across the end of the plane
// extends beyond it, where the next turn of the plane is drawn.
function trianglesOf(rows, columns, place, plane) {
  const [places, cells, found] = [[], [], []];
  for (const j of rows) {
    for (const i of columns) {
      places.push(...place(j, i));
      cells.push(i, j);
    }
  }
  const add = (corners) => {
    const x = corners.map((n) => places[2 * n]);
    const y = corners.map((n) => places[2 * n + 1]);
    if (!Number.isFinite(x[0] + x[1] + x[2] + y[0] + y[1] + y[2])) return;
    const near = plane.turn ? x.map((one) => one - plane.turn * Math.round((one - x[0]) / plane.turn)) : x;
    if (rows.length > 2 && Math.max(...near) - Math.min(...near) > plane.farthest / 2) return;
    found.push(...corners.map((n, k) => (rows.length === 2 || near[k] === x[k] ? n : copy(n, near[k]))));
  };
  const copy = (n, x) => {
    places.push(x, places[2 * n + 1]);
    cells.push(cells[2 * n], cells[2 * n + 1]);
    return places.length / 2 - 1;
  };
  for (let r = 0; r < rows.length - 1; r++) {
    for (let c = 0; c < columns.length - 1; c++) {
      const a = r * columns.length + c;
      const b = a + columns.length;
      add([a, a + 1, b + 1]);
      add([a, b + 1, b]);
    }
  }
  return { places: Float32Array.from(places), cells: Float32Array.from(cells), triangles: Uint32Array.from(found) };
}
