// The difference of two fields, also on different grids: each point of the first minus the nearest one of the second.
export function differenceOf(first, second) {
  const { rows, columns } = first.grid;
  const made = new Float32Array(rows * columns);
  const places = first.grid.key === second.grid.key ? null : placesIn(second.grid, first.grid);
  for (let j = 0, at = 0; j < rows; j++) {
    for (let i = 0; i < columns; i++, at++) {
      const other = places ? places[at] : at;
      made[at] = first.values[at] * first.factor + first.offset - (second.values[other] * second.factor + second.offset);
    }
  }
  return made;
}

let known = { key: "", places: null };

// For each point of a grid, the index of the nearest point in the other grid's values; cached for the next hour.
function placesIn(other, grid) {
  const key = `${grid.key} ${other.key}`;
  if (known.key === key) return known.places;
  const places = new Int32Array(grid.rows * grid.columns);
  for (let j = 0, at = 0; j < grid.rows; j++) {
    for (let i = 0; i < grid.columns; i++, at++) places[at] = nearest(grid, other, j, i);
  }
  known = { key, places };
  return places;
}

// The index of the nearest point in the other grid's values; an index outside the array gives NaN.
function nearest(grid, other, j, i) {
  const [lat, lon] = grid.latlon(j, i);
  const cell = other.nearest(lat, lon);
  return cell ? cell[0] * other.columns + cell[1] : -1;
}
