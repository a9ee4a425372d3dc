"""Regions, and the windows they cut from grids."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal, Self

from pydantic import Field

from gribmill.regions.tile_options import Encoding, Method
from gribmill.views.view import View

if TYPE_CHECKING:
    from gribmill.regions.box import Box
    from gribmill.regions.grids.spec import NamedGrid
    from gribmill.regions.region import Region
    from gribmill.regions.window import Window

# West, south, east, north in degrees.
Edges = tuple[float, float, float, float]
Span = tuple[int, int]
Cut = tuple["NamedGrid", "Window | None"]


class RegionView(View):
    """A named region. Without `resolution` its tiles keep the model's own grid."""

    name: str
    title: str
    box: Edges
    crosses_dateline: bool
    resolution: float | None
    method: Method | None
    encoding: Encoding
    origin: Literal["yours", "built in"] = Field(alias="from")

    @classmethod
    def of(cls, region: Region, *, own: bool) -> Self:
        return cls(**_region(region, own=own))


class WindowView(View):
    """Rows and columns of a grid, each as begin and end; several column ranges if it crosses the grid's edge."""

    rows: Span
    cols: tuple[Span, ...]
    shape: Span
    points: int
    share: float


class GridWindowView(View):
    """A grid, and the window that a box cuts from it; null if no grid point is inside."""

    grid: str
    title: str
    grid_shape: Span
    window: WindowView | None

    @classmethod
    def of(cls, named: NamedGrid, found: Window | None) -> Self:
        ny, nx = named.grid.shape
        window = None
        if found is not None:
            window = WindowView(
                rows=(found.rows.start, found.rows.stop),
                cols=tuple((part.start, part.stop) for part in found.cols),
                shape=found.shape,
                points=found.points,
                share=round(found.points / (ny * nx), 6),
            )
        return cls(grid=named.name, title=named.title, grid_shape=(ny, nx), window=window)


class RegionWindowsView(RegionView):
    """A region with its window on each grid."""

    windows: tuple[GridWindowView, ...]

    @classmethod
    def with_windows(cls, region: Region, cuts: Iterable[Cut], *, own: bool) -> Self:
        return cls(**_region(region, own=own), windows=_windows(cuts))


class BoxWindowsView(View):
    """A box with its window on each grid."""

    box: Edges
    windows: tuple[GridWindowView, ...]

    @classmethod
    def of(cls, box: Box, cuts: Iterable[Cut]) -> Self:
        return cls(box=_edges(box), windows=_windows(cuts))


class RegionCheckView(View):
    """Whether a user-defined region is valid, and a remark."""

    name: str
    ok: bool
    box: Edges | None
    says: str

    @classmethod
    def of(cls, name: str, box: Box | None, says: str) -> Self:
        return cls(name=name, ok=box is not None, box=_edges(box) if box else None, says=says)


def _region(region: Region, *, own: bool) -> dict[str, Any]:
    return {
        "name": region.name,
        "title": region.title,
        "box": _edges(region.box),
        "crosses_dateline": region.box.crosses_dateline,
        "resolution": region.resolution,
        "method": region.method,
        "encoding": region.encoding,
        "origin": "yours" if own else "built in",
    }


def _edges(box: Box) -> Edges:
    return box.west, box.south, box.east, box.north


def _windows(cuts: Iterable[Cut]) -> tuple[GridWindowView, ...]:
    return tuple(GridWindowView.of(named, found) for named, found in cuts)
