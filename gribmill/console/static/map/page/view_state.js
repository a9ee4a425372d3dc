// The view as the query of the page's URL, so that a link opens exactly this view.
const NAME = /^[A-Za-z0-9_.-]{1,100}$/;
const RUN = /^\d{8}_\d{2}(\d{2})?$/;
const CHOICES = {
  plane: ["native", "web"],
  wind: ["none", "particles", "barbs"],
  compare: ["none", "side", "difference"],
  colours: ["clear", "usual"],
  units: ["metric", "us"],
};

export const DEFAULTS = {
  model: "", run: "", region: "", variable: "", minutes: 0, other: "",
  plane: "native", wind: "none", compare: "none", colours: "clear", units: "metric",
  isobars: false, at: null, point: null,
};

// Parses the query; invalid values are ignored.
export function readState(search) {
  const given = new URLSearchParams(search);
  const state = { ...DEFAULTS };
  for (const name of ["model", "region", "variable", "other"]) if (NAME.test(given.get(name) ?? "")) state[name] = given.get(name);
  if (RUN.test(given.get("run") ?? "")) state.run = given.get("run");
  for (const [name, allowed] of Object.entries(CHOICES)) if (allowed.includes(given.get(name))) state[name] = given.get(name);
  const minutes = Number(given.get("minutes"));
  if (Number.isInteger(minutes) && minutes >= 0 && minutes < 2 ** 31) state.minutes = minutes;
  state.isobars = given.get("isobars") === "1";
  state.at = numbers(given.get("at"), 3);
  state.point = numbers(given.get("point"), 2);
  return state;
}

export function writeState(state) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(state)) {
    if (value === null || value === "" || value === DEFAULTS[name] || (name === "other" && state.compare === "none")) continue;
    if (Array.isArray(value)) query.set(name, value.map((one) => Number(one.toFixed(5))).join(","));
    else query.set(name, value === true ? "1" : value);
  }
  return `?${query}`;
}

function numbers(text, count) {
  const found = (text ?? "").split(",").filter(Boolean).map(Number);
  return found.length === count && found.every(Number.isFinite) ? found : null;
}
