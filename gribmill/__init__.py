"""gribmill grinds NOAA and ECMWF GRIB into small per-region NPZ tiles.

From Python: `open_tile`, `open_run`, `point` and `points` read tiles, `cut` and `build` make them, `open_grib` opens
any GRIB file, `inventory` and `fetch` read published files,
`verify` and `diff` check; `Client` and `AsyncClient` use a server. Each is imported when it is first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from gribmill.version import __version__ as __version__

if TYPE_CHECKING:
    from gribmill.client.async_client import AsyncClient as AsyncClient
    from gribmill.client.client import Client as Client
    from gribmill.grib.open_grib import open_grib as open_grib
    from gribmill.pipeline.remote import fetch as fetch
    from gribmill.pipeline.remote import inventory as inventory
    from gribmill.regions.box import Box as Box
    from gribmill.regions.region import Region as Region
    from gribmill.tiles.build.build import build as build
    from gribmill.tiles.build.build import cut as cut
    from gribmill.tiles.check.diff import diff as diff
    from gribmill.tiles.check.verify import verify as verify
    from gribmill.tiles.read.dataset import open_tile as open_tile
    from gribmill.tiles.read.point.point import point as point
    from gribmill.tiles.read.point.point import points as points
    from gribmill.tiles.read.run_dataset import open_run as open_run
    from gribmill.tiles.read.run_dataset import open_runs as open_runs
    from gribmill.tiles.read.tile import read_tile as read_tile

# The module of each public name. They are imported on first use, so that `import gribmill` stays fast.
_HOMES = {
    "AsyncClient": "gribmill.client.async_client",
    "Box": "gribmill.regions.box",
    "Client": "gribmill.client.client",
    "Region": "gribmill.regions.region",
    "build": "gribmill.tiles.build.build",
    "cut": "gribmill.tiles.build.build",
    "diff": "gribmill.tiles.check.diff",
    "fetch": "gribmill.pipeline.remote",
    "inventory": "gribmill.pipeline.remote",
    "open_grib": "gribmill.grib.open_grib",
    "open_run": "gribmill.tiles.read.run_dataset",
    "open_runs": "gribmill.tiles.read.run_dataset",
    "open_tile": "gribmill.tiles.read.dataset",
    "point": "gribmill.tiles.read.point.point",
    "points": "gribmill.tiles.read.point.point",
    "read_tile": "gribmill.tiles.read.tile",
    "verify": "gribmill.tiles.check.verify",
}

__all__ = [
    "AsyncClient",
    "Box",
    "Client",
    "Region",
    "__version__",
    "build",
    "cut",
    "diff",
    "fetch",
    "inventory",
    "open_grib",
    "open_run",
    "open_runs",
    "open_tile",
    "point",
    "points",
    "read_tile",
    "verify",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'gribmill' has no attribute {name!r}")
    # Before ecCodes: its wheels contain an SQLite from 2018, which Python would use if sqlite3 were imported later.
    importlib.import_module("sqlite3")
    return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
