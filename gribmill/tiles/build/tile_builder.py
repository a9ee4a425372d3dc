"""Builds all tiles of one GRIB file: each field is decoded once and cut for all regions."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from dataclasses import replace as with_changes
from functools import partial
from typing import Literal, TypeVar

from gribmill.errors import GribmillError
from gribmill.grib.decode.field import Field
from gribmill.grib.decode.winds import adds_up, is_component
from gribmill.grib.names.array_name import is_array_name
from gribmill.grib.product.keys import ECMWF
from gribmill.regions.region import Region
from gribmill.storage.layout import TileFolder
from gribmill.storage.object_path import StoredPath
from gribmill.tiles.build.describe_fields import (
    FieldChoice,
    NamedField,
    cell_name,
    cell_statistic_meta,
    describe_duplicate,
    lexicon_name,
    name_fields,
    names_of,
    skipped_message,
    variable_meta,
)
from gribmill.tiles.build.place_fields import Step, model_ids, place_fields
from gribmill.tiles.build.region_cut import FieldWindows, WindComponent, WindPairs, region_cut
from gribmill.tiles.build.tile_writer import BuiltTile, EncodePool, TileWriter, check_replaceable
from gribmill.tiles.errors import TileError
from gribmill.tiles.format.meta import ECMWF_ATTRIBUTION, SkippedMessage, SourceFile, VariableText

T = TypeVar("T")

# Called with the number of fields done and the total.
FieldProgress = Callable[[int, int], None]
TWICE = (
    "{path} was just written from another file, and {file} would overwrite it: put both into one file "
    "(cat a.grib2 b.grib2 > both.grib2), or cut one of them with another --model or --out"
)
# Reasons to skip a wind: a grid-relative one must not be mistaken for an earth-relative one.
LONE_WIND = "it is relative to the grid, and without its other component it cannot be rotated"
SPREAD_OF_WIND = "it is a spread or probability relative to the grid, which cannot be rotated"


@dataclass(frozen=True, slots=True)
class FailedRegion:
    """A region whose tile could not be built; this does not affect other regions."""

    region: str
    error: GribmillError


@dataclass(frozen=True, slots=True)
class BuildResult:
    """The result for one GRIB file. `outside`: regions outside its grid; `empty`: regions without data."""

    tiles: tuple[BuiltTile, ...]
    failed: tuple[FailedRegion, ...] = ()
    outside: tuple[str, ...] = ()
    empty: tuple[str, ...] = ()
    skipped: tuple[SkippedMessage, ...] = ()
    # The names given to models that were not recognised.
    unrecognised: tuple[str, ...] = ()
    # Time that this thread spent decoding fields, and cutting, compressing and writing arrays.
    decode_seconds: float = 0.0
    encode_seconds: float = 0.0


@dataclass(slots=True)
class TileBuilder:
    """Cuts the fields of one file, with a writer for each region and step."""

    regions: tuple[Region, ...]
    data: StoredPath
    model: str | None
    wanted: frozenset[str] = frozenset()
    everything: bool = False
    hour: int | None = None
    split_members: bool = False
    pool: EncodePool = field(default_factory=EncodePool)
    writers: dict[tuple[Step, str], TileWriter] = field(default_factory=dict)
    failed: dict[str, GribmillError] = field(default_factory=dict)
    touched: set[str] = field(default_factory=set)
    models: dict[Step, str] = field(default_factory=dict)
    skipped: list[SkippedMessage] = field(default_factory=list)
    unrecognised: set[str] = field(default_factory=set)
    ecmwf: bool = False
    generation: int | None = None
    decode_seconds: float = 0.0
    encode_seconds: float = 0.0

    def add_fields(self, items: Sequence[Field], progress: FieldProgress | None = None) -> None:
        """Name all fields, then decode each wanted one once and cut it for all regions."""
        # Names that are not in the lexicon may belong to any field.
        everything = self.everything or any(is_array_name(name) for name in self.wanted)
        choice = FieldChoice(self.wanted, everything, plain=any(lexicon_name(item) for item in items))
        placed = place_fields(items, choice.may_want, self.model, split_members=self.split_members)
        steps = placed.steps
        self.skipped += placed.skipped
        self.unrecognised |= placed.unrecognised
        self.models |= model_ids(steps)
        names = name_fields(items, steps, choice)
        winds = WindPairs(items)
        chosen: dict[tuple[Step, str], Field] = {}
        for number, (step, named, item) in enumerate(zip(steps, names, items, strict=True), 1):
            if step is not None and named is not None and self._wants(named):
                chosen[step, named.name] = item
                self._add_field(step, named, item, winds)
                self.pool.next_field()
            if progress is not None:
                progress(number, len(items))
        for step, named, item in zip(steps, names, items, strict=True):
            if step is not None and named is None:
                self._note_duplicate(step, item, chosen)

    def finish(self, source: SourceFile, written: set[StoredPath], *, replace: bool = True) -> BuildResult:
        """Write all tiles, in parallel if the pool has several threads. A failing region does not stop the others.

        Unless `replace`, tiles that were cut from another source are kept.
        """
        began = time.perf_counter()
        if not replace:
            self._refuse_others(source, written)
        tiles = self._write_all(source, written)
        self.encode_seconds += time.perf_counter() - began
        # Without any field on a supported grid, nothing is known about the regions.
        regions = [region.name for region in self.regions] if self.models else []
        outside = tuple(name for name in regions if name not in self.touched and name not in self.failed)
        full = {tile.region for tile in tiles} | self.failed.keys() | set(outside)
        return BuildResult(
            tuple(tiles),
            tuple(FailedRegion(name, error) for name, error in self.failed.items()),
            outside,
            tuple(name for name in regions if name not in full),
            tuple(self._all_skipped()),
            tuple(sorted(self.unrecognised)),
            self.decode_seconds,
            self.encode_seconds,
        )

    def _write_all(self, source: SourceFile, written: set[StoredPath]) -> list[BuiltTile]:
        """Write the tiles of all regions that have not failed; adds them to `written`."""
        attribution = ECMWF_ATTRIBUTION if self.ecmwf else None
        pending = []
        for (_, region), writer in self.writers.items():
            if region in self.failed or not writer.encoded:
                continue
            writer.skipped = [*self.skipped, *writer.skipped]
            if writer.path in written:
                self.failed[region] = TileError(TWICE.format(path=writer.path, file=source.name))
                continue
            written.add(writer.path)
            pending.append((writer, self.pool.submit(partial(_attempt, writer, source, self.wanted, attribution))))
        tiles = []
        for writer, result in pending:
            made = result()
            if isinstance(made, BuiltTile):
                tiles.append(made)
            else:
                written.discard(writer.path)
                self.failed[writer.folder.region] = made
        return tiles

    def _refuse_others(self, source: SourceFile, written: set[StoredPath]) -> None:
        """Fail the regions with a tile from another source before any of their tiles is written."""
        for (_, region), writer in self.writers.items():
            if region not in self.failed and writer.encoded and writer.path not in written:
                try:
                    check_replaceable(writer.path, source, writer.identity, writer.cut.record)
                except TileError as error:
                    self.failed[region] = error

    def _wants(self, named: NamedField) -> bool:
        return not self.wanted or named.name in self.wanted

    def _add_field(self, step: Step, named: NamedField, item: Field, winds: WindPairs) -> None:
        writers = self._writers(step)
        if not writers:
            return
        self.ecmwf = self.ecmwf or item.keys.centre == ECMWF
        for writer in writers:
            writer.notes = writer.notes or list(item.grid_notes)
        cuts = [writer.cut for writer in writers]
        if not is_component(item.keys):
            self._cut(writers, named, item, lambda: FieldWindows.of(item, cuts, named.fill), None)
        elif not item.grid_relative_winds:
            self._cut(writers, named, item, lambda: FieldWindows.of(item, cuts), "earth")
        elif (component := self._decoded(lambda: winds.component(item, cuts))) is not None:
            self._cut(writers, named, item, lambda: component, "earth")
        elif self.everything:
            words = f"{named.long_name}, relative to the grid"
            along_grid = with_changes(named, name=f"{named.name}_grid", long_name=words, standard_name=None)
            self._cut(writers, along_grid, item, lambda: FieldWindows.of(item, cuts), "grid")
        else:
            reason = LONE_WIND if adds_up(item.keys) else SPREAD_OF_WIND
            for writer in writers:
                writer.skipped.append(skipped_message(named.name, item, reason))

    def _note_duplicate(self, step: Step, item: Field, chosen: dict[tuple[Step, str], Field]) -> None:
        """Record a message in `meta` whose name is taken by another one."""
        name = lexicon_name(item)
        before = chosen.get((step, name)) if name else None
        writers = self._writers(step)
        if name is None or before is None or not writers:
            return
        note = skipped_message(name, item, describe_duplicate(before, item))
        for writer in writers:
            writer.duplicates.append(note)

    def _cut(
        self,
        writers: Sequence[TileWriter],
        named: NamedField,
        item: Field,
        decode: Callable[[], FieldWindows | WindComponent],
        winds: Literal["earth", "grid"] | None,
    ) -> None:
        values = self._decoded(decode)
        began = time.perf_counter()
        kind, taken = named.kind, names_of(named, item.keys)
        # Most regions have the same metadata except for the statistics.
        texts: dict[tuple[str | None, int, str], VariableText] = {}
        for writer in writers:
            cut = writer.cut
            method = cut.method(kind)
            windowed = isinstance(values, FieldWindows)
            filled = values.filled.get(cut.window, 0) if isinstance(values, FieldWindows) else 0
            try:
                parts = values.cut(cut, kind)
                for suffix, part in parts.items():
                    text = texts.get((method, filled, suffix))
                    if text is None:
                        meta = variable_meta(named, item, winds, method, filled)
                        text = texts[method, filled, suffix] = VariableText(cell_statistic_meta(meta, suffix))
                    name = cell_name(named.name, suffix, several=len(parts) > 1)
                    writer.add(name, part, text, item.packing if windowed and cut.regridder is None else None)
                writer.taken |= taken
            except GribmillError as error:
                self.failed[writer.folder.region] = error
        self.encode_seconds += time.perf_counter() - began

    def _decoded(self, decode: Callable[[], T]) -> T:
        began = time.perf_counter()
        try:
            return decode()
        finally:
            self.decode_seconds += time.perf_counter() - began

    def _writers(self, step: Step) -> list[TileWriter]:
        """The writers of all regions that the step's grid covers, except failed ones."""
        found = []
        for region in self.regions:
            if region.name in self.failed:
                continue
            try:
                writer = self.writers.get((step, region.name)) or self._new_writer(step, region)
            except GribmillError as error:
                self.failed[region.name] = error
                continue
            if writer is not None:
                found.append(writer)
        return found

    def _new_writer(self, step: Step, region: Region) -> TileWriter | None:
        run, minutes, grid, _ = step
        cut = region_cut(grid, region)
        if cut is None:
            return None
        self.touched.add(region.name)
        folder = TileFolder(self.data, self.models[step], run, region.name)
        writer = TileWriter(folder, minutes, cut, region.encoding, self.hour, self.pool, generation=self.generation)
        self.writers[step, region.name] = writer
        return writer

    def _all_skipped(self) -> Iterable[SkippedMessage]:
        """Each skipped or duplicate message once, in the order of the file."""
        notes = [*self.skipped]
        for writer in self.writers.values():
            notes += [*writer.skipped, *writer.duplicates]
        return sorted(dict.fromkeys(notes), key=lambda note: (note.offset, note.field))


def _attempt(
    writer: TileWriter, source: SourceFile, wanted: frozenset[str], attribution: str | None
) -> BuiltTile | GribmillError:
    """The tile, or the error."""
    try:
        return writer.write(source, wanted, attribution)
    except GribmillError as error:
        return error
    except OSError as error:
        return TileError(f"{writer.path} cannot be written: {error.strerror or error}")
