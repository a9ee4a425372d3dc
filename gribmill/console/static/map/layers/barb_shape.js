// The shape of a wind barb, as on weather charts: a half feather is 5 knots, a whole one 10, a flag 50.
export const KNOTS_PER_M_S = 3600 / 1852;
const CALM_KNOTS = 2.5;
const FEATHER = 0.4; // lengths relative to the staff
const GAP = 0.2;

// {lines: [[from, to] …], flags: [[a, b, c] …], calm}. The staff begins at (left, top) and points along the unit vector
// (dx, dy), to where the wind comes from, in pixels. Feathers are on the low-pressure side: clockwise of the staff,
// counter-clockwise in the southern hemisphere.
export function barbShape(left, top, [dx, dy], knots, { staff, south }) {
  if (knots < CALM_KNOTS) return { lines: [], flags: [], calm: true };
  const side = south ? -1 : 1;
  const point = (along, out) => [left + (dx * along - dy * out * side) * staff, top + (dy * along + dx * out * side) * staff];
  const lines = [[point(0, 0), point(1, 0)]];
  const flags = [];
  let rest = Math.round(knots / 5) * 5;
  let along = 1;
  for (; rest >= 50; rest -= 50, along -= GAP * 1.5) flags.push([point(along, 0), point(along, FEATHER), point(along - GAP, 0)]);
  for (; rest >= 10; rest -= 10, along -= GAP) lines.push([point(along, 0), point(along + 0.12, FEATHER)]);
  if (rest >= 5) {
    if (along === 1) along -= GAP; // a half feather at the end would look like a whole one
    lines.push([point(along, 0), point(along + 0.06, FEATHER / 2)]);
  }
  return { lines, flags, calm: false };
}
