"""gribmill: the whole build step (metadata, rotated winds, checksums, fsync)."""

from __future__ import annotations

import hashlib
import os
from functools import cache
from pathlib import Path

from stopwatch import Boxes, main

from gribmill.regions.box import Box
from gribmill.regions.region import Region
from gribmill.tiles.build.build import build


def work(path: Path, boxes: Boxes, out: Path) -> None:
    regions = [Region(name, Box(*box)) for name, box in boxes.items()]
    outcome = build(path, regions, out, model=os.environ["BENCH_MODEL"], everything=True, sha256=sha256_of(path))
    if outcome.failed or outcome.skipped or len(outcome.tiles) != len(boxes):
        raise SystemExit(f"gribmill did not cut everything: {outcome.failed} {outcome.skipped}")


@cache
def sha256_of(path: Path) -> str:
    """A worker knows it from the download; here the first pass computes it."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


main(work, "t2m")
