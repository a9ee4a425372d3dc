// The range of a field: minimum, maximum, the range without outliers, and the number of missing points.
const SAMPLES = 20_000;
const BULK = [0.002, 0.998];

export function rangeOf(values) {
  let low = Infinity;
  let high = -Infinity;
  let missing = 0;
  for (let at = 0; at < values.length; at++) {
    const value = values[at];
    if (value < low) low = value;
    if (value > high) high = value;
    if (value !== value) missing++;
  }
  if (low > high) return null; // all points are missing
  const every = Math.max(1, Math.floor(values.length / SAMPLES));
  const sample = [];
  for (let at = 0; at < values.length; at += every) {
    if (values[at] === values[at]) sample.push(values[at]);
  }
  if (!sample.length) return { low, high, bulk: [low, high], missing };
  const sorted = Float32Array.from(sample).sort();
  const bulk = BULK.map((share) => sorted[Math.round(share * (sorted.length - 1))]);
  return { low, high, bulk, missing };
}
