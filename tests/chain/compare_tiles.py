"""Comparing tiles: byte by byte, or only what they say of the weather."""

from __future__ import annotations

import io
import json
from typing import Any

import numpy as np

# Where in its file a message lay.
PLACES = ("message", "offset")


def weather_of(tile: bytes) -> dict[str, Any]:
    """Arrays as bytes, and the meta without where the GRIB came from: two mirrors differ in that alone."""
    with np.load(io.BytesIO(tile)) as arrays:
        found: dict[str, Any] = {name: arrays[name].tobytes() for name in arrays.files if name != "meta"}
        if "meta" in arrays.files:
            meta = json.loads(arrays["meta"].item())
            meta.pop("source", None)
            for facts in meta.get("variables", {}).values():
                for place in PLACES:
                    facts.pop(place, None)
            found["meta"] = meta
    return found


def source_of(tile: bytes) -> dict[str, Any]:
    """What a tile says of its GRIB."""
    with np.load(io.BytesIO(tile)) as arrays:
        source: dict[str, Any] = json.loads(arrays["meta"].item())["source"]
    return source


def same_weather(one: dict[str, bytes], other: dict[str, bytes]) -> bool:
    """Whether both hold the same tiles, from whichever mirror."""
    if one.keys() != other.keys():
        return False
    return all(weather_of(data) == weather_of(other[place]) for place, data in one.items())
