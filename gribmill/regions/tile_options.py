"""Options for how a region's tiles are made."""

from __future__ import annotations

from typing import Literal, get_args

Method = Literal["nearest", "bilinear", "cells"]
"""How values are resampled to a regular grid; `cells` gives the mean, minimum and maximum of each cell."""

Encoding = Literal["fast", "compact", "packed"]
"""How arrays are compressed: quickly, smaller but slower, or as the packed integers of the GRIB message."""

METHODS: tuple[Method, ...] = get_args(Method)
ENCODINGS: tuple[Encoding, ...] = get_args(Encoding)
# A bilinear value needs at least half of its weight on points that have a value.
LEAST_WEIGHT = 0.5
