// Lines of equal value by marching squares, in fractional columns and rows of the field.
const MOST_ACROSS = 480; // wider fields are averaged in blocks first, which removes noise
const MOST_LEVELS = 60;

// {points: x, y, x, y …; ends: where each line ends in points; levels: the value of each line, in display units}
export function contourLines(values, [rows, columns], { step, factor, offset }) {
  const side = Math.max(1, Math.ceil(columns / MOST_ACROSS));
  const field = averaged(values, rows, columns, side, factor, offset);
  const points = [];
  const ends = [];
  const levels = [];
  for (const level of levelsOf(field.values, step)) {
    for (const line of linesAt(field, level)) {
      for (const [x, y] of line) points.push(x * side + (side - 1) / 2, y * side + (side - 1) / 2);
      ends.push(points.length / 2);
      levels.push(level);
    }
  }
  return { points: Float32Array.from(points), ends: Uint32Array.from(ends), levels: Float64Array.from(levels) };
}

function averaged(values, rows, columns, side, factor, offset) {
  const [ny, nx] = [Math.floor(rows / side), Math.floor(columns / side)];
  const made = new Float64Array(ny * nx);
  for (let j = 0; j < ny; j++) {
    for (let i = 0; i < nx; i++) {
      let sum = 0;
      for (let r = j * side; r < (j + 1) * side; r++) {
        for (let c = i * side; c < (i + 1) * side; c++) sum += values[r * columns + c];
      }
      made[j * nx + i] = (sum / side / side) * factor + offset;
    }
  }
  return { values: made, ny, nx };
}

function levelsOf(values, step) {
  let [low, high] = [Infinity, -Infinity];
  for (const value of values) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  if (!(low < high) || !(step > 0) || (high - low) / step > MOST_LEVELS) return [];
  const found = [];
  for (let n = Math.ceil(low / step); n * step <= high; n++) found.push(n * step);
  return found;
}

// The sides of a cell that a line connects, indexed by which corners (SW, SE, NE, NW) are above the level.
const SIDES = [[], [[3, 0]], [[0, 1]], [[3, 1]], [[1, 2]], [[3, 0], [1, 2]], [[0, 2]], [[3, 2]],
  [[2, 3]], [[2, 0]], [[0, 1], [2, 3]], [[2, 1]], [[1, 3]], [[1, 0]], [[0, 3]], []];

function linesAt({ values, ny, nx }, level) {
  const next = new Map(); // for each crossed side, the sides where the line continues
  for (let j = 0; j < ny - 1; j++) {
    for (let i = 0; i < nx - 1; i++) {
      const at = j * nx + i;
      const corners = [values[at], values[at + 1], values[at + nx + 1], values[at + nx]];
      if (corners.some(Number.isNaN)) continue;
      const kind = corners.reduce((bits, value, n) => bits | ((value >= level) << n), 0);
      for (const [from, to] of SIDES[kind]) join(next, edge(at, nx, from), edge(at, nx, to));
    }
  }
  const place = (key) => crossing(values, nx, key, level);
  return chained(next).map((line) => line.map(place));
}

// A side of a cell as one number: twice the index of its first point, plus one if it is vertical.
function edge(at, nx, side) {
  if (side === 0) return at * 2;
  if (side === 1) return (at + 1) * 2 + 1;
  return side === 2 ? (at + nx) * 2 : at * 2 + 1;
}

function crossing(values, nx, key, level) {
  const at = key >> 1;
  const up = key & 1;
  const [a, b] = [values[at], values[at + (up ? nx : 1)]];
  const share = (level - a) / (b - a);
  return [(at % nx) + (up ? 0 : share), Math.floor(at / nx) + (up ? share : 0)];
}

function join(next, a, b) {
  for (const [from, to] of [[a, b], [b, a]]) {
    const known = next.get(from);
    if (known) known.push(to);
    else next.set(from, [to]);
  }
}

function chained(next) {
  const lines = [];
  const begin = (from) => {
    const line = [from];
    for (let at = from; ; ) {
      const to = next.get(at)?.pop();
      if (to === undefined) break;
      const back = next.get(to);
      back.splice(back.indexOf(at), 1);
      line.push(to);
      at = to;
    }
    if (line.length > 1) lines.push(line);
  };
  for (const [key, others] of next) if (others.length === 1) begin(key);
  for (const key of next.keys()) begin(key); // the remaining lines are closed
  return lines;
}
