// The forecast at a place as a meteogram, and for ensembles as plumes; with a table of the numbers.
import { numberText } from "../scale/numbers.js";
import { runText } from "../page/catalogue.js";
import { Chart } from "./chart.js";
import { memberForecasts, pointForecast, spreadOf } from "./point_forecast.js";

// The panels: their titles, and the variables to show if the tiles have them.
const PANELS = [
  { title: "Temperature and dew point", lines: ["t2m", "d2m"] },
  { title: "Wind and gusts at 10 m", lines: ["ws10", "gust"], zero: true, barbs: true },
  { title: "Precipitation", bars: ["tp"], zero: true },
  { title: "Pressure at sea level", lines: ["mslp"] },
  { title: "Cloud cover", lines: ["tcc"], zero: true },
];
const NAMES = { t2m: "temperature", d2m: "dew point", ws10: "wind", gust: "gusts", tp: "precipitation", mslp: "pressure", tcc: "cloud cover" };
const MOST_ROWS = 400;

export class Meteogram {
  #asked = null;
  #charts = [];

  constructor(element) {
    this.element = element;
  }

  // {lat, lon, model, run, region, units, members, variable, title, marked}
  async show(request) {
    this.#asked?.abort();
    const { signal } = (this.#asked = new AbortController());
    this.#say(`Reading the forecast at ${placeText(request)} …`);
    try {
      const forecast = await pointForecast(request, signal);
      this.#draw(forecast, request);
      if (request.reveal) this.#reveal();
      if (request.members.length) await this.#plumes(request, signal);
    } catch (error) {
      if (error.name !== "AbortError") this.#say(`${error.message}`);
    }
  }

  // Moves the line that marks the hour shown on the map.
  mark(time) {
    for (const chart of this.#charts) chart.mark(time);
  }

  hide() {
    this.#asked?.abort();
    this.element.replaceChildren();
    this.element.hidden = true;
  }

  // Scrolls to the meteogram if it opens below the map.
  #reveal() {
    const { top, bottom } = this.element.getBoundingClientRect();
    if (top < window.innerHeight * 0.6 && bottom > 0) return;
    const calm = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
    this.element.scrollIntoView({ block: "start", behavior: calm ? "auto" : "smooth" });
  }

  get #width() {
    return this.element.clientWidth - 34; // without the padding
  }

  #say(text) {
    this.element.hidden = false;
    this.element.replaceChildren(this.#make("p", text, "soft"));
  }

  #draw(forecast, request) {
    const times = forecast.hours.map(({ time }) => Date.parse(time));
    const { point } = forecast;
    const head = this.#make("h2", `Forecast at ${placeText(request)}`);
    head.tabIndex = -1;
    const about = `${request.model.toUpperCase()} ${runText(forecast.run)}, grid point ${placeText(point)}, ${point.distance_km.toFixed(1)} km away. Times are UTC.`;
    this.#charts = [];
    const close = this.#make("button", "Close", "quiet");
    close.type = "button";
    close.addEventListener("click", () => this.element.dispatchEvent(new CustomEvent("closed", { bubbles: true })));
    const top = this.#make("div", "", "head");
    top.append(head, close);
    this.element.replaceChildren(top, this.#make("p", about, "soft small"));
    for (const panel of PANELS) this.#panel(panel, forecast, times, request.marked);
    this.element.append(this.#table(forecast));
    if (forecast.attribution) this.element.append(this.#make("p", forecast.attribution, "soft small"));
  }

  #panel({ title, lines = [], bars = [], zero = false, barbs = false }, forecast, times, marked) {
    const names = [...lines, ...bars].filter((name) => forecast.units[name] !== undefined);
    const columns = names.map((name) => forecast.hours.map((hour) => hour[name] ?? NaN));
    const known = columns.flat().filter(Number.isFinite);
    if (!known.length) return;
    const figure = this.#figure(`${title} (${forecast.units[names[0]]})`, names.map((name, n) => [NAMES[name] ?? name, `s${n + 1}`]));
    this.element.append(figure);
    if (bars.length && Math.max(...known) === 0) return figure.append(this.#make("p", "None in these hours.", "soft small"));
    const low = zero ? Math.min(0, ...known) : Math.min(...known);
    const directions = barbs && forecast.units.wdir10 !== undefined ? forecast.hours.map((hour) => hour.wdir10 ?? NaN) : null;
    const size = { width: this.#width, head: directions ? 26 : 0, height: directions ? 156 : 130 };
    const chart = new Chart(figure, { title: summary(title, forecast.units[names[0]], known), ...size, times, low, high: Math.max(...known, low + (zero ? 0.1 : 0)), marked });
    this.#charts.push(chart);
    if (directions) chart.barbs(times, columns[0].map((speed) => speed * toMetresPerSecond(forecast.units.ws10)), directions, forecast.point.lat < 0);
    names.forEach((name, n) => {
      const hours = forecast.intervals[name] ?? times.map(() => 1);
      if (bars.includes(name)) chart.bars(times, columns[n], hours, `s${n + 1}`);
      else chart.line(times, columns[n], `s${n + 1}`);
    });
  }

  async #plumes(request, signal) {
    const { members, variable, title } = request;
    const note = this.#make("p", `Reading ${members.length} members …`, "soft small");
    this.element.append(note);
    const found = await memberForecasts(members, variable, request, signal);
    note.remove();
    const known = found.flatMap(({ values }) => values).filter(Number.isFinite);
    if (!known.length) return;
    const [units] = found.map((one) => one.units);
    const times = [...new Set(found.flatMap((one) => one.times))].sort((a, b) => a - b);
    const figure = this.#figure(`${title}: ${found.length} members (${units})`, [["10 to 90 % of the members", "spread"], ["median", "middle"], ["one member", "member"]]);
    figure.classList.add("plumes");
    const chart = new Chart(figure, { title: summary(`${title} of ${found.length} members`, units, known), width: this.#width, height: 190, times, low: Math.min(...known), high: Math.max(...known), marked: request.marked });
    this.#charts.push(chart);
    const spread = spreadOf(found);
    chart.band(spread, "spread");
    for (const one of found) chart.line(one.times, one.values, "member");
    chart.line(spread.map(({ time }) => time), spread.map(({ middle }) => middle), "middle");
    this.element.querySelector(".head").nextElementSibling.after(figure);
  }

  #figure(title, keys) {
    const figure = this.#make("figure", "", "panel-chart");
    const caption = this.#make("figcaption", title);
    for (const [name, kind] of keys) {
      const key = this.#make("span", name, "key-of");
      const swatch = this.#make("span", "", `key-line ${kind}`);
      swatch.setAttribute("aria-hidden", "true");
      key.prepend(swatch);
      caption.append(key);
    }
    figure.append(caption);
    return figure;
  }

  #table(forecast) {
    const names = Object.keys(forecast.units);
    const details = this.#make("details");
    const scroll = this.#make("div", "", "scroll");
    scroll.tabIndex = 0;
    scroll.setAttribute("role", "region");
    scroll.setAttribute("aria-label", "Forecast as a table");
    const table = this.#make("table");
    const row = (cells, kind) => {
      const made = this.#make("tr");
      cells.forEach((text) => {
        const cell = this.#make(kind, text);
        if (kind === "th") cell.scope = "col";
        made.append(cell);
      });
      return made;
    };
    table.append(row(["UTC", "local time", ...names.map((name) => `${name} (${forecast.units[name]})`)], "th"));
    for (const hour of forecast.hours.slice(0, MOST_ROWS)) {
      const values = names.map((name) => (Number.isFinite(hour[name]) ? numberText(hour[name]) : "–"));
      table.append(row([hour.time.slice(0, 16).replace("T", " "), localStamp(hour.time), ...values], "td"));
    }
    scroll.append(table);
    details.append(this.#make("summary", "The numbers"), scroll);
    return details;
  }

  #make(name, text = "", kind = "") {
    const element = this.element.ownerDocument.createElement(name);
    element.textContent = text;
    if (kind) element.className = kind;
    return element;
  }
}

function toMetresPerSecond(units) {
  return { mph: 0.44704, kt: 1852 / 3600, kn: 1852 / 3600, "km/h": 1 / 3.6 }[units] ?? 1;
}

function localStamp(time) {
  const [day, clock] = [new Date(time).toLocaleDateString("sv-SE"), new Date(time).toLocaleTimeString("sv-SE", { hour: "2-digit", minute: "2-digit" })];
  return `${day} ${clock}`;
}

function summary(title, units, values) {
  return `${title}: from ${numberText(Math.min(...values))} to ${numberText(Math.max(...values))} ${units}`;
}

export function placeText({ lat, lon }) {
  const text = (value, letters) => `${Math.abs(value).toFixed(2)}° ${letters[value < 0 ? 1 : 0]}`;
  return `${text(lat, "NS")}, ${text(lon, "EW")}`;
}
