"""`python -m benchmarks.map`: frames per second of the console's map over HRRR CONUS, as Chromium counts them."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.machine import machine_lines
from benchmarks.results_folder import command, results_folder
from gribmill.regions.box import Box
from gribmill.regions.region import Region
from gribmill.settings.schema import Settings
from tests.make_grib import smooth_values
from tests.server.live_server import serving
from tests.servers.chromium import ARGUMENTS, chromium_program
from tests.tiles.make_tile import HRRR, make_tile

if TYPE_CHECKING:
    from playwright.sync_api import Page

CONUS = Region("conus", Box(-134.2, 21.0, -60.8, 52.7), "HRRR CONUS")
HOURS = 6
WIND = {"units": "m s-1", "level": "10 m above ground", "winds": "earth", "long_name": "Wind"}
PRESSURE = {"units": "Pa", "level": "mean sea level", "long_name": "Pressure"}
CATEGORIES = "toplevel,cc,devtools.timeline,disabled-by-default-devtools.timeline.frame"
REST = "() => new Promise((done) => setTimeout(done, {ms}))"
PAN = """async () => {
  const panel = document.querySelector(".map-panel");
  const box = panel.getBoundingClientRect();
  const [x, y] = [box.left + box.width / 2, box.top + box.height / 2];
  const event = (kind, left, top) => new PointerEvent(kind, { pointerId: 1, clientX: left, clientY: top });
  const send = (...what) => panel.dispatchEvent(event(...what));
  panel.setPointerCapture = () => {};
  send("pointerdown", x, y);
  const begin = performance.now();
  await new Promise((done) => {
    const frame = () => {
      const time = performance.now() - begin;
      send("pointermove", x + 220 * Math.sin(time / 600), y + 120 * Math.sin(time / 450));
      if (time < {ms}) requestAnimationFrame(frame);
      else done();
    };
    requestAnimationFrame(frame);
  });
  send("pointercancel", x, y);
}"""


@dataclass(frozen=True)
class Scene:
    """What the map shows, and what the user does."""

    title: str
    query: str
    script: str = REST
    plays: bool = False


SCENES = (
    Scene("panning, the model's own grid", "", PAN),
    Scene("panning, with barbs and isobars", "&wind=barbs&isobars=1", PAN),
    Scene("panning, web map", "&plane=web", PAN),
    Scene("particles", "&wind=particles"),
    Scene("particles, web map", "&wind=particles&plane=web"),
    Scene("playing hours with particles", "&wind=particles", plays=True),
)


@dataclass(frozen=True)
class Measure:
    """For one scene: frames per second that Chromium drew and dropped, and CPU of all its threads."""

    drawn: float
    dropped: float
    cpu_ms: float
    longest_ms: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=4.0)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="one round of one second")
    options = parser.parse_args()
    if options.quick:
        options.rounds, options.seconds = 1, 1.0
    if chromium_program() is None:
        sys.exit("no browser: install Debian's package chromium")
    found: dict[str, list[Measure]] = {scene.title: [] for scene in SCENES}
    with opened_map() as (page, url):
        for scene in [*SCENES] * options.rounds:
            found[scene.title].append(measure(page, url, scene, options.seconds))
            print(f"{scene.title}: {found[scene.title][-1]}", flush=True)
    path = results_folder(quick=options.quick) / "map.md"
    path.write_text("\n".join(page_lines(found, options.rounds, options.seconds)) + "\n")
    print(path)


@contextmanager
def opened_map() -> Iterator[tuple[Page, str]]:
    """A browser, and the address of a map over six hours of HRRR CONUS."""
    from playwright.sync_api import sync_playwright

    with ExitStack() as stack:
        root = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        make_hours(root)
        server = stack.enter_context(serving(Settings(data=root)))
        playwright = stack.enter_context(sync_playwright())
        browser = playwright.chromium.launch(executable_path=chromium_program(), args=[*ARGUMENTS, "--no-sandbox"])
        stack.callback(browser.close)
        yield browser.new_page(viewport={"width": 1280, "height": 900}), f"{server.url}/map?model=hrrr&region=conus"


def make_hours(root: Path) -> None:
    """1799 × 1059 points an hour."""
    for hour in range(HOURS):
        fields: Any = {
            "t2m": (smooth_values(HRRR.shape, seed=hour), {}),
            "u10": (smooth_values(HRRR.shape, seed=hour + 20, mean=6, span=16), WIND),
            "v10": (smooth_values(HRRR.shape, seed=hour + 40, mean=-2, span=16), WIND),
            "mslp": (smooth_values(HRRR.shape, seed=hour + 60, mean=101300, span=3000), PRESSURE),
        }
        fields = {name: (np.asarray(values, np.float32), facts) for name, (values, facts) in fields.items()}
        make_tile(root, fields, grid=HRRR, region=CONUS, run="20261118_06", minutes=60 * hour)


def measure(page: Page, url: str, scene: Scene, seconds: float) -> Measure:
    page.goto(f"{url}&variable=t2m{scene.query}")
    page.wait_for_function("() => document.documentElement.dataset.map === 'ready'")
    page.wait_for_timeout(1500)
    if scene.plays:
        page.get_by_role("button", name="Play").click()
        page.wait_for_timeout(1000 * HOURS * 0.6)
    events: list[dict[str, Any]] = []
    ended: list[bool] = []
    trace = page.context.new_cdp_session(page)
    trace.on("Tracing.dataCollected", lambda part: events.extend(part["value"]))
    trace.on("Tracing.tracingComplete", lambda _: ended.append(True))
    trace.send("Tracing.start", {"categories": CATEGORIES, "transferMode": "ReportEvents"})
    page.evaluate(scene.script.replace("{ms}", str(int(seconds * 1000))))
    trace.send("Tracing.end")
    while not ended:
        page.wait_for_timeout(20)
    trace.detach()
    return measure_of(events, seconds)


def measure_of(events: list[dict[str, Any]], seconds: float) -> Measure:
    drawn = sum(event["name"] == "DrawFrame" for event in events)
    dropped = sum(event["name"] == "DroppedFrame" for event in events)
    tasks = [event for event in events if event["name"] == "ThreadControllerImpl::RunTask"]
    cpu = sum(event.get("tdur", 0) for event in tasks) / 1000
    longest = max((event.get("tdur", 0) for event in tasks), default=0) / 1000
    return Measure(drawn / seconds, dropped / seconds, cpu / max(drawn, 1), longest)


def page_lines(found: dict[str, list[Measure]], rounds: int, seconds: float) -> list[str]:
    lines = ["# Frames of the map", "", f"`{command('map')}` wrote this page.", "", *machine_lines()]
    lines += [f"- nice level {os.nice(0)}: below 0, other work on the machine matters less", ""]
    lines += [
        "**What.** The map of HRRR CONUS (1799 × 1059 points) in a window of 1280 × 900;",
        f"{rounds} rounds of {seconds:g} s of each scene in turn; medians. Frames are those that Chromium itself",
        "reports as drawn and dropped in its trace; it draws at most 60 a second. The machine has no graphics card:",
        "Chromium composes and paints on the processor. CPU is the time of all its threads per frame: below 33 ms,",
        "two cores have time for 60 frames a second. The longest task is CPU time too.",
        "",
        "| scene | frames/s | dropped/s | CPU ms per frame | longest task ms |",
        "|---|---|---|---|---|",
    ]
    for title, measures in found.items():
        columns = [[one.drawn for one in measures], [one.dropped for one in measures]]
        columns += [[one.cpu_ms for one in measures], [one.longest_ms for one in measures]]
        lines.append(f"| {title} | {' | '.join(f'{median(column):.1f}' for column in columns)} |")
    return lines


if __name__ == "__main__":
    main()
