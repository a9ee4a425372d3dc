// Updates relative times while a page is open, and adds local time to the tooltip with the UTC time.

const two = (n) => String(n).padStart(2, "0");

export function duration(seconds) {
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  if (whole < 600) return `${Math.floor(whole / 60)} min ${two(whole % 60)} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min`;
  if (whole < 86400) return `${Math.floor(whole / 3600)} h ${two(Math.floor((whole % 3600) / 60))} min`;
  return `${Math.floor(whole / 86400)} d ${Math.floor((whole % 86400) / 3600)} h`;
}

export function relative(seconds) {
  if (Math.abs(seconds) < 1.5) return "just now";
  return seconds > 0 ? `${duration(seconds)} ago` : `in ${duration(-seconds)}`;
}

export function updateTimes(root = document) {
  const now = Date.now();
  for (const time of root.querySelectorAll("time[datetime]")) {
    const moment = Date.parse(time.dateTime);
    if (Number.isNaN(moment)) continue;
    if (!time.hasAttribute("data-exact")) {
      const text = relative((now - moment) / 1000);
      if (time.textContent !== text) time.textContent = text;
    }
    if (!time.title.includes("local")) {
      time.title += ` · ${new Date(moment).toLocaleString()} local`;
    }
  }
}

updateTimes();
// On a phone the navigation is a strip: scroll it to the current page.
const strip = document.querySelector(".main-nav");
const current = strip?.querySelector("[aria-current]");
if (current) strip.scrollLeft = current.offsetLeft - strip.offsetLeft - (strip.clientWidth - current.clientWidth) / 2;
setInterval(() => {
  if (!document.hidden) updateTimes();
}, 1000);
