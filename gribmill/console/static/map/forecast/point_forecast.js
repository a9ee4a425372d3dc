// The forecast at a place; for an ensemble, the forecasts of all members.
import { getJson } from "../page/request.js";

const AT_ONCE = 6;

export function pointForecast({ lat, lon, model, run, region, units, variables = null }, signal) {
  const query = new URLSearchParams({ lat: lat.toFixed(5), lon: lon.toFixed(5), model, run, region, units });
  if (variables) query.set("vars", variables.join(","));
  return getJson(`/api/v1/point?${query}`, signal);
}

// [{model, hours, values}] of one variable; members without it are left out.
export async function memberForecasts(members, variable, request, signal) {
  const found = [];
  const waiting = [...members];
  const work = async () => {
    for (let model = waiting.shift(); model; model = waiting.shift()) {
      const one = await pointForecast({ ...request, model, variables: [variable] }, signal).catch((error) => {
        if (error.name === "AbortError") throw error;
        return null;
      });
      if (one) found.push({ model, units: one.units[variable], times: one.hours.map(({ time }) => Date.parse(time)), values: one.hours.map((hour) => hour[variable] ?? NaN) });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return found.sort((a, b) => (a.model < b.model ? -1 : 1));
}

// Percentiles of the members at each time at which all have a value: [{time, low, middle, high}].
export function spreadOf(members) {
  const byTime = new Map();
  for (const { times, values } of members) {
    times.forEach((time, n) => {
      if (!Number.isNaN(values[n])) byTime.set(time, [...(byTime.get(time) ?? []), values[n]]);
    });
  }
  const whole = [...byTime].filter(([, values]) => values.length === members.length).sort(([a], [b]) => a - b);
  return whole.map(([time, values]) => {
    const sorted = values.sort((a, b) => a - b);
    const at = (share) => between(sorted, share * (sorted.length - 1));
    return { time, low: at(0.1), middle: at(0.5), high: at(0.9) };
  });
}

function between(sorted, place) {
  const below = Math.floor(place);
  const above = Math.min(below + 1, sorted.length - 1);
  return sorted[below] + (place - below) * (sorted[above] - sorted[below]);
}
