"""Makes the pictures of the README from the demo: the overview, the grid of a run, and the map.

Needs Debian's Chromium and the test tools (`make setup`). Takes about two minutes:

    .venv/bin/python scripts/make_pictures.py docs/pictures
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from PIL import Image

if TYPE_CHECKING:
    from playwright.sync_api import Page

CHROMIUM = "/usr/bin/chromium"
MOST_BYTES = 200_000
COLOURS = 256
WIDTH = 1280
# Name, address, height in pixels.
PICTURES = (
    ("overview", "/", 800),
    ("runs", "/runs?model=hrrr", 560),
    ("map", "/map?model=hrrr&region=conus&variable=t2m", 800),
)


@contextmanager
def demo(folder: Path) -> Iterator[str]:
    """The address of the console of a demo that runs in the folder."""
    command = [sys.executable, "-m", "gribmill", "--data", str(folder), "demo", "chain"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            for line in process.stdout:
                if "Ctrl-C" in line:
                    yield next(word for word in line.split() if word.startswith("http://"))
                    break
        finally:
            process.send_signal(signal.SIGINT)
            process.stdout.read()
    if process.returncode:
        raise SystemExit(f"the demo ended with the exit code {process.returncode}")


def take_pictures(url: str, folder: Path) -> None:
    from playwright.sync_api import sync_playwright

    # Chromium refuses to run as root with its sandbox.
    sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--enable-unsafe-swiftshader", "--disable-dev-shm-usage", *sandbox]
        )
        page = browser.new_page(color_scheme="light")
        for name, path, height in PICTURES:
            page.set_viewport_size({"width": WIDTH, "height": height})
            page.goto(f"{url}{path}")
            if name == "map":
                wait_for_map(page)
            page.screenshot(path=folder / f"{name}.png")
            shrink(folder / f"{name}.png")
        browser.close()


def wait_for_map(page: Page) -> None:
    page.wait_for_function("() => document.documentElement.dataset.map === 'ready'")
    page.locator("#maps[aria-busy=false]").wait_for()


def shrink(path: Path) -> None:
    """Fewer colours: pages have few, and the difference is invisible."""
    with Image.open(path) as picture:
        fewer = picture.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
    fewer.save(path, optimize=True)
    size = path.stat().st_size
    if size > MOST_BYTES:
        raise SystemExit(f"{path} has more than {MOST_BYTES / 1000:.0f} kB")


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as data, demo(Path(data)) as url:
        take_pictures(url, folder)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
