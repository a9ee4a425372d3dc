"""The work on one file: each field is decoded once and cut for all regions while it is hot."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from gribmill.errors import GribmillError
from gribmill.grib.decode.field import Field
from gribmill.grib.decode.winds import adds_up, is_component
from gribmill.grib.errors import GribError
from gribmill.grib.guess_model import model_of
from gribmill.grib.names.array_name import array_name
from gribmill.grib.product.keys import ECMWF
from gribmill.identity import run_id
from gribmill.regions.region import Region
from gribmill.storage.layout import TileFolder
from gribmill.tiles.build.choose_names import Choice, Named, lexicon_name, name_fields
from gribmill.tiles.build.encode_pool import Press
from gribmill.tiles.build.field_metadata import cell_name, comparison, facts_of, of_cell, skip
from gribmill.tiles.build.region_cut import Cutter, cutter
from gribmill.tiles.build.rotate_winds import Component, Parts, Winds
from gribmill.tiles.build.tile_writer import Built, Draft
from gribmill.tiles.errors import TileError
from gribmill.tiles.format.meta import ECMWF_ATTRIBUTION, Quantity, Skipped, Source

if TYPE_CHECKING:
    from gribmill.regions.grids import Grid

# (run, minutes since the run, grid): the fields that share a tile.
Step = tuple[str, int, "Grid"]
# Called with how many of how many fields are done.
Progress = Callable[[int, int], None]
TWICE = (
    "{path} was just written from another file, and {file} would overwrite it: put both into one file "
    "(cat a.grib2 b.grib2 > both.grib2), or cut one of them with another --model or --out"
)
# Such a field must not pass for an earth-relative one.
LONE_WIND = "it is along the grid's axes, and without its other component it cannot be turned to the earth's"
CHANCE_OF_WIND = "it is a spread or a chance along the grid's axes, which cannot be turned to the earth's"


@dataclass(frozen=True, slots=True)
class Failed:
    """A region whose tile could not be made; the others go on."""

    region: str
    error: GribmillError


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one GRIB file. `outside`: regions that its grid does not touch; `empty`: that got nothing."""

    tiles: tuple[Built, ...]
    failed: tuple[Failed, ...] = ()
    outside: tuple[str, ...] = ()
    empty: tuple[str, ...] = ()
    skipped: tuple[Skipped, ...] = ()


@dataclass(slots=True)
class Mill:
    """The work on one file: takes fields in, keeps a draft for every region and step."""

    regions: tuple[Region, ...]
    data: Path
    model: str | None
    wanted: frozenset[str] = frozenset()
    everything: bool = False
    hour: int | None = None
    press: Press = field(default_factory=Press)
    drafts: dict[tuple[Step, str], Draft] = field(default_factory=dict)
    failed: dict[str, GribmillError] = field(default_factory=dict)
    touched: set[str] = field(default_factory=set)
    models: dict[Step, str] = field(default_factory=dict)
    skipped: list[Skipped] = field(default_factory=list)
    ecmwf: bool = False

    def grind(self, items: Sequence[Field], progress: Progress | None = None) -> None:
        """Name every field, then decode each wanted one once and cut it for every region while it is hot."""
        choice = Choice(self.wanted, self.everything, plain=any(lexicon_name(item) for item in items))
        steps = [self._step(item) if choice.may_want(item) else None for item in items]
        names = name_fields(items, steps, choice)
        self._name_models(items, steps)
        winds = Winds(items)
        chosen: dict[tuple[Step, str], Field] = {}
        for number, (step, named, item) in enumerate(zip(steps, names, items, strict=True), 1):
            if step is not None and named is not None and self._wants(named):
                chosen[step, named.name] = item
                self._take(step, named, item, winds)
                self.press.next_field()
            if progress is not None:
                progress(number, len(items))
        for step, named, item in zip(steps, names, items, strict=True):
            if step is not None and named is None:
                self._note_duplicate(step, item, chosen)

    def finish(self, source: Source, written: set[Path]) -> Outcome:
        """Write every tile, as many at once as the press has threads. A region that fails does not stop the others."""
        attribution = ECMWF_ATTRIBUTION if self.ecmwf else None
        pending = []
        for (_, region), draft in self.drafts.items():
            if region in self.failed or not draft.encoded:
                continue
            draft.skipped = [*self.skipped, *draft.skipped]
            if draft.path in written:
                self.failed[region] = TileError(TWICE.format(path=draft.path, file=source.name))
                continue
            written.add(draft.path)
            pending.append((draft, self.press.give(partial(_attempt, draft, source, self.wanted, attribution))))
        tiles = []
        for draft, result in pending:
            made = result()
            if isinstance(made, Built):
                tiles.append(made)
            else:
                written.discard(draft.path)
                self.failed[draft.folder.region] = made
        # Where no field could be placed, nothing is known of what lies where.
        regions = [region.name for region in self.regions] if self.models else []
        outside = tuple(name for name in regions if name not in self.touched)
        failed = tuple(Failed(name, error) for name, error in self.failed.items())
        full = {tile.region for tile in tiles} | self.failed.keys() | set(outside)
        empty = tuple(name for name in regions if name not in full)
        return Outcome(tuple(tiles), failed, outside, empty, tuple(self._all_skipped()))

    def _wants(self, named: Named) -> bool:
        return not self.wanted or named.name in self.wanted

    def _step(self, item: Field) -> Step | None:
        """Which tile the field belongs to; what cannot be placed is noted as skipped."""
        name = array_name(item.keys)
        end = item.keys.end
        minutes = -1 if end is None or item.keys.valid is None else int(end.total_seconds() // 60)
        if minutes < 0:
            self.skipped.append(skip(name, item, "its forecast time cannot be told"))
            return None
        try:
            return run_id(item.keys.reference), minutes, item.grid
        except GribError as error:
            # Without the path: a tile's bytes must not tell in which folder its GRIB lay.
            place = f"{item.source}: message {item.label} at byte {item.offset}: "
            self.skipped.append(skip(name, item, str(error).removeprefix(place)))
            return None

    def _name_models(self, items: Sequence[Field], steps: Sequence[Step | None]) -> None:
        """Fields on a second grid at the same moment get a model name of their own (`gfs-g2`)."""
        grids: dict[tuple[str, int], list[Grid]] = {}
        for item, step in zip(items, steps, strict=True):
            if step is None or step in self.models:
                continue
            run, minutes, grid = step
            known = grids.setdefault((run, minutes), [])
            known.append(grid)
            model = self.model or model_of(item.keys, grid)
            self.models[step] = model if len(known) == 1 else f"{model}-g{len(known)}"

    def _take(self, step: Step, named: Named, item: Field, winds: Winds) -> None:
        drafts = self._drafts(step)
        if not drafts:
            return
        self.ecmwf = self.ecmwf or item.keys.centre == ECMWF
        knives = [knife for knife, _ in drafts]
        if not is_component(item.keys):
            self._cut(drafts, named, item, Parts.of(item, knives), None)
        elif not item.grid_relative_winds:
            self._cut(drafts, named, item, Parts.of(item, knives), "earth")
        elif (component := winds.component(item, knives)) is not None:
            self._cut(drafts, named, item, component, "earth")
        elif self.everything:
            words = f"{named.long_name}, along the grid's axes and not turned"
            along_grid = replace(named, name=f"{named.name}_grid", long_name=words, standard_name=None)
            self._cut(drafts, along_grid, item, Parts.of(item, knives), "grid")
        else:
            reason = LONE_WIND if adds_up(item.keys) else CHANCE_OF_WIND
            for _, draft in drafts:
                draft.skipped.append(skip(named.name, item, reason))

    def _note_duplicate(self, step: Step, item: Field, chosen: dict[tuple[Step, str], Field]) -> None:
        """Tell in `meta` which further messages claim a name that another one has."""
        name = lexicon_name(item)
        before = chosen.get((step, name)) if name else None
        drafts = self._drafts(step)
        if name is None or before is None or not drafts:
            return
        note = skip(name, item, comparison(before, item))
        for _, draft in drafts:
            draft.duplicates.append(note)

    def _cut(
        self,
        drafts: Sequence[tuple[Cutter, Draft]],
        named: Named,
        item: Field,
        values: Parts | Component,
        winds: Literal["earth", "grid"] | None,
    ) -> None:
        by_method: dict[str | None, Quantity] = {}
        for knife, draft in drafts:
            method = knife.method(angle=named.angle)
            facts = by_method.get(method) or by_method.setdefault(method, facts_of(named, item, winds, method))
            own = isinstance(values, Parts) and knife.regridder is None
            try:
                parts = values.cut(knife, angle=named.angle)
                for suffix, part in parts.items():
                    name = cell_name(named.name, suffix, several=len(parts) > 1)
                    draft.add(name, part, of_cell(facts, suffix), item.packing if own else None)
                draft.taken.add(named.name)
            except GribmillError as error:
                self.failed[draft.folder.region] = error

    def _drafts(self, step: Step) -> list[tuple[Cutter, Draft]]:
        """The draft of every region that the step's grid touches and that has not failed."""
        found = []
        run, minutes, grid = step
        for region in self.regions:
            if region.name in self.failed:
                continue
            try:
                knife = cutter(grid, region)
            except GribmillError as error:
                self.failed[region.name] = error
                continue
            if knife is None:
                continue
            self.touched.add(region.name)
            if (step, region.name) not in self.drafts:
                folder = TileFolder(self.data, self.models[step], run, region.name)
                self.drafts[step, region.name] = Draft(folder, minutes, knife, region.encoding, self.hour, self.press)
            found.append((knife, self.drafts[step, region.name]))
        return found

    def _all_skipped(self) -> Iterable[Skipped]:
        """Each skipped or duplicate message once, in the order of the file."""
        notes = [*self.skipped]
        for draft in self.drafts.values():
            notes += [*draft.skipped, *draft.duplicates]
        return sorted(dict.fromkeys(notes), key=lambda note: (note.offset, note.field))


def _attempt(draft: Draft, source: Source, wanted: frozenset[str], attribution: str | None) -> Built | GribmillError:
    """The tile, or why it could not be written."""
    try:
        return draft.write(source, wanted, attribution)
    except GribmillError as error:
        return error
    except OSError as error:
        return TileError(f"{draft.path} cannot be written: {error.strerror or error}")
