"""Herbie: `Herbie(…).download(search)`, which reads the inventory and fetches the ranges of what matches."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import herbie.models
from meter import Fetch, main

original = herbie.models.hrrr.template
root_of_mirror = ""


def template(self: Any) -> None:
    """Herbie's own template with one source, the bucket at the mirror."""
    original(self)
    self.SOURCES = {"aws": self.SOURCES["aws"].replace("https://noaa-hrrr-bdp-pds.s3.amazonaws.com/", root_of_mirror)}


herbie.models.hrrr.template = template

from herbie import Herbie  # noqa: E402 — it takes the templates as they are then


def make(date: str) -> Fetch:
    def fetch(root: str, hour: int, folder: Path) -> Path:
        global root_of_mirror
        root_of_mirror = root
        moment = f"{date[:4]}-{date[4:6]}-{date[6:8]} {date[9:]}:00"
        found = Herbie(moment, model="hrrr", product="sfc", fxx=hour, save_dir=folder, verbose=False)
        return Path(found.download(os.environ["BENCH_SEARCH"], verbose=False))

    return fetch


main(make)
