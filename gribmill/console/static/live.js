// Refreshes the parts of a page that are marked with data-live by fetching the page again: shortly after an event, and
// every few seconds, because not every change is an event. Only changed elements are touched.

import { EventStream } from "./event_stream.js";
import { morphChildren } from "./morph.js";
import { updateTimes } from "./times.js";

const main = document.getElementById("main");
const toggle = document.getElementById("live-toggle");
const state = document.getElementById("live-state");
const { refreshSeconds, streamingSeconds = refreshSeconds, events } = main.dataset;
const [every, everyWithStream] = [refreshSeconds, streamingSeconds].map((seconds) => Number(seconds) * 1000);
const LONGEST_WAIT = 60_000;
const DEBOUNCE = 300;
const SHORTEST_PAUSE = 1000;
// Refreshes caused by events take at most this share of the time, so that many open pages do not overload the server.
const SHARE = 1 / 50;
const HELD = "Not refreshed while something is selected.";

let paused = false;
let failures = 0;
let timer = 0;
let isSoon = false;
let [began, ended] = [0, 0];
const stream = new EventStream(events.split(" "), refreshSoon);

function say(text) {
  if (state.textContent !== text) state.textContent = text;
}

function isSelecting() {
  const selection = document.getSelection();
  const text = selection && !selection.isCollapsed && main.contains(selection.anchorNode);
  return text || main.querySelector("[data-live] input[type=checkbox]:checked") !== null;
}

function apply(text) {
  const fresh = new DOMParser().parseFromString(text, "text/html");
  const followed = [...main.querySelectorAll("[data-follow]")].filter(isAtEnd);
  for (const part of main.querySelectorAll("[data-live]")) {
    const next = fresh.getElementById(part.id);
    if (next) morphChildren(part, next);
  }
  for (const one of followed) one.scrollTop = one.scrollHeight;
  updateTimes(main);
  if (!fresh.getElementById("main")?.dataset.refreshSeconds) finish();
}

// A log that is scrolled to its end stays there as it grows.
function isAtEnd(element) {
  return element.scrollHeight - element.scrollTop - element.clientHeight < 8;
}

async function refresh() {
  isSoon = false;
  if (isSelecting()) {
    say(HELD);
    plan();
    return;
  }
  began = performance.now();
  try {
    const answer = await fetch(location.href, { cache: "no-store", redirect: "manual" });
    if (answer.type === "opaqueredirect" || answer.status === 401) {
      stop("Logged out: reload the page to log in again.");
      return;
    }
    if (!answer.ok) throw new Error(`HTTP ${answer.status}`);
    const text = await answer.text();
    if (!paused && !isSelecting()) {
      failures = 0;
      say("");
      apply(text);
    }
    stream.connect();
  } catch {
    failures += 1;
    say("No connection to the server: this page may be out of date. Trying again.");
  }
  ended = performance.now();
  plan();
}

function plan() {
  clearTimeout(timer);
  if (paused || document.hidden) return;
  const wait = isSoon ? soonest() : (stream.connected ? everyWithStream : every) * 2 ** failures;
  timer = setTimeout(refresh, Math.min(LONGEST_WAIT, wait));
}

// Combines several events into one refresh. The random delay keeps open pages from refreshing simultaneously.
function refreshSoon() {
  if (isSoon) return;
  isSoon = true;
  if (ended >= began) plan(); // otherwise the refresh in progress plans the next one
}

function soonest() {
  const pause = Math.min(every, Math.max(SHORTEST_PAUSE, (ended - began) / SHARE));
  return Math.max(DEBOUNCE * (0.5 + Math.random()), ended + pause - performance.now());
}

function stop(text) {
  paused = true;
  stream.pause(true);
  clearTimeout(timer);
  say(text);
  show();
}

// Called when nothing on the page will change again.
function finish() {
  stop("");
  toggle.hidden = true;
}

function show() {
  toggle.textContent = paused ? "Resume" : "Pause";
  toggle.setAttribute("aria-label", `${toggle.textContent} refresh`);
  toggle.title = paused ? "The page is not refreshed" : "The page is refreshed as things change";
}

toggle.hidden = false;
toggle.addEventListener("click", () => {
  paused = !paused;
  stream.pause(paused);
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
