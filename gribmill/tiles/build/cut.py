"""Cuts GRIB files into tiles without a queue."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from gribmill.identity import check_model_id
from gribmill.regions.box import Box
from gribmill.regions.region import Region, load_regions, region_named
from gribmill.storage.object_path import StoredPath
from gribmill.tiles.build.build import build
from gribmill.tiles.build.tile_builder import BuildResult, FieldProgress
from gribmill.tiles.errors import TileError


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
    chosen = [_region(place, number, known) for number, place in enumerate(places, 1)]
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


def box_region(box: Box) -> Region:
    """A region for an unnamed box, named after its corners, so that equal boxes have equal names."""
    corners = (
        f"{abs(value):.6g}".replace(".", "p") + letters[value < 0]
        for value, letters in zip(box.as_list(), ("ew", "ns", "ew", "ns"), strict=True)
    )
    return Region("box_" + "_".join(corners), box, f"box {box}")


def _region(place: str | Box | Region, number: int, known: dict[str, Region]) -> Region:
    if isinstance(place, Region):
        return place
    return box_region(place) if isinstance(place, Box) else region_named(known, place)
