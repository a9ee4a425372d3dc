"""Downloads the wanted messages of one hour, from the first mirror that delivers verifiable ones."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from gribmill.grib.errors import GribError
from gribmill.identity import run_id
from gribmill.ingest.available_hours import Published
from gribmill.ingest.download.download_plan import Downloaded, Limits
from gribmill.ingest.download.errors import (
    DiskFull,
    DownloadFailed,
    MirrorFailure,
    NothingWanted,
    Retryable,
    WrongFile,
    download_failure,
)
from gribmill.ingest.download.fetch import DownloadProgress
from gribmill.ingest.download.from_mirror import CheckMessages, ChoosePlaces, MirrorDownload
from gribmill.ingest.download.spool import SpoolBusy, is_locked, whole_path
from gribmill.ingest.download.verify_message import Expected
from gribmill.ingest.errors import (
    BadIndex,
    Broken,
    NoRanges,
    NotThere,
    PastEnd,
    RateLimited,
    SourceError,
    TooLarge,
    Untrusted,
)
from gribmill.ingest.http.client import SourceSession
from gribmill.ingest.index.select import Wanted
from gribmill.ingest.mirror import (
    TRIAL_EVERY,
    MirrorChoice,
    MirrorHealth,
    Observation,
    SourceUrls,
    choose_mirrors,
    observation_of,
)
from gribmill.ingest.models.model import Model
from gribmill.storage.atomic import is_no_space

BUSY_SECONDS = 10.0
log = logging.getLogger("gribmill.download")


def download(
    model: Model,
    run: datetime,
    hour: int,
    wanted: Sequence[Wanted],
    target: Path,
    *,
    session: SourceSession,
    health: Mapping[str, MirrorHealth] | None = None,
    known: Published | None = None,
    progress: DownloadProgress | None = None,
    check: CheckMessages | None = None,
    places: ChoosePlaces | None = None,
    limits: Limits | None = None,
    now: datetime | None = None,
    line_search: re.Pattern[str] | None = None,
) -> Downloaded:
    """Downloads the wanted messages of that hour to `target`, which appears only once it is complete and verified.

    `known` is the hour as listed by one mirror, which is tried first and saves a request. `progress` is called with the
    bytes stored and the total, from several threads but one at a time; an exception from it stops the download. `check`
    is called with the messages' headers before the file is renamed, and may reject it with WrongFile; then the next
    mirror is tried. `places` returns alternatives to `target`: the first one not taken by another file is used, and is
    the result's `path`. Verified messages stay beside the target after a failure or a crash, and are not fetched again.
    With `line_search`, the messages of all matching index lines are wanted instead, for any time in the file.

    Raises DownloadFailed if no mirror delivers the file.
    """
    limits = limits or Limits()
    source = MirrorDownload(
        session=session,
        model=model,
        hour=hour,
        wanted=tuple(wanted),
        target=target,
        expected=Expected(run, None if line_search else timedelta(minutes=hour * 60 + model.offset_minutes)),
        limits=limits,
        progress=progress,
        deadline=time.monotonic() + limits.seconds,
        check=check,
        places=places,
        search=line_search,
    )
    search = _Search(source, f"{model.id} {run_id(run)} hour {hour}", now or datetime.now(UTC))
    return search.first(model.urls(run, hour), health or {}, known)


def is_being_downloaded(target: Path) -> bool:
    """Whether another process, possibly a suspended one, is downloading this target."""
    return is_locked(target) or is_locked(whole_path(target))


class _Search:
    """Tries the mirrors in turn, and records the outcome of each."""

    def __init__(self, download: MirrorDownload, what: str, now: datetime) -> None:
        self.download, self.what, self.now = download, what, now
        self.reasons: list[MirrorFailure] = []
        self.observations: list[Observation] = []
        self.doubtful: list[SourceUrls] = []
        self.trial = False

    def first(
        self, urls: Sequence[SourceUrls], health: Mapping[str, MirrorHealth], known: Published | None
    ) -> Downloaded:
        """Downloads from the first mirror that delivers; raises DownloadFailed if none does."""
        what, target = self.what, self.download.target
        try:
            found = self._by_index(_chosen(urls, health, known, self.now), health, known) or self._by_headers()
        except SpoolBusy as error:
            raise self._counted(Retryable(f"{what}: {error}", [], self.observations, BUSY_SECONDS)) from None
        except OSError as error:
            if is_no_space(error):
                full = DiskFull(f"{what}: no space is left on the disk for {target}", [], self.observations)
                raise self._counted(full) from error
            reason = f"{what}: {target.parent} cannot be written: {error.strerror}"
            raise self._counted(Retryable(reason, [], self.observations)) from error
        if found is None:
            raise self._counted(download_failure(what, self.reasons, self.observations))
        return found

    def _counted(self, failure: DownloadFailed) -> DownloadFailed:
        """The failure, with the number of bytes received."""
        failure.received_bytes = self.download.traffic.received
        return failure

    def _by_index(
        self, choice: MirrorChoice, health: Mapping[str, MirrorHealth], known: Published | None
    ) -> Downloaded | None:
        """Downloads from the first mirror with a correct index."""
        self.trial = choice.trial
        for source, moment in choice.left_alone:
            state, left = health[source.mirror.name], (moment - self.now).total_seconds()
            reason = f"not tried for another {left:.0f} s after {state.failures} failures ({state.last_reason})"
            self.reasons.append(MirrorFailure(source.mirror.name, RateLimited(source.grib_url, reason, left)))
        for source in choice.usable:
            of_it = known if known is not None and known.grib_url == source.grib_url else None
            try:
                return self._succeeded(source, self.download.by_index(source, of_it))
            except (SourceError, BadIndex, GribError, NothingWanted, WrongFile) as error:
                if _is_of_index(error, source):
                    self.doubtful.append(source)
                self._failed(source, error)
        return None

    def _by_headers(self) -> Downloaded | None:
        """Downloads from the mirrors whose index cannot be used; hosts that limit requests come last."""
        for source in sorted(self.doubtful, key=lambda source: source.mirror.host.requests_per_minute is not None):
            try:
                return self._succeeded(source, self.download.by_headers(source))
            except (SourceError, GribError, NothingWanted, WrongFile) as error:
                self._failed(source, error)
        return None

    def _succeeded(self, source: SourceUrls, found: Downloaded) -> Downloaded:
        self.observations.append(observation_of(source.mirror.name, None, self.now))
        return replace(found, health_updates=tuple(self.observations))

    def _failed(self, source: SourceUrls, error: Exception) -> None:
        """A failed request counts against the mirror; a wrong file does not."""
        self.reasons = [reason for reason in self.reasons if reason.mirror != source.mirror.name]
        self.reasons.append(MirrorFailure(source.mirror.name, self._paced(source, error)))
        log.log(logging.DEBUG if isinstance(error, NotThere) else logging.WARNING, "%s: %s", source.mirror.name, error)
        fault = error if isinstance(error, SourceError) else None
        self.observations.append(observation_of(source.mirror.name, fault, self.now))

    def _paced(self, source: SourceUrls, error: Exception) -> Exception:
        """Turns the failed trial of an open mirror into a wait for the next trial, which does not use an attempt."""
        if self.trial and isinstance(error, Broken):
            return RateLimited(source.grib_url, error.reason, TRIAL_EVERY.total_seconds())
        return error


def _is_of_index(error: Exception, source: SourceUrls) -> bool:
    """Whether only the index is at fault, so that the file itself may be valid."""
    if isinstance(error, Untrusted) and error.url == source.index_url:
        return not isinstance(error, TooLarge)
    return isinstance(error, BadIndex | GribError | NoRanges | PastEnd)


def _chosen(
    urls: Sequence[SourceUrls], health: Mapping[str, MirrorHealth], known: Published | None, now: datetime
) -> MirrorChoice:
    """The mirror known to have the file first, then by preference; open mirrors are left out if others remain."""
    first = [source for source in urls if known is not None and source.grib_url == known.grib_url]
    return choose_mirrors([*first, *(source for source in urls if source not in first)], health, now)
