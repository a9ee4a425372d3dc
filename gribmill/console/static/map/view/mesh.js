// Triangles that put the cells of a grid on a plane: two for a tile on its own grid, many where it is bent.
const MOST_ACROSS = 160;
const MOST_ROWS = 1440; // of a grid whose columns are meridians: few across, but Mercator bends rows near the poles

// {places: x, y …; cells: column, row …; triangles}
export function meshOf(grid, plane) {
  const straight = plane.grid?.key === grid.key;
  const upright = grid.meridians && !plane.grid;
  const across = straight ? 1 : upright ? 8 : Math.min(MOST_ACROSS, Math.max(8, grid.columns));
  const down = straight ? 1 : Math.min(upright ? MOST_ROWS : MOST_ACROSS, Math.max(8, grid.rows));
  const places = new Float32Array((across + 1) * (down + 1) * 2);
  const cells = new Float32Array(places.length);
  let at = 0;
  for (let r = 0; r <= down; r++) {
    for (let c = 0; c <= across; c++, at += 2) {
      const [j, i] = [(r / down) * grid.rows - 0.5, (c / across) * grid.columns - 0.5];
      places.set(plane.place(grid, j, i), at);
      cells.set([i, j], at);
    }
  }
  return { places, cells, triangles: trianglesOf(places, across, down, plane.farthest / 2) };
}

// Without those that would join two ends of the plane, or have a corner that is nowhere on it.
function trianglesOf(places, across, down, longest) {
  const found = [];
  const fits = (corners) => {
    const x = corners.map((n) => places[2 * n]);
    const y = corners.map((n) => places[2 * n + 1]);
    return Math.max(...x) - Math.min(...x) < longest && Number.isFinite(y[0] + y[1] + y[2] + x[0] + x[1] + x[2]);
  };
  for (let r = 0; r < down; r++) {
    for (let c = 0; c < across; c++) {
      const a = r * (across + 1) + c;
      const b = a + across + 1;
      const whole = across === 1;
      for (const corners of [[a, a + 1, b + 1], [a, b + 1, b]]) if (whole || fits(corners)) found.push(...corners);
    }
  }
  return Uint32Array.from(found);
}
