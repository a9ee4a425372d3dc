"""Every job type that gribmill knows. Nothing outside this list can be enqueued or run."""

from __future__ import annotations

from dataclasses import replace

from gribmill.pipeline.handlers.build_tile import BUILD_TILE
from gribmill.pipeline.handlers.ingest_grib import INGEST_GRIB
from gribmill.pipeline.handlers.prune import PRUNE
from gribmill.pipeline.handlers.publish import PUBLISH
from gribmill.pipeline.handlers.scan_source import SCAN_SOURCE
from gribmill.queue.job_type import Registry
from gribmill.queue.sleep import SLEEP

TYPES = Registry(SCAN_SOURCE, INGEST_GRIB, BUILD_TILE, PUBLISH, PRUNE, replace(SLEEP, lane="fetch"))
# Where executor processes find it again.
TYPES_PATH = "gribmill.pipeline.job_types:TYPES"
