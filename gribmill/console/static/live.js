// Refreshes the parts of a page that are marked with data-live, from the page's own address.
// Only what has changed is touched. While somebody has selected rows or text, the page waits.

import { morphChildren } from "./morph.js";
import { updateTimes } from "./times.js";

const main = document.getElementById("main");
const toggle = document.getElementById("live-toggle");
const state = document.getElementById("live-state");
const every = Number(main.dataset.refreshSeconds) * 1000;
const LONGEST_WAIT = 60_000;
const HELD = "Not refreshed while something is selected.";

let paused = false;
let failures = 0;
let timer = 0;

function say(text) {
  if (state.textContent !== text) state.textContent = text;
}

function isSelecting() {
  const selection = document.getSelection();
  const text = selection && !selection.isCollapsed && main.contains(selection.anchorNode);
  return text || main.querySelector("[data-live] input[type=checkbox]:checked") !== null;
}

export function apply(text) {
  const fresh = new DOMParser().parseFromString(text, "text/html");
  const followed = [...main.querySelectorAll("[data-follow]")].filter(isAtEnd);
  for (const part of main.querySelectorAll("[data-live]")) {
    const next = fresh.getElementById(part.id);
    if (next) morphChildren(part, next);
  }
  for (const one of followed) one.scrollTop = one.scrollHeight;
  updateTimes(main);
}

// A log that is read at its end stays there as it grows.
function isAtEnd(element) {
  return element.scrollHeight - element.scrollTop - element.clientHeight < 8;
}

async function refresh() {
  if (isSelecting()) {
    say(HELD);
    plan();
    return;
  }
  try {
    const answer = await fetch(location.href, { cache: "no-store", redirect: "manual" });
    if (answer.type === "opaqueredirect" || answer.status === 401) {
      stop("Logged out: reload the page to log in again.");
      return;
    }
    if (!answer.ok) throw new Error(`HTTP ${answer.status}`);
    const text = await answer.text();
    if (paused || isSelecting()) return plan();
    apply(text);
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
  toggle.textContent = paused ? "Resume" : "Pause";
  toggle.setAttribute("aria-label", `${toggle.textContent} refresh`);
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
document.addEventListener("visibilitychange", () => {
  if (document.hidden) clearTimeout(timer);
  else if (!paused) refresh();
});
for (const one of main.querySelectorAll("[data-follow]")) one.scrollTop = one.scrollHeight;
show();
plan();
