// The available runs, regions and hours, as the server lists them.
import { getJson } from "./request.js";

const MOST_RUNS = 200;

export class Catalogue {
  #runs = [];
  #hours = new Map();
  #titles = null;

  async load() {
    this.#hours.clear();
    this.#titles ??= await titlesOf();
    const runs = await getJson(`/api/v1/runs?limit=${MOST_RUNS}`);
    this.#runs = runs.map(({ model, run, regions }) => ({ model, run, regions: regions.filter((one) => one.hours).map((one) => one.region) }));
    this.#runs = this.#runs.filter(({ regions }) => regions.length);
  }

  get models() {
    return [...new Set(this.#runs.map(({ model }) => model))].sort();
  }

  // The title of a region, or its name.
  regionTitle(name) {
    return this.#titles?.get(name) || name;
  }

  // Newest first.
  runs(model) {
    return this.#runs.filter((one) => one.model === model).map(({ run }) => run);
  }

  regions(model, run) {
    return this.#runs.find((one) => one.model === model && one.run === run)?.regions ?? [];
  }

  // The members of a model's ensemble that have this run and region; empty if there is only one.
  members(model, run, region) {
    const family = model.split(".")[0];
    const found = this.models.filter((one) => one.startsWith(`${family}.`) && this.regions(one, run).includes(region));
    return model.includes(".") && found.length > 1 ? found : [];
  }

  // [{minutes, url}] in order.
  hours(model, run, region) {
    const query = new URLSearchParams({ model, run, region });
    if (!this.#hours.has(String(query))) {
      const asked = getJson(`/console/map/tiles?${query}`);
      asked.catch(() => this.#hours.delete(String(query)));
      this.#hours.set(String(query), asked);
    }
    return this.#hours.get(String(query));
  }
}

// Null if they cannot be read; names are shown instead.
async function titlesOf() {
  try {
    return new Map((await getJson("/api/v1/regions")).map(({ name, title }) => [name, title]));
  } catch {
    return null;
  }
}

export function runTime(run) {
  const match = /^(\d{4})(\d\d)(\d\d)_(\d\d)(\d\d)?$/.exec(run);
  const [, year, month, day, hour, minute = 0] = match.map(Number);
  return Date.UTC(year, month - 1, day, hour, minute || 0);
}

export function runText(run) {
  const moment = new Date(runTime(run)).toISOString();
  return `${moment.slice(0, 10)} ${moment.slice(11, 13)}${moment.slice(14, 16) === "00" ? "" : `:${moment.slice(14, 16)}`}Z`;
}

export function hourText(minutes) {
  const [hours, rest] = [Math.floor(minutes / 60), minutes % 60];
  return `+${hours} h${rest ? ` ${rest} min` : ""}`;
}
