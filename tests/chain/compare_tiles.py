"""Compares tiles without the metadata that depends on their source."""

from __future__ import annotations

import io
import json
from typing import Any

import numpy as np

# The position of a message in its file.
PLACES = ("message", "offset")


def weather_of(tile: bytes) -> dict[str, Any]:
    """The arrays as bytes, and the metadata without what depends on mirror or download."""
    with np.load(io.BytesIO(tile)) as arrays:
        found: dict[str, Any] = {name: arrays[name].tobytes() for name in arrays.files if name != "meta"}
        if "meta" in arrays.files:
            meta = json.loads(arrays["meta"].item())
            meta.pop("source", None)
            meta.pop("generation", None)
            for facts in meta.get("variables", {}).values():
                for place in PLACES:
                    facts.pop(place, None)
            found["meta"] = meta
    return found


def source_of(tile: bytes) -> dict[str, Any]:
    """The source that a tile records."""
    with np.load(io.BytesIO(tile)) as arrays:
        source: dict[str, Any] = json.loads(arrays["meta"].item())["source"]
    return source


def same_weather(one: dict[str, bytes], other: dict[str, bytes]) -> bool:
    """Whether both contain the same tiles, ignoring their mirrors."""
    if one.keys() != other.keys():
        return False
    return all(weather_of(data) == weather_of(other[place]) for place, data in one.items())
