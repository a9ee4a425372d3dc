// Numbers on scales and charts: round steps, and no more digits than they need.
export function roundStep(width) {
  const power = 10 ** Math.floor(Math.log10(width));
  return [1, 2, 2.5, 5, 10].map((n) => n * power).find((step) => step >= width * 0.999);
}

// Round numbers from low to high, about `count` of them.
export function ticksBetween(low, high, count = 7) {
  if (!(high > low)) return [low];
  const step = roundStep((high - low) / count);
  const found = [];
  for (let n = Math.ceil(low / step - 1e-9); n * step <= high + step * 1e-9; n++) found.push(Number((n * step).toPrecision(12)));
  return found;
}

export function numberText(value) {
  const text = String(Number(value.toPrecision(5)));
  return text.startsWith("-") ? `−${text.slice(1)}` : text;
}

// A value with enough digits to tell neighbouring colours apart.
export function valueText(value, step) {
  if (Number.isNaN(value)) return "no value";
  const digits = step > 0 ? Math.min(6, Math.max(1, Math.ceil(-Math.log10(step)) + 1)) : 1;
  const text = Math.abs(value) >= 1e6 || (value && Math.abs(value) < 1e-4) ? value.toPrecision(4) : value.toFixed(digits);
  return text.startsWith("-") ? `−${text.slice(1)}` : text;
}
