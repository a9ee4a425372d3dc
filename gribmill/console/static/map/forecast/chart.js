// A small chart of values over time as SVG: lines, bars, bands; gaps where a value is missing.
import { add } from "../scale/legend.js";
import { numberText, ticksBetween } from "../scale/numbers.js";

const WIDTH = 640;
const [LEFT, RIGHT, TOP, BOTTOM] = [46, 10, 8, 22];
const HOUR = 3_600_000;

export class Chart {
  constructor(parent, { title, height = 130, times, low, high, marked = null }) {
    Object.assign(this, { times, height });
    this.picture = add(parent, "svg", { viewBox: `0 0 ${WIDTH} ${height}`, role: "img", class: "chart", "aria-label": title });
    const margin = (high - low) * 0.06 || 0.5;
    [this.low, this.high] = [low - (low === 0 ? 0 : margin), high + margin];
    this.#axes(marked);
  }

  x(time) {
    const [first, last] = [this.times[0], this.times.at(-1)];
    return LEFT + ((time - first) / (last - first || HOUR)) * (WIDTH - LEFT - RIGHT);
  }

  y(value) {
    return TOP + ((this.high - value) / (this.high - this.low)) * (this.height - TOP - BOTTOM);
  }

  #axes(marked) {
    for (const tick of ticksBetween(this.low, this.high, 4)) {
      add(this.picture, "line", { x1: LEFT, x2: WIDTH - RIGHT, y1: this.y(tick), y2: this.y(tick), class: "grid" });
      add(this.picture, "text", { x: LEFT - 6, y: this.y(tick) + 4, "text-anchor": "end" }).textContent = numberText(tick);
    }
    for (const time of hourTicks(this.times)) {
      const date = new Date(time).toISOString();
      const midnight = date.slice(11, 13) === "00";
      add(this.picture, "line", { x1: this.x(time), x2: this.x(time), y1: TOP, y2: this.height - BOTTOM, class: midnight ? "day" : "grid" });
      const text = add(this.picture, "text", { x: this.x(time), y: this.height - 6, "text-anchor": "middle" });
      text.textContent = midnight ? date.slice(5, 10) : `${date.slice(11, 13)}Z`;
    }
    if (marked !== null && marked >= this.times[0] && marked <= this.times.at(-1)) {
      add(this.picture, "line", { x1: this.x(marked), x2: this.x(marked), y1: TOP, y2: this.height - BOTTOM, class: "now" });
    }
  }

  line(times, values, kind) {
    let path = "";
    let pen = "M";
    values.forEach((value, n) => {
      if (!Number.isFinite(value)) pen = "M";
      else {
        path += `${pen}${this.x(times[n]).toFixed(1)} ${this.y(value).toFixed(1)}`;
        pen = "L";
      }
    });
    if (path) add(this.picture, "path", { d: path, class: `line ${kind}` });
    if (values.filter(Number.isFinite).length === 1) this.dots(times, values, kind);
  }

  dots(times, values, kind) {
    values.forEach((value, n) => {
      if (Number.isFinite(value)) add(this.picture, "circle", { cx: this.x(times[n]), cy: this.y(value), r: 2.5, class: `dot ${kind}` });
    });
  }

  // Each bar spans the time that its value is for, in hours up to its time.
  bars(times, values, hours, kind) {
    values.forEach((value, n) => {
      if (!(value > 0)) return;
      const x = Math.max(LEFT, this.x(times[n] - hours[n] * HOUR));
      add(this.picture, "rect", { x: x + 0.5, width: Math.max(1, this.x(times[n]) - x - 1), y: this.y(value), height: Math.max(0, this.y(0) - this.y(value)), class: `bar ${kind}` });
    });
  }

  band(rows, kind) {
    if (rows.length < 2) return;
    const upper = rows.map(({ time, high }) => `${this.x(time).toFixed(1)} ${this.y(high).toFixed(1)}`);
    const lower = rows.map(({ time, low }) => `${this.x(time).toFixed(1)} ${this.y(low).toFixed(1)}`).reverse();
    add(this.picture, "path", { d: `M${upper.join("L")}L${lower.join("L")}Z`, class: `band ${kind}` });
  }
}

// Some whole hours UTC, at most nine.
function hourTicks(times) {
  const [first, last] = [times[0], times.at(-1)];
  const step = [1, 2, 3, 6, 12, 24, 48, 72, 120, 240].find((hours) => (last - first) / HOUR / hours <= 9) ?? 480;
  const found = [];
  for (let time = Math.ceil(first / (step * HOUR)) * step * HOUR; time <= last; time += step * HOUR) found.push(time);
  return found;
}
