// Times in UTC and in local time.
const DAYS = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];
const local = new Intl.DateTimeFormat("en-GB", { weekday: "short", hour: "2-digit", minute: "2-digit", timeZoneName: "short" });

export function utcText(time) {
  const moment = new Date(time);
  return `${DAYS[moment.getUTCDay()]} ${moment.toISOString().slice(0, 16).replace("T", " ")} UTC`;
}

// " (Wed 10:00 CET)", or empty if local time is UTC.
export function localText(time) {
  return new Date(time).getTimezoneOffset() ? ` (${local.format(time).replace(",", "")})` : "";
}
