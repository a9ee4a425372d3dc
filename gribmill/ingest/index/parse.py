"""Parses an index of either kind."""

from __future__ import annotations

from datetime import datetime

from gribmill.ingest.errors import IngestError
from gribmill.ingest.index.ecmwf import parse_ecmwf
from gribmill.ingest.index.entry import Inventory
from gribmill.ingest.index.noaa import parse_noaa
from gribmill.ingest.mirror import IndexKind


def parse_index(
    kind: IndexKind, data: bytes, source: str, run: datetime | None = None, size: int | None = None
) -> Inventory:
    """The inventory in an index of that kind. Raises BadIndex if it cannot be trusted."""
    if kind == "noaa_idx":
        return parse_noaa(data, source, run, size)
    if kind == "ecmwf_index":
        return parse_ecmwf(data, source, run, size)
    raise IngestError(f"{source}: this model has no index; its files are fetched whole")


def guess_kind(data: bytes) -> IndexKind:
    """ECMWF's for JSON lines; NOAA's for anything else."""
    return "ecmwf_index" if data.lstrip().startswith(b"{") else "noaa_idx"
