"""A tile in the making: arrays are compressed as they come, the file is written once, at the end."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gribmill.regions.tile_options import Encoding
from gribmill.storage.atomic import write_atomic
from gribmill.storage.layout import TileFolder
from gribmill.tiles.build.encode_pool import Press
from gribmill.tiles.build.region_cut import Cutter
from gribmill.tiles.errors import TileError
from gribmill.tiles.format.grid_file import write_grid
from gribmill.tiles.format.meta import Meta, PackedAs, Quantity, Skipped, Source
from gribmill.tiles.format.npz_writer import Member, archive, member
from gribmill.tiles.format.requantize import pack
from gribmill.tiles.format.statistics import Summary, statistics_of, summary_of
from gribmill.tiles.read.tile import META

RESERVED = {META, "lat", "lon", "x", "y"}


class Encoded(NamedTuple):
    """One variable, ready to be written; `packed` tells how, where the array is not its values."""

    facts: Quantity
    member: Member
    summary: Summary
    points: int
    packed: PackedAs | None

    def quantity(self) -> Quantity:
        """What the tile says about it."""
        return self.facts.model_copy(update={**statistics_of(self.summary, self.points), "packed": self.packed})


@dataclass(frozen=True, slots=True)
class Built:
    """A tile that was written."""

    folder: TileFolder
    minutes: int
    path: Path
    meta: Meta
    bytes: int

    @property
    def sha256(self) -> str:
        """Of the file as it is now: worked out when somebody asks, which a worker never does."""
        with self.path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

    @property
    def region(self) -> str:
        """The region's name."""
        return self.folder.region


@dataclass(slots=True)
class Draft:
    """One region at one step: what has been cut so far."""

    folder: TileFolder
    minutes: int
    knife: Cutter
    encoding: Encoding = "fast"
    # The hour that the tile is filed under, where the model counts otherwise than by its valid time.
    hour: int | None = None
    press: Press = field(default_factory=Press)
    encoded: dict[str, Callable[[], Encoded]] = field(default_factory=dict)
    # The variables that were cut: cells of a regular grid make several arrays of one.
    taken: set[str] = field(default_factory=set)
    skipped: list[Skipped] = field(default_factory=list)
    duplicates: list[Skipped] = field(default_factory=list)

    @property
    def path(self) -> Path:
        """Where the tile will lie."""
        return self.folder.tile(self.minutes if self.hour is None else self.hour * 60)

    def add(self, name: str, values: npt.NDArray[np.float32], facts: Quantity, packing: Any = None) -> None:
        """Take in one variable; `facts` are what is known of it but the statistics.

        `packing` is the source's, where the values still are the source's own.
        """
        if name in RESERVED or name in self.encoded:
            raise TileError(f"two arrays of one tile would be called {name}")
        shape = self.knife.record.shape
        if values.shape != shape or values.dtype != np.float32:
            raise TileError(f"{name} is {values.dtype}{values.shape}, not float32{shape}")
        self.encoded[name] = self.press.give(partial(_encode, name, values, facts, packing, self.encoding))

    def write(self, source: Source, wanted: frozenset[str], attribution: str | None) -> Built:
        """Write the tile, and the grid file beside it where that is not there yet."""
        knife = self.knife
        # Of all variables in a row, not of each as it comes: what that needs is then at hand.
        made = [result() for _, result in sorted(self.encoded.items())]
        meta = Meta(
            model=self.folder.model,
            run=self.folder.run,
            minutes=self.minutes,
            region=knife.place,
            grid=knife.record,
            variables={one.member.name: one.quantity() for one in made},
            absent=tuple(sorted(wanted - self.taken)),
            skipped=tuple(self.skipped),
            duplicates=tuple(self.duplicates),
            source=source,
            attribution=attribution,
        )
        others = (member(META, np.array(meta.to_json())), *knife.axes)
        path = self.path
        size = write_atomic(path, archive([*(one.member for one in made), *others]))
        write_grid(self.folder, knife.record, knife.y, knife.x)
        return Built(self.folder, self.minutes, path, meta, size)


def _encode(name: str, values: npt.NDArray[np.float32], facts: Quantity, packing: Any, encoding: Encoding) -> Encoded:
    found = pack(values, packing) if encoding == "packed" and packing is not None else None
    array, how = found or (values, None)
    made = member(name, array, "compact" if encoding == "compact" else "fast")
    return Encoded(facts, made, made.summary or summary_of(values), values.size, how)
