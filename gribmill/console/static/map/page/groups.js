// Long lists of choices in groups: [[title, [[value, text], …]], …]; choices without a group have the title "".

// Kinds of levels, as tiles name them, in the order in which they are listed. Pressure levels have a group each.
const KINDS = [
  ["Surface and near the ground", /^(surface|mean sea level|[\d.-]+ m above (ground|mean sea level))$/],
  ["Whole atmosphere", /^(entire|top of) atmosphere/],
  ["Clouds", /cloud/],
  ["Pressure levels", /^([\d.]+) mb$/],
  ["Soil", /below ground|underground|^soil/],
  ["Other levels", /(?:)/],
];
const PRESSURE = 3;

// `variables` are [{name, title, level}].
export function variableGroups(variables) {
  const groups = new Map();
  for (const { name, title, level } of variables) {
    const kind = KINDS.findIndex(([, pattern]) => pattern.test(level));
    const pressure = kind === PRESSURE ? Number.parseFloat(level) : 0;
    const group = kind === PRESSURE ? `${pressure} hPa` : KINDS[kind][0];
    if (!groups.has(group)) groups.set(group, { order: [kind, -pressure], rows: [] });
    groups.get(group).rows.push([name, title]);
  }
  const sorted = [...groups].sort(([, a], [, b]) => a.order[0] - b.order[0] || a.order[1] - b.order[1]);
  return sorted.map(([title, { rows }]) => [title, rows]);
}

// Members of an ensemble form a group; other models are not grouped.
export function modelGroups(models) {
  const family = (name) => name.split(".")[0];
  const groups = new Map([["", []]]);
  for (const name of models) {
    const members = models.filter((one) => family(one) === family(name));
    const title = members.length > 1 ? `${family(name)} (${members.length} members)` : "";
    if (!groups.has(title)) groups.set(title, []);
    groups.get(title).push([name, name]);
  }
  return [...groups].filter(([, rows]) => rows.length);
}

// Only choices that contain every word in their name, text or group; `kept` is always included.
export function matching(groups, words, kept) {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  const matches = (title, [value, text]) => {
    const whole = `${value} ${text} ${title}`.toLowerCase();
    return value === kept || wanted.every((word) => whole.includes(word));
  };
  return groups.map(([title, rows]) => [title, rows.filter((row) => matches(title, row))]).filter(([, rows]) => rows.length);
}

export function countOf(groups) {
  return groups.reduce((sum, [, rows]) => sum + rows.length, 0);
}
