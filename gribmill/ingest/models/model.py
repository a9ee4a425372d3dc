"""A model: where its runs are published, which hours they have, and when they appear."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from itertools import pairwise

from gribmill.identity import run_id, whole_hour
from gribmill.ingest.errors import ModelError
from gribmill.ingest.mirror import IndexKind, Mirror, SourceUrls

HOUR = timedelta(hours=1)
# An overdue run is scanned less often by this factor.
LATE_PACE = 15
# Placeholders: the run's date and hour, and the forecast hour with two, three or as many digits as needed.
_PLACEHOLDERS = {
    "Ymd": r"[0-9]{8}",
    "HH": r"[0-9]{2}",
    "ff": r"[0-9]{2}",
    "fff": r"[0-9]{3}",
    "f": r"(?:0|[1-9][0-9]{0,3})",
}
# The forms of the hour, and the largest hour of each.
_HOUR_FORMS = {"ff": 99, "fff": 999, "f": 9999}
# Replaced when a model is loaded, from its list of members.
MEMBER = "{member}"
_PIECE = re.compile(r"\{([A-Za-z]+)\}")
_LITERAL = re.compile(r"[A-Za-z0-9._/-]*")


@dataclass(frozen=True, slots=True)
class Model:
    """One model or ensemble member, as described by its TOML file. Runs are aware UTC datetimes on the hour."""

    id: str
    family: str
    title: str
    grid: str | None
    licence: str
    attribution: str
    variables: tuple[str, ...]
    mirrors: tuple[Mirror, ...]
    layouts: tuple[KeyLayout, ...]
    schedules: tuple[CycleHours, ...]
    latencies: tuple[PublishTimes, ...]
    extras: tuple[str, ...] = ("",)
    offset_minutes: int = 0
    begins: datetime | None = None
    ends: datetime | None = None
    sample: str | None = None
    sns_topic: str | None = None
    scan_seconds: int = 60
    give_up_hours: int = 24
    stale_hours: int = 3

    def hours(self, run: datetime) -> tuple[int, ...]:
        """The hours of a run in order; empty if there is no such run. See `discovers`."""
        schedule = self._schedule(whole_hour(run))
        if schedule is None or not any(layout.fits(run) for layout in self.layouts):
            return ()
        return schedule.hours

    def discovers(self, run: datetime) -> bool:
        """Whether only the listing shows which hours the run has; `hours` are then the possible ones."""
        schedule = self._schedule(whole_hour(run))
        return schedule is not None and schedule.discover

    def urls(self, run: datetime, hour: int) -> list[SourceUrls]:
        """Where that hour can be fetched, best mirror first. Raises ModelError if there is no such hour."""
        if hour not in self.hours(run):
            raise ModelError(f"{self.id} has no hour {hour} in its run {run_id(run)}")
        found = []
        for mirror in self.mirrors:
            layout = self._layout(run, mirror)
            if layout is not None and mirror.has(run):
                key = layout.template.fill(run, hour)
                index = layout.index_key(key)
                index_url = mirror.root + index if index else None
                found.append(SourceUrls(mirror, mirror.root + key, index_url, layout.index))
        return found

    def list_prefix(self, run: datetime, mirror: Mirror) -> str | None:
        """The common prefix of the run's keys on that mirror; None if the mirror does not keep the run."""
        layout = self._layout(run, mirror)
        return layout.template.prefix(run) if layout is not None and mirror.has(run) else None

    def parse_key(self, key: str) -> tuple[datetime, int] | None:
        """The run and hour of a GRIB file's key; None for any other key."""
        for layout in self.layouts:
            found = layout.template.read(key)
            if found and self._first(layout, found[0]) and found[1] in self.hours(found[0]):
                return found
        return None

    def parse_index_key(self, key: str) -> tuple[datetime, int] | None:
        """The run and hour of an index file's key; None for any other key."""
        grib_keys = {key.removesuffix(".idx"), key.removesuffix(".index") + ".grib2"} - {key}
        for grib_key in grib_keys:
            found = self.parse_key(grib_key)
            if found and any(layout.fits(found[0]) and layout.index_key(grib_key) == key for layout in self.layouts):
                return found
        return None

    def runs(self, now: datetime, back: timedelta = timedelta(days=2)) -> list[datetime]:
        """The runs that started within `back` before `now`, newest first."""
        run = now.astimezone(UTC).replace(minute=0, second=0, microsecond=0)
        found = []
        while run > now - back:
            if self.hours(run):
                found.append(run)
            run -= HOUR
        return found

    def expected_at(self, run: datetime, hour: int, mirror: Mirror | None = None) -> Arrival:
        """When that hour is usually published (on the given mirror, or the best one), and when it is late."""
        name = (mirror or self.mirrors[0]).name
        fitting = [row for row in self.latencies if row.cycles is None or run.hour in row.cycles]
        for row in sorted(fitting, key=lambda row: (row.mirror != name, row.mirror is not None)):
            return row.arrival(whole_hour(run), hour)
        return Arrival(run, run + timedelta(hours=self.give_up_hours))

    def gives_up_at(self, run: datetime) -> datetime:
        """When hours that are still missing are given up."""
        last = max((self.expected_at(run, hour).late for hour in self.hours(run)[-1:]), default=run)
        return max(last, run + timedelta(hours=self.give_up_hours))

    def next_scan_at(self, now: datetime, whole: Collection[datetime] | None = None) -> datetime | None:
        """When to scan next: soon while a run is arriving, else when the next one is due; None if no run is expected.

        `whole` are runs that need no further scans. If it is given, late runs are scanned until they are given up.
        """
        pace = timedelta(seconds=self.scan_seconds)
        moments = []
        for run in self.runs(now + timedelta(days=1), back=timedelta(days=1, hours=self.give_up_hours)):
            if whole is not None and run in whole:
                continue
            hours = self.hours(run)
            begins, ends = self.expected_at(run, hours[0]).usual, self.expected_at(run, hours[-1]).late
            if begins > now:
                moments.append(begins)
            elif now <= ends:
                moments.append(now + pace)
            elif whole is not None and now < self.gives_up_at(run):
                moments.append(now + pace * LATE_PACE)
        return min(moments, default=None)

    def _schedule(self, run: datetime) -> CycleHours | None:
        if not _within(run, self.begins, self.ends):
            return None
        return next((row for row in self.schedules if row.fits(run)), None)

    def _layout(self, run: datetime, mirror: Mirror) -> KeyLayout | None:
        fitting = (layout for layout in self.layouts if layout.mirrors is None or mirror.name in layout.mirrors)
        return next((layout for layout in fitting if layout.fits(run)), None)

    def _first(self, layout: KeyLayout, run: datetime) -> bool:
        """Whether some mirror uses that layout for that run."""
        return any(self._layout(run, mirror) is layout for mirror in self.mirrors if mirror.has(run))


@dataclass(frozen=True, slots=True)
class KeyLayout:
    """How keys are formed for runs in certain periods, cycles or on certain mirrors."""

    template: KeyTemplate
    index: IndexKind
    begins: datetime | None = None
    ends: datetime | None = None
    cycles: tuple[int, ...] | None = None
    mirrors: tuple[str, ...] | None = None

    def fits(self, run: datetime) -> bool:
        """Whether it applies to that run."""
        return _within(run, self.begins, self.ends) and (self.cycles is None or run.hour in self.cycles)

    def index_key(self, key: str) -> str | None:
        """The key of a file's index; None if the files have no index."""
        if self.index == "noaa_idx":
            return f"{key}.idx"
        return key.removesuffix(".grib2") + ".index" if self.index == "ecmwf_index" else None


@dataclass(frozen=True, slots=True)
class CycleHours:
    """The hours of certain cycles and periods; with `discover`, a run may lack some of them."""

    cycles: tuple[int, ...]
    hours: tuple[int, ...]
    begins: datetime | None = None
    ends: datetime | None = None
    discover: bool = False

    def fits(self, run: datetime) -> bool:
        """Whether it applies to that run."""
        return _within(run, self.begins, self.ends) and run.hour in self.cycles


def _within(run: datetime, begins: datetime | None, ends: datetime | None) -> bool:
    return (begins is None or run >= begins) and (ends is None or run < ends)


@dataclass(frozen=True, slots=True)
class KeyTemplate:
    """A key such as `hrrr.{Ymd}/conus/hrrr.t{HH}z.wrfsfcf{ff}.grib2`."""

    text: str

    def __post_init__(self) -> None:
        names = _PIECE.findall(self.text)
        plain = _PIECE.sub("", self.text)
        unknown = [name for name in names if name not in _PLACEHOLDERS]
        if unknown:
            known = ", ".join(f"{{{name}}}" for name in _PLACEHOLDERS)
            raise ModelError(f"{self.text}: unknown placeholder {{{unknown[0]}}}; use {known}")
        if not _LITERAL.fullmatch(plain):
            raise ModelError(f"{self.text}: a key has only letters, digits and . _ / - besides its placeholders")
        if self.text.startswith("/") or any(part in ("", ".", "..") for part in self.text.split("/")):
            raise ModelError(f"{self.text}: a key is a path below the mirror's root, without . or ..")
        hours = {name for name in names if name in _HOUR_FORMS}
        if not {"Ymd", "HH"} <= set(names) or len(hours) != 1:
            raise ModelError(f"{self.text}: a key needs the run ({{Ymd}}, {{HH}}) and one form of the hour")

    def fill(self, run: datetime, hour: int) -> str:
        """The key of one hour of a run."""
        values = self._values(run) | {"ff": f"{hour:02d}", "fff": f"{hour:03d}", "f": str(hour)}
        if not 0 <= hour <= min(most for name, most in _HOUR_FORMS.items() if f"{{{name}}}" in self.text):
            raise ModelError(f"{self.text} has too few digits for hour {hour}")
        return _PIECE.sub(lambda piece: values[piece[1]], self.text)

    def prefix(self, run: datetime) -> str:
        """The common prefix of the keys of all hours of a run."""
        values = self._values(run)
        first = min(self.text.index(f"{{{name}}}") for name in _HOUR_FORMS if f"{{{name}}}" in self.text)
        return _PIECE.sub(lambda piece: values[piece[1]], self.text[:first])

    def read(self, key: str) -> tuple[datetime, int] | None:
        """The run and hour in a key; None if the key does not match."""
        found = _pattern(self.text).fullmatch(key)
        if not found:
            return None
        values = found.groupdict()
        try:
            day = values["Ymd"]
            run = datetime(int(day[:4]), int(day[4:6]), int(day[6:]), int(values["HH"]), tzinfo=UTC)
        except ValueError:
            return None
        return run, int(next(values[name] for name in _HOUR_FORMS if name in values))

    @staticmethod
    def _values(run: datetime) -> dict[str, str]:
        moment = whole_hour(run)
        return {"Ymd": f"{moment:%Y%m%d}", "HH": f"{moment:%H}"}


@lru_cache(maxsize=1024)
def _pattern(text: str) -> re.Pattern[str]:
    """The regular expression of a template. A repeated placeholder must have the same digits each time."""
    parts: list[str] = []
    seen: set[str] = set()
    for place, piece in enumerate(_PIECE.split(text)):
        if place % 2 == 0:
            parts.append(re.escape(piece))
        elif piece in seen:
            parts.append(f"(?P={piece})")
        else:
            seen.add(piece)
            parts.append(f"(?P<{piece}>{_PLACEHOLDERS[piece]})")
    return re.compile("".join(parts))


@dataclass(frozen=True, slots=True)
class PublishTime:
    """Minutes after the run's start when an hour usually arrives (the median), and when it counts as late."""

    hour: int
    usual: float
    late: float


@dataclass(frozen=True, slots=True)
class Arrival:
    """When an hour usually arrives, and when it becomes late."""

    usual: datetime
    late: datetime


@dataclass(frozen=True, slots=True)
class PublishTimes:
    """Publishing times for some cycles, on one mirror or any; hours in between are interpolated linearly."""

    points: tuple[PublishTime, ...]
    cycles: tuple[int, ...] | None = None
    mirror: str | None = None
    measured: bool = False

    def arrival(self, run: datetime, hour: int) -> Arrival:
        """When that hour of the run can be expected."""
        usual = _between(hour, [(point.hour, point.usual) for point in self.points])
        late = _between(hour, [(point.hour, point.late) for point in self.points])
        return Arrival(run + timedelta(minutes=usual), run + timedelta(minutes=late))


def _between(hour: int, points: Sequence[tuple[int, float]]) -> float:
    """Interpolates linearly; constant before the first and after the last point."""
    if hour <= points[0][0]:
        return points[0][1]
    for (before, low), (after, high) in pairwise(points):
        if hour <= after:
            return low + (high - low) * (hour - before) / (after - before)
    return points[-1][1]
