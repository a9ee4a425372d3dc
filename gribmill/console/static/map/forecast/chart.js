// A small chart of values over time as SVG: lines, bars, bands, with gaps for missing values.
import { barbShape, KNOTS_PER_M_S } from "../layers/barb_shape.js";
import { add } from "../scale/legend.js";
import { numberText, ticksBetween } from "../scale/numbers.js";

const [NARROWEST, WIDEST] = [280, 832];
const [LEFT, RIGHT, TOP, BOTTOM] = [46, 14, 8, 22];
const TICK_PIXELS = 46;
const BARB_PIXELS = 24;
const HOUR = 3_600_000;

export class Chart {
  // `width` is the container's width. `head` pixels are left free above the values.
  constructor(parent, { title, width, height = 130, head = 0, times, low, high, marked = null }) {
    Object.assign(this, { times, height, top: TOP + head, width: Math.min(WIDEST, Math.max(NARROWEST, Math.round(width))) });
    this.picture = add(parent, "svg", { viewBox: `0 0 ${this.width} ${height}`, role: "img", class: "chart", "aria-label": title });
    const margin = (high - low) * 0.06 || 0.5;
    [this.low, this.high] = [low - (low === 0 ? 0 : margin), high + margin];
    this.#axes();
    this.now = add(this.picture, "line", { y1: TOP, y2: height - BOTTOM, class: "now" });
    this.mark(marked);
  }

  // A vertical line at a time, if it is within the chart.
  mark(time) {
    const there = time !== null && time >= this.times[0] && time <= this.times.at(-1);
    this.now.setAttribute("visibility", there ? "visible" : "hidden");
    for (const name of ["x1", "x2"]) this.now.setAttribute(name, there ? this.x(time) : 0);
  }

  x(time) {
    const [first, last] = [this.times[0], this.times.at(-1)];
    return LEFT + ((time - first) / (last - first || HOUR)) * (this.width - LEFT - RIGHT);
  }

  y(value) {
    return this.top + ((this.high - value) / (this.high - this.low)) * (this.height - this.top - BOTTOM);
  }

  #axes() {
    for (const tick of ticksBetween(this.low, this.high, 4)) {
      add(this.picture, "line", { x1: LEFT, x2: this.width - RIGHT, y1: this.y(tick), y2: this.y(tick), class: "grid" });
      add(this.picture, "text", { x: LEFT - 6, y: this.y(tick) + 4, "text-anchor": "end" }).textContent = numberText(tick);
    }
    for (const time of hourTicks(this.times, Math.floor((this.width - LEFT - RIGHT) / TICK_PIXELS))) {
      const date = new Date(time).toISOString();
      const midnight = date.slice(11, 13) === "00";
      add(this.picture, "line", { x1: this.x(time), x2: this.x(time), y1: TOP, y2: this.height - BOTTOM, class: midnight ? "day" : "grid" });
      const text = add(this.picture, "text", { x: this.x(time), y: this.height - 6, "text-anchor": "middle" });
      text.textContent = midnight ? date.slice(5, 10) : `${date.slice(11, 13)}Z`;
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

  // Each bar spans the period of its value: this many hours up to its time.
  bars(times, values, hours, kind) {
    values.forEach((value, n) => {
      if (!(value > 0)) return;
      const x = Math.max(LEFT, this.x(times[n] - hours[n] * HOUR));
      add(this.picture, "rect", { x: x + 0.5, width: Math.max(1, this.x(times[n]) - x - 1), y: this.y(value), height: Math.max(0, this.y(0) - this.y(value)), class: `bar ${kind}` });
    });
  }

  // Wind barbs above the values, as many as fit. Directions are in degrees, where the wind comes from.
  barbs(times, speeds, directions, south) {
    let last = -Infinity;
    times.forEach((time, n) => {
      const x = this.x(time);
      if (!Number.isFinite(speeds[n] + directions[n]) || x - last < BARB_PIXELS || x < LEFT + 6) return;
      last = x;
      const angle = (directions[n] * Math.PI) / 180;
      const shape = barbShape(x, TOP + 14, [Math.sin(angle), -Math.cos(angle)], speeds[n] * KNOTS_PER_M_S, { staff: 15, south });
      if (shape.calm) add(this.picture, "circle", { cx: x, cy: TOP + 14, r: 3, class: "barb" });
      const lines = [...shape.lines, ...shape.flags.map((flag) => [...flag, flag[0]])];
      if (lines.length) add(this.picture, "path", { d: lines.map((line) => `M${line.map((at) => at.map((one) => one.toFixed(1)).join(" ")).join("L")}`).join(""), class: "barb" });
    });
  }

  band(rows, kind) {
    if (rows.length < 2) return;
    const upper = rows.map(({ time, high }) => `${this.x(time).toFixed(1)} ${this.y(high).toFixed(1)}`);
    const lower = rows.map(({ time, low }) => `${this.x(time).toFixed(1)} ${this.y(low).toFixed(1)}`).reverse();
    add(this.picture, "path", { d: `M${upper.join("L")}L${lower.join("L")}Z`, class: `band ${kind}` });
  }
}

// Up to this many whole hours in UTC.
function hourTicks(times, most) {
  const [first, last] = [times[0], times.at(-1)];
  const step = [1, 2, 3, 6, 12, 24, 48, 72, 120, 240].find((hours) => (last - first) / HOUR / hours <= most) ?? 480;
  const found = [];
  for (let time = Math.ceil(first / (step * HOUR)) * step * HOUR; time <= last; time += step * HOUR) found.push(time);
  return found;
}
