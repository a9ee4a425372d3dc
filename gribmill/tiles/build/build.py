"""From one GRIB file to the tiles of many regions."""

from __future__ import annotations

import hashlib
import mmap
from collections.abc import Iterable, Sequence
from pathlib import Path

from gribmill.grib.decode.field import Field, fields
from gribmill.grib.messages import Data, map_file
from gribmill.regions.region import Region
from gribmill.tiles.build.encode_pool import Press
from gribmill.tiles.build.tile_builder import Mill, Outcome, Progress
from gribmill.tiles.format.meta import Source


def build(
    grib: str | Path,
    regions: Sequence[Region],
    data: str | Path,
    *,
    model: str | None = None,
    variables: Iterable[str] | None = None,
    everything: bool = False,
    hour: int | None = None,
    url: str | None = None,
    etag: str | None = None,
    sha256: str | None = None,
    progress: Progress | None = None,
    written: set[Path] | None = None,
    threads: int = 1,
) -> Outcome:
    """Cut a GRIB file for every region into `data`/tiles/…; a damaged file raises GribError and leaves nothing.

    `variables` are the names asked for (default: all that the lexicon knows); `everything` takes unknown ones too.
    `hour` files the tile under that hour, where the model counts otherwise than by valid time (parts of an hour).
    `sha256` is the file's, where somebody has worked it out already.
    `written` are tiles that must not be overwritten; those written here are added to it.
    `threads` is how many cores the build may use; the tiles are the same.
    """
    path = Path(grib)
    content = map_file(path)
    digest = sha256 or hashlib.sha256(content).hexdigest()
    source = Source(name=path.name, url=url, etag=etag, bytes=len(content), sha256=digest)
    with Press(threads) as press:
        mill = Mill(tuple(regions), Path(data), model, frozenset(variables or ()), everything, hour, press)
        items = list(fields(content, str(path)))

        def done(number: int, count: int) -> None:
            _let_go(content, items[number - 1])
            if progress is not None:
                progress(number, count)

        mill.grind(items, done)
        return mill.finish(source, set() if written is None else written)


def _let_go(content: Data, item: Field) -> None:
    """What has been cut need not stay in this process: the file's bytes are the system's to keep."""
    if isinstance(content, mmap.mmap):
        begin = item.offset // mmap.PAGESIZE * mmap.PAGESIZE
        content.madvise(mmap.MADV_DONTNEED, begin, item.offset + item.length - begin)
