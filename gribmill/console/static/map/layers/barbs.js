// Wind barbs as on weather charts: a half feather is 5 knots, a whole one 10, a flag 50.
import { windAt } from "./wind_field.js";

const KNOTS_PER_M_S = 3600 / 1852;
const SPACING_PIXELS = 44;
const STAFF = 20;
const FEATHER = 8;
const GAP = 4;
const CROWDED_DEG = 88; // nearer to a pole the columns of a lat-lon grid fall together

export function drawBarbs(context, wind, plane, camera, { colour, halo }) {
  const path = new Path2D();
  const flags = new Path2D();
  for (let top = SPACING_PIXELS / 2; top < camera.height; top += SPACING_PIXELS) {
    for (let left = SPACING_PIXELS / 2; left < camera.width; left += SPACING_PIXELS) {
      const found = windAt(wind, plane, ...camera.toPlane(left, top));
      if (found && Math.abs(found.lat) < CROWDED_DEG) addBarb(path, flags, left, top, found);
    }
  }
  context.lineCap = "round";
  for (const [style, width] of [[halo, 3.4], [colour, 1.4]]) {
    context.strokeStyle = style;
    context.lineWidth = width;
    context.stroke(path);
  }
  context.fillStyle = colour;
  context.fill(flags);
}

// The staff points to where the wind comes from; feathers are on its left, in the southern hemisphere on its right.
function addBarb(path, flags, left, top, { lat, components: [right, up] }) {
  const knots = Math.hypot(right, up) * KNOTS_PER_M_S;
  if (knots < 2.5) {
    path.moveTo(left + 3, top);
    path.arc(left, top, 3, 0, 2 * Math.PI);
    return;
  }
  const length = Math.hypot(right, up);
  const [dx, dy] = [-right / length, up / length]; // along the staff, in pixels
  const side = lat < 0 ? -1 : 1;
  const point = (along, out) => [left + dx * along - dy * out * side, top + dy * along + dx * out * side];
  path.moveTo(left, top);
  path.lineTo(...point(STAFF, 0));
  let rest = Math.round(knots / 5) * 5;
  let along = STAFF;
  for (; rest >= 50; rest -= 50, along -= GAP + 2) {
    flags.moveTo(...point(along, 0));
    flags.lineTo(...point(along, FEATHER));
    flags.lineTo(...point(along - GAP, 0));
    flags.closePath();
  }
  for (; rest >= 10; rest -= 10, along -= GAP) stroke(path, point(along, 0), point(along + 2.5, FEATHER));
  if (rest >= 5) {
    if (along === STAFF) along -= GAP;
    stroke(path, point(along, 0), point(along + 1.2, FEATHER / 2));
  }
}

function stroke(path, from, to) {
  path.moveTo(...from);
  path.lineTo(...to);
}
