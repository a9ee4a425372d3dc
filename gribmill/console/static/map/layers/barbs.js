// Wind barbs on the map.
import { barbShape, KNOTS_PER_M_S } from "./barb_shape.js";
import { windAt } from "./wind_field.js";

const SPACING_PIXELS = 40; // at least
const STAFF = 20;
const CROWDED_DEG = 88; // nearer to a pole, columns of a lat-lon grid are too close

export function drawBarbs(context, wind, plane, camera, { colour, halo }) {
  const path = new Path2D();
  const flags = new Path2D();
  const step = stepOf(camera.scale);
  const [west, north] = camera.toPlane(0, 0);
  const [east, south] = camera.toPlane(camera.width, camera.height);
  for (let y = Math.ceil(south / step) * step; y <= north; y += step) {
    for (let x = Math.ceil(west / step) * step; x <= east; x += step) {
      const found = windAt(wind, plane, x, y);
      if (found && Math.abs(found.lat) < CROWDED_DEG) addBarb(path, flags, ...camera.toScreen(x, y), found);
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

// Barbs are at fixed points of the plane, so that they move with the map.
function stepOf(scale) {
  const least = SPACING_PIXELS / scale;
  const power = 2 ** Math.floor(Math.log2(least));
  return power * [1, 1.5, 2].find((n) => n * power >= least);
}

function addBarb(path, flags, left, top, { lat, components: [right, up] }) {
  const speed = Math.hypot(right, up);
  const shape = barbShape(left, top, [-right / speed, up / speed], speed * KNOTS_PER_M_S, { staff: STAFF, south: lat < 0 });
  if (shape.calm) {
    path.moveTo(left + 3, top);
    path.arc(left, top, 3, 0, 2 * Math.PI);
  }
  for (const [from, to] of shape.lines) {
    path.moveTo(...from);
    path.lineTo(...to);
  }
  for (const [a, b, c] of shape.flags) {
    flags.moveTo(...a);
    flags.lineTo(...b);
    flags.lineTo(...c);
    flags.closePath();
  }
}
