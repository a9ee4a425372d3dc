// Refreshes the parts of a page that are marked with data-live, from the page's own address.
// What a person has selected, opened or focused stays; nothing is replaced that has not changed.

import { updateTimes } from "./times.js";

const main = document.getElementById("main");
const toggle = document.getElementById("live-toggle");
const state = document.getElementById("live-state");
const every = Number(main.dataset.refreshSeconds) * 1000;
const LONGEST_WAIT = 60_000;

let paused = false;
let failures = 0;
let timer = 0;
let tag = "";

function say(text) {
  if (state.textContent !== text) state.textContent = text;
}

function keep(before, after) {
  for (const box of before.querySelectorAll("input[type=checkbox][value]:checked")) {
    const same = after.querySelector(`input[type=checkbox][name="${CSS.escape(box.name)}"][value="${CSS.escape(box.value)}"]`);
    if (same) same.checked = true;
  }
  for (const open of before.querySelectorAll("details[id]")) {
    const same = after.querySelector(`#${CSS.escape(open.id)}`);
    if (same) same.open = open.open;
  }
}

// Compared as the server sent them: relative times are changed by times.js.
const shown = new Map();

export function apply(text) {
  const fresh = new DOMParser().parseFromString(text, "text/html");
  for (const part of main.querySelectorAll("[data-live]")) {
    const next = fresh.getElementById(part.id);
    if (!next || shown.get(part.id) === next.innerHTML) continue;
    shown.set(part.id, next.innerHTML);
    const focused = part.contains(document.activeElement) ? document.activeElement : null;
    const mark = focused && (focused.id ? `#${CSS.escape(focused.id)}` : focused.getAttribute("href") && `a[href="${CSS.escape(focused.getAttribute("href"))}"]`);
    if (focused && !mark) continue; // someone is typing or choosing here
    keep(part, next);
    const scrolled = [...part.querySelectorAll("[data-scroll]")].map((one) => [one.id, one.scrollLeft, one.scrollTop]);
    part.replaceChildren(...next.childNodes);
    for (const [id, left, top] of scrolled) document.getElementById(id)?.scrollTo(left, top);
    if (mark) part.querySelector(mark)?.focus({ preventScroll: true });
    part.dispatchEvent(new CustomEvent("refreshed", { bubbles: true }));
  }
  updateTimes(main);
}

async function refresh() {
  try {
    const headers = tag ? { "If-None-Match": tag } : {};
    const answer = await fetch(location.href, { headers, cache: "no-store", redirect: "manual" });
    if (answer.type === "opaqueredirect" || answer.status === 401) {
      stop("Logged out: reload the page to log in again.");
      return;
    }
    if (answer.status !== 304) {
      if (!answer.ok) throw new Error(`HTTP ${answer.status}`);
      tag = answer.headers.get("ETag") ?? "";
      apply(await answer.text());
    }
    failures = 0;
    say("");
  } catch {
    failures += 1;
    say("No connection to the server: what you see may be old. Trying again.");
  }
  plan();
}

function plan() {
  clearTimeout(timer);
  if (!paused && !document.hidden) timer = setTimeout(refresh, Math.min(LONGEST_WAIT, every * 2 ** failures));
}

function stop(text) {
  paused = true;
  clearTimeout(timer);
  say(text);
  show();
}

function show() {
  toggle.setAttribute("aria-pressed", String(paused));
  toggle.textContent = paused ? "Resume" : "Pause";
  toggle.title = paused ? "The page is not refreshed" : `The page is refreshed every ${every / 1000} s`;
}

toggle.hidden = false;
toggle.addEventListener("click", () => {
  paused = !paused;
  show();
  say(paused ? "Paused." : "");
  if (paused) clearTimeout(timer);
  else refresh();
});
document.addEventListener("visibilitychange", () => (document.hidden ? clearTimeout(timer) : plan()));
show();
plan();
