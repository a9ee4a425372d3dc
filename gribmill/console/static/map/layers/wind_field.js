// The wind at each pixel of the view: speed and direction along the axes of the plane.
const STEP_PIXELS = 8;
const NUDGE_DEG = 0.01;

export class WindField {
  // `wind` has u and v (eastward and northward, m/s) on a grid.
  constructor(wind, plane, camera) {
    this.across = Math.ceil(camera.width / STEP_PIXELS) + 2;
    this.down = Math.ceil(camera.height / STEP_PIXELS) + 2;
    this.right = new Float32Array(this.across * this.down);
    this.up = new Float32Array(this.right.length);
    for (let row = 0, at = 0; row < this.down; row++) {
      for (let column = 0; column < this.across; column++, at++) {
        const found = windAt(wind, plane, ...camera.toPlane(column * STEP_PIXELS, row * STEP_PIXELS));
        [this.right[at], this.up[at]] = found ? found.components : [NaN, NaN];
      }
    }
  }

  // The index of a pixel in `right` and `up`.
  index(left, top) {
    return Math.round(top / STEP_PIXELS) * this.across + Math.round(left / STEP_PIXELS);
  }
}

// The wind at a point of the plane along its axes, with the latitude; null if there is none.
export function windAt({ grid, u, v }, plane, x, y) {
  const [lat, lon] = plane.unproject(x, y);
  if (!(Math.abs(lat) < 89)) return null;
  const cell = grid.nearest(lat, lon);
  if (!cell) return null;
  const at = cell[0] * grid.columns + cell[1];
  if (!Number.isFinite(u[at] + v[at])) return null;
  const [east, north] = directions(plane, lat, lon, x, y);
  return { lat, components: [u[at] * east[0] + v[at] * north[0], u[at] * east[1] + v[at] * north[1]] };
}

// Unit vectors on the plane that point east and north on the ground; orthogonal even where the plane is stretched.
function directions(plane, lat, lon, x, y) {
  const narrowing = plane.narrowing(y);
  const toward = (place) => {
    let dx = place[0] - x;
    if (plane.turn) dx -= plane.turn * Math.round(dx / plane.turn);
    dx *= narrowing;
    const dy = place[1] - y;
    const length = Math.hypot(dx, dy) || 1;
    return [dx / length, dy / length];
  };
  return [toward(plane.project(lat, lon + NUDGE_DEG)), toward(plane.project(lat + NUDGE_DEG, lon))];
}
