"""Builds tiles from GRIB files: of one file for the pipeline (`build`), or of several without a queue (`cut`)."""

from __future__ import annotations

import hashlib
import mmap
from collections.abc import Iterable, Sequence
from pathlib import Path

from gribmill.grib.decode.field import Field, fields
from gribmill.grib.messages import Data, map_file
from gribmill.grib.names.lexicon import lexicon, plain_name
from gribmill.identity import check_model_id
from gribmill.regions.box import Box
from gribmill.regions.region import Region, load_regions, region_named
from gribmill.storage.object_path import StoredPath, stored_path
from gribmill.tiles.build.tile_builder import BuildResult, FieldProgress, TileBuilder
from gribmill.tiles.build.tile_writer import EncodePool
from gribmill.tiles.errors import TileError
from gribmill.tiles.format.meta import SourceFile


def cut(
    files: str | Path | Sequence[str | Path],
    regions: Sequence[str | Box | Region] | str | Box | Region,
    out: str | StoredPath,
    *,
    model: str | None = None,
    variables: Iterable[str] | None = None,
    everything: bool = False,
    progress: FieldProgress | None = None,
    threads: int = 1,
    replace: bool = False,
) -> list[BuildResult]:
    """Cut GRIB files into tiles under `out`/tiles/…. Each region is a name, a `Region` or a `Box`.

    Without `model`, each field is assigned to the model and ensemble member given by its keys. Unless `replace`, tiles
    that were cut from another source are kept, and their region fails.
    """
    paths = [files] if isinstance(files, str | Path) else list(files)
    places = [regions] if isinstance(regions, str | Box | Region) else list(regions)
    if not paths or not places:
        raise TileError("nothing to cut: give at least one GRIB file and one region or box")
    known = load_regions()
    chosen = [_region(place, known) for place in places]
    if model is not None:
        check_model_id(model)
    wanted = None if variables is None else list(variables)
    written: set[StoredPath] = set()
    return [
        build(
            path,
            chosen,
            out,
            model=model,
            variables=wanted,
            everything=everything,
            progress=progress,
            written=written,
            threads=threads,
            split_members=True,
            replace=replace,
        )
        for path in paths
    ]


def build(
    grib: str | Path,
    regions: Sequence[Region],
    data: str | StoredPath,
    *,
    model: str | None = None,
    variables: Iterable[str] | None = None,
    everything: bool = False,
    hour: int | None = None,
    url: str | None = None,
    etag: str | None = None,
    sha256: str | None = None,
    progress: FieldProgress | None = None,
    written: set[StoredPath] | None = None,
    threads: int = 1,
    split_members: bool = False,
    replace: bool = True,
    generation: int | None = None,
) -> BuildResult:
    """Cut a GRIB file for all regions into `data`/tiles/…. Raises GribError, and writes nothing, if it is damaged.

    `variables` are the requested names (default: all in the lexicon); `everything` adds fields that are not in it.
    `hour` stores the tile under that hour, for models whose hours are not valid times (parts of an hour).
    `sha256` is the digest of the file, if it is already known.
    `written` are tiles that must not be overwritten; tiles written here are added to it.
    `generation` numbers the file's content: a tile of a later generation is not replaced (Superseded).
    `threads` is the number of cores to use; it does not affect the tiles.
    `split_members`: with a given `model`, several ensemble members in the file become MODEL.MEMBER each.
    Unless `replace`, a tile that was cut from another file, member or model is not overwritten.
    """
    path = Path(grib)
    content = map_file(path)
    digest = sha256 or hashlib.sha256(content).hexdigest()
    source = SourceFile(name=path.name, url=url, etag=etag, bytes=len(content), sha256=digest)
    with EncodePool(threads) as pool:
        wanted = _wanted(variables)
        builder = TileBuilder(tuple(regions), stored_path(data), model, wanted, everything, hour, split_members, pool)
        builder.generation = generation
        items = list(fields(content, str(path)))

        def done(number: int, count: int) -> None:
            _release_pages(content, items[number - 1])
            if progress is not None:
                progress(number, count)

        builder.add_fields(items, done)
        return builder.finish(source, set() if written is None else written, replace=replace)


def box_region(box: Box) -> Region:
    """A region for an unnamed box, named after its corners, so that equal boxes have equal names."""
    corners = (
        f"{abs(value):.6g}".replace(".", "p") + letters[value < 0]
        for value, letters in zip(box.as_list(), ("ew", "ns", "ew", "ns"), strict=True)
    )
    return Region("box_" + "_".join(corners), box, f"box {box}")


def _region(place: str | Box | Region, known: dict[str, Region]) -> Region:
    if isinstance(place, Region):
        return place
    return box_region(place) if isinstance(place, Box) else region_named(known, place)


def _wanted(variables: Iterable[str] | None) -> frozenset[str]:
    """The requested names, and the replacements of old names. `tp_run` is stored as `tp`."""
    names = frozenset(plain_name(name) for name in variables or ())
    return names.union(*(lexicon().current_names(name) for name in names))


def _release_pages(content: Data, item: Field) -> None:
    """Release the mapped pages of a field that has been cut; they stay in the system's page cache."""
    if isinstance(content, mmap.mmap):
        begin = item.offset // mmap.PAGESIZE * mmap.PAGESIZE
        content.madvise(mmap.MADV_DONTNEED, begin, item.offset + item.length - begin)
