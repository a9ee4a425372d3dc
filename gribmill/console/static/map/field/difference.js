// The difference of two fields, which may be on two grids: at each point of the first, minus the nearest of the second.
export function differenceOf(first, second) {
  const { rows, columns } = first.grid;
  const made = new Float32Array(rows * columns);
  const same = first.grid.key === second.grid.key;
  for (let j = 0, at = 0; j < rows; j++) {
    for (let i = 0; i < columns; i++, at++) {
      const other = same ? at : nearest(first.grid, second.grid, j, i);
      made[at] = first.values[at] * first.factor + first.offset - (second.values[other] * second.factor + second.offset);
    }
  }
  return made;
}

// The place of the nearest point in the other grid's values; one that does not exist gives NaN.
function nearest(grid, other, j, i) {
  const [lat, lon] = grid.latlon(j, i);
  const cell = other.nearest(lat, lon);
  return cell ? cell[0] * other.columns + cell[1] : -1;
}
