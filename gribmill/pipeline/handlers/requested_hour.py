"""What a job requests of one hour's file, from its arguments and the settings."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from gribmill.catalogue.events import Event, HoursRequested, RunSeen
from gribmill.catalogue.lost_tiles import lost_tiles
from gribmill.catalogue.records import HourRecord
from gribmill.grib.messages import MessageHeader, supported_grids
from gribmill.identity import HourRef
from gribmill.ingest.download.errors import WrongFile
from gribmill.ingest.models.model import Model
from gribmill.pipeline.context import Context
from gribmill.pipeline.job_arguments import IngestGribArgs
from gribmill.pipeline.tenant_regions import wanted_regions
from gribmill.regions.window import window


@dataclass(frozen=True)
class RequestedHour:
    """One file, with the requested regions and variables."""

    context: Context
    args: IngestGribArgs
    tenant: str | None = None
    """The tenant that requested it, if any."""

    @property
    def ref(self) -> HourRef:
        return self.args.hour_ref

    @property
    def model(self) -> Model:
        return self.context.model(self.args.model_id)

    @property
    def live(self) -> bool:
        """Whether it follows the settings rather than a backfill's request."""
        return self.args.regions is None

    @cached_property
    def regions(self) -> tuple[str, ...]:
        """The regions to cut. Computed once, because the settings may change while the job runs."""
        return self.args.regions or wanted_regions(self.context)

    @property
    def variables(self) -> tuple[str, ...]:
        return self.args.variables or self.model.variables

    @property
    def keep_grib(self) -> bool:
        return self.context.settings.chain.keep_grib if self.args.keep_grib is None else self.args.keep_grib

    def reached_by(self, messages: Iterable[MessageHeader]) -> list[str]:
        """The regions that the file's own grids reach. Fields on unsupported grids are listed in the tile's meta."""
        grids = supported_grids(messages)
        return [name for name in self.regions if any(window(grid, self.context.region(name).box) for grid in grids)]

    def check_reach(self, reached: Iterable[str]) -> None:
        """Raise if the file misses a region that the model's grid reaches: it is on a wrong grid."""
        missed = {*self.context.promised_of(self.model, self.regions)} - {*reached}
        if missed:
            names = ", ".join(sorted(missed))
            grid = f"the grid of {self.model.id} ({self.model.grid})"
            raise WrongFile(f"the file's grid does not reach {names}, which {grid} does")

    def missing_tiles(self, known: HourRecord) -> set[str]:
        """The regions whose tile of this hour is missing or lost, except those that the file does not reach."""
        tiles = self.context.catalogue.tiles(self.ref.run)
        built = {tile.region for tile in tiles if tile.hour == self.ref.hour}
        reached = self.context.regions_of(self.model, self.regions)
        wanted = {*(name for name in reached if name not in known.asked), *known.regions}
        return wanted - (built - {*self.lost_tiles()})

    def lost_tiles(self) -> tuple[str, ...]:
        """The regions whose tile of this hour was built and is now missing or damaged."""
        ref = self.ref
        return lost_tiles(self.context.root, self.context.catalogue, ref.run, ref.hour).get(ref.hour, ())

    def run_seen(self) -> list[Event]:
        """The run of a file that no scan has seen; a backfill requests only some of its hours."""
        run = self.ref.run.time
        if self.model.discovers(run):
            return []
        hours = self.model.hours(run)
        if self.live:
            return [RunSeen(self.ref.run, hours)]
        return [HoursRequested(self.ref.run, (self.ref.hour,), len(hours))]
