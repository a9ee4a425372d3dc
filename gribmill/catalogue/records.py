"""The rows of the catalogue as typed values."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from gribmill.identity import RunRef
from gribmill.ingest.mirror import MirrorHealth

RunState = Literal["arriving", "complete", "given_up"]
HourState = Literal["published", "ingested", "built"]


@dataclass(frozen=True, slots=True)
class RunRecord:
    """A run that has been seen. `final` is False while its hours are still being discovered, or if a backfill
    requested only some of its hours; `hours` are then the requested ones.

    A complete run stays complete: `Catalogue.lacking` returns tiles that were requested later.
    """

    model_id: str
    run_id: str
    hours: tuple[int, ...]
    final: bool
    state: RunState
    first_seen_at: datetime | None = None

    @property
    def ref(self) -> RunRef:
        return RunRef(self.model_id, self.run_id)


@dataclass(frozen=True, slots=True)
class HourRecord:
    """One file of a run."""

    hour: int
    state: HourState
    published_at: datetime | None
    mirror: str | None
    size: int | None
    url: str | None
    etag: str | None
    bytes: int | None
    requested_bytes: int | None
    requests: int | None
    sha256: str | None
    found: tuple[str, ...]
    missing: tuple[str, ...]
    regions: tuple[str, ...]
    asked: tuple[str, ...]
    keep_grib: bool
    generation: int
    ingested_at: datetime | None
    built_at: datetime | None
    failed_at: datetime | None
    error: str | None

    @property
    def variables(self) -> tuple[str, ...]:
        """All variables that the download searched for."""
        return self.found + self.missing

    def covers(self, variables: Iterable[str]) -> bool:
        """Whether the download searched for all of these."""
        others = {*variables} - {*self.variables}
        if not others:
            return True
        from gribmill.grib.names.lexicon import lexicon  # late: `status` starts without it

        # A name from an earlier version counts as the names that replaced it.
        renamed = lexicon().renamed
        return others <= {name for old in self.variables for name in renamed.get(old, ())}

    def holds(self, variables: Iterable[str]) -> bool:
        """Whether it was downloaded with all of these variables that the file has."""
        return self.state != "published" and self.covers(variables)


@dataclass(frozen=True, slots=True)
class TileRecord:
    """One tile on disk. `variables` is empty if they were not recorded."""

    region: str
    hour: int
    bytes: int
    built_at: datetime | None
    generation: int
    variables: tuple[str, ...]
    lost_at: datetime | None
    """When its file was found missing or damaged; None if it is not known to be."""


@dataclass(frozen=True, slots=True)
class GivenUpWork:
    """Dead letters, with the model and the state of the hour that their arguments name; None if they name none."""

    type: str
    dead_lettered_at: datetime
    """Of the newest."""
    model_id: str | None
    hour_state: HourState | None
    n: int
    """How many; 1 for work that names no hour."""


@dataclass(frozen=True, slots=True)
class RegionBytes:
    """The size of the tiles of one region of a model."""

    model_id: str
    region: str
    runs: int
    tiles: int
    bytes: int


@dataclass(frozen=True, slots=True)
class WaitingHours:
    """How many hours wait for their tiles, and the size of their spool files."""

    hours: int
    bytes: int


@dataclass(frozen=True, slots=True)
class TileTotals:
    """The number and size of the tiles of a region of a model, over all runs."""

    model_id: str
    region: str
    tiles: int
    bytes: int


@dataclass(frozen=True, slots=True)
class MirrorRecord:
    """The recorded health of a mirror."""

    name: str
    failures: int
    last_error: str | None
    last_failed_at: datetime | None
    last_ok_at: datetime | None
    sick_until: datetime | None
    asked_until: datetime | None

    @property
    def health(self) -> MirrorHealth:
        return MirrorHealth(
            mirror=self.name,
            failures=self.failures,
            open_until=self.sick_until,
            last_reason=self.last_error or "",
            last_failure=self.last_failed_at,
            last_success=self.last_ok_at,
            asked_until=self.asked_until,
        )


@dataclass(frozen=True, slots=True)
class FreshnessRecord:
    """The freshness of a region of a model at the last check."""

    model_id: str
    region: str
    state: Literal["ok", "late", "stale"]
    cause: str | None
    since: datetime | None
    stale_at: datetime | None
    """When it became stale; None if it has not been since it was last ok."""


@dataclass(frozen=True, slots=True)
class OutageRecord:
    """The time since which no mirror of a family of models has responded."""

    family: str
    began_at: datetime | None
