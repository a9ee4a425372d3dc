// Colours as three numbers from 0 to 255.
export function hexToRgb(text) {
  return [1, 3, 5].map((at) => Number.parseInt(text.slice(at, at + 2), 16));
}

// The colour at a position between stops [position, colour] in ascending order.
export function mixed(stops, place) {
  let n = 1;
  while (n < stops.length - 1 && place > stops[n][0]) n++;
  const [[from, a], [to, b]] = [stops[n - 1], stops[n]];
  const share = Math.min(1, Math.max(0, (place - from) / (to - from || 1)));
  return a.map((channel, k) => Math.round(channel + share * (b[k] - channel)));
}
