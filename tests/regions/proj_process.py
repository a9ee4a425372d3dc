"""Runs in a separate process: projects coordinates from standard input with PROJ, through pyproj.

In: JSON list of {"proj": …, "cf": … or null, "x": [...], "y": [...]}. Out: for each, the longitudes and latitudes of
x, y, once by the PROJ string and, where they are given, once by the CF attributes.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import pyproj


def answer(question: dict[str, Any]) -> list[dict[str, Any]]:
    answers = []
    systems = [pyproj.CRS.from_proj4(question["proj"])]
    if question["cf"]:
        systems.append(pyproj.CRS.from_cf(question["cf"]))
    for crs in systems:
        geographic = crs.geodetic_crs if crs.is_projected else crs.source_crs
        transformer = pyproj.Transformer.from_crs(crs, geographic, always_xy=True)
        lon, lat = transformer.transform(question["x"], question["y"])
        answers.append({"lon": list(lon), "lat": list(lat)})
    return answers


if __name__ == "__main__":
    json.dump([answer(question) for question in json.load(sys.stdin)], sys.stdout)
