// Lines in degrees or cells, projected to a plane once and drawn at any scale.
const BEYOND = 0.03; // of a turn: lines may extend a little beyond the end of the plane

export class PlaneLines {
  // `lines` are arrays of alternating x and y.
  constructor(lines, turn) {
    this.turn = turn;
    this.path = new Path2D();
    for (const line of lines) {
      this.path.moveTo(line[0], line[1]);
      for (let at = 2; at < line.length; at += 2) this.path.lineTo(line[at], line[at + 1]);
    }
  }

  // Draws the lines, again for each repetition of the plane within the view. `light` is drawn beside them, so that they
  // are visible on dark colours; two thin lines are much faster than a wide one.
  stroke(context, camera, { colour, width, light = null }) {
    for (const shift of turnsInView(camera, this.turn)) {
      if (light) this.#pen(context, camera, shift, light, width, 1);
      this.#pen(context, camera, shift, colour, width, 0);
    }
  }

  #pen(context, camera, shift, colour, width, aside) {
    context.save();
    context.translate(camera.width / 2 + aside, camera.height / 2 + aside);
    context.scale(camera.scale, -camera.scale);
    context.translate(shift - camera.x, -camera.y);
    context.lineJoin = "round";
    context.strokeStyle = colour;
    context.lineWidth = width / camera.scale;
    context.stroke(this.path);
    context.restore();
  }
}

// The shifts of the plane that cover the whole view.
export function turnsInView(camera, turn) {
  if (!turn) return [0];
  const [west, , east] = camera.bounds;
  const half = camera.width / 2 / camera.scale;
  const found = [];
  for (let n = -2; n <= 2; n++) {
    if (east + (n + BEYOND) * turn > camera.x - half && west + (n - BEYOND) * turn < camera.x + half) found.push(n * turn);
  }
  return found.length ? found : [0];
}

// Points in degrees (longitude, latitude, …) on a plane, split at the end of the plane.
export function linesOnPlane(plane, degrees) {
  const found = [];
  for (const line of degrees) {
    let piece = [];
    let before = null;
    for (let at = 0; at < line.length; at += 2) {
      const place = plane.project(line[at + 1], line[at]);
      const there = Number.isFinite(place[0] + place[1]);
      if (!there || (before && Math.abs(place[0] - before[0]) > plane.farthest / 3)) {
        if (piece.length > 2) found.push(piece);
        piece = [];
      }
      if (there) piece.push(...place);
      before = there ? place : null;
    }
    if (piece.length > 2) found.push(piece);
  }
  return found;
}
