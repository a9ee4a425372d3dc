"""Downloads a file from one mirror."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from gribmill.grib.errors import GribError, damaged
from gribmill.grib.messages import MessageHeader
from gribmill.grib.sections import INDICATOR_BYTES
from gribmill.ingest.available_hours import Published
from gribmill.ingest.download.download_plan import Downloaded, DownloadPlan, Limits, Way, plan_by_index
from gribmill.ingest.download.errors import NothingWanted, WrongFile
from gribmill.ingest.download.fetch import DownloadProgress, Fetcher, Traffic
from gribmill.ingest.download.spool import Spool
from gribmill.ingest.download.verify_message import Expected, member_of, verify_beginning
from gribmill.ingest.download.without_index import RangeReader, fetch_whole, plan_by_headers, scan_headers
from gribmill.ingest.errors import BadIndex, Changed, NoRanges, NotThere, TooLarge, Untrusted
from gribmill.ingest.http.client import SourceSession, is_local
from gribmill.ingest.http.deadline import until
from gribmill.ingest.http.response import ObjectHead
from gribmill.ingest.index.entry import Inventory
from gribmill.ingest.index.parse import parse_index
from gribmill.ingest.index.search import select_lines
from gribmill.ingest.index.select import Selection, Wanted, select
from gribmill.ingest.mirror import Host, SourceUrls
from gribmill.ingest.models.model import Model

# Attempts to download an object that is replaced meanwhile, before the mirror is given up.
MOST_STARTS = 3
# Reading the headers takes one small request per message, of which the longest files have about 750.
WALK_SECONDS = 300.0
# Called with the headers of a file before it is renamed; may reject it with WrongFile.
CheckMessages = Callable[[Sequence[MessageHeader]], None]
# Called with a complete download; returns where the file may be stored, best place first.
ChoosePlaces = Callable[[Downloaded], Iterable[Path]]


@dataclass(frozen=True, slots=True)
class MirrorDownload:
    """A download with its limits, to be tried on one mirror after another."""

    session: SourceSession
    model: Model
    hour: int
    wanted: tuple[Wanted, ...]
    target: Path
    expected: Expected
    limits: Limits
    progress: DownloadProgress | None
    deadline: float
    check: CheckMessages | None = None
    places: ChoosePlaces | None = None
    search: re.Pattern[str] | None = None
    traffic: Traffic = field(default_factory=Traffic)

    def by_index(self, source: SourceUrls, known: Published | None) -> Downloaded:
        """Downloads by the index, or by the headers if the model's files have no index."""
        if source.index_url is None:
            return self.by_headers(source)
        # Without an ETag, a listing does not identify the object: its times are rounded.
        seen = known is not None and known.size and known.etag
        listed = ObjectHead(source.grib_url, known.size, known.etag) if known and seen else None
        return self._again_if_changed(lambda fresh: self._once_by_index(source, None if fresh else listed), listed)

    def by_headers(self, source: SourceUrls) -> Downloaded:
        """Downloads by the file's headers, read with small requests or from the whole file."""
        return self._again_if_changed(lambda fresh: self._once_by_headers(source), None)

    def _again_if_changed(self, once: Callable[[bool], Downloaded], listed: ObjectHead | None) -> Downloaded:
        """Starts again if the object is replaced, or without the listing's data if those may be outdated."""
        for start in range(MOST_STARTS):
            try:
                with until(self.deadline):
                    return once(start > 0)
            except Changed:
                if start == MOST_STARTS - 1:
                    raise
            except (BadIndex, GribError, Untrusted):
                if listed is None or start > 0:
                    raise
        raise AssertionError("the last start returns or raises")

    def _once_by_index(self, source: SourceUrls, listed: ObjectHead | None) -> Downloaded:
        assert source.index_url is not None
        try:
            index = self._index(source.index_url, source)
        except NotThere:
            # A user's own folder may contain GRIB files without an index.
            if is_local(source.grib_url):
                return self._once_by_headers(source)
            raise
        head = listed or self._head(source)
        inventory = parse_index(source.index_kind, index, source.index_url, self.expected.run, head.size)
        chosen = self._select(inventory)
        if chosen.missing or self.search:
            self._check_covers(inventory, source, head, known=inventory.entries[-1] in chosen.entries)
        return self._fetch(source, plan_by_index(inventory, chosen, self.wanted, head, index))

    def _select(self, inventory: Inventory) -> Selection:
        if self.search is None:
            minutes = self.model.offset_minutes
            return select(inventory, self.wanted, self.hour, extras=self.model.extras, offset_minutes=minutes)
        chosen = select_lines(inventory, self.search, self.model.extras)
        if not chosen.entries:
            raise NothingWanted(f"no line of {inventory.source} matches {self.search.pattern[:80]!r}")
        return chosen

    def _once_by_headers(self, source: SourceUrls) -> Downloaded:
        if self.search is not None:
            raise NothingWanted(f"{source.grib_url}: it has no usable index to search; name variables instead")
        head = self._head(source)
        if is_local(head.url):
            return self._fetch(source, self._planned(source.mirror.host, head, self.traffic, "walk"))
        counted = source.mirror.host.requests_per_minute is not None
        named = bool(self.wanted) and all(want.parameters for want in self.wanted)
        # Most of a file that has no index by design is usually wanted: one long request instead of many.
        if head.size and source.index_url is not None and named and not counted:
            try:
                return self._fetch(source, self._planned(source.mirror.host, head, self.traffic, "walk"))
            except NoRanges:
                return self._whole(source, head)  # the host sends only whole files
        return self._whole(source, head)

    def _whole(self, source: SourceUrls, head: ObjectHead) -> Downloaded:
        """Fetches the whole file first, and then reads it as a local file."""
        host, copied = source.mirror.host, Traffic()
        path = fetch_whole(
            self.session, host, head, self.target,
            limits=self.limits, traffic=self.traffic, progress=self.progress, deadline=self.deadline,
        )  # fmt: skip
        try:
            here = self.session.head(path.absolute().as_uri(), host)
            plan = self._planned(host, here, copied, "whole")
            quiet = replace(self, progress=None, traffic=copied)
            found = quiet._fetch(source, plan)
        finally:
            path.unlink(missing_ok=True)
        traffic = self.traffic
        return replace(found, requests=traffic.requests, requested_bytes=traffic.received, url=head.url, etag=head.etag)

    def _planned(self, host: Host, head: ObjectHead, traffic: Traffic, way: Way) -> DownloadPlan:
        reader = RangeReader(self.session, host, head, traffic)
        most = self.limits.local_messages if is_local(head.url) else self.limits.walked_messages
        headers = scan_headers(reader, head.url, most)
        with until(time.monotonic() + WALK_SECONDS):
            return plan_by_headers(headers, head, self.wanted, self.expected, member_of(self.model.extras), way)

    def _fetch(self, source: SourceUrls, plan: DownloadPlan) -> Downloaded:
        if not plan.pieces:
            raise NothingWanted(f"{plan.head.url}: it holds nothing that is wanted for this run and hour")
        if plan.total > self.limits.spool_bytes:
            raise TooLarge(plan.head.url, f"{plan.total} bytes are wanted, the limit is {self.limits.spool_bytes}")
        with Spool(self.target) as spool:
            fetcher = Fetcher(
                self.session, source.mirror.host, plan, spool, self.expected,
                limits=self.limits, traffic=self.traffic, progress=self.progress, deadline=self.deadline,
            )  # fmt: skip
            fetcher.run()
            headers = fetcher.all_headers()
            self._check(spool, headers)
            got = self._downloaded(source, plan, spool.sha256(), headers)
            return replace(got, path=spool.finish(self.places(got) if self.places else None))

    def _downloaded(
        self, source: SourceUrls, plan: DownloadPlan, sha256: str, headers: tuple[MessageHeader, ...]
    ) -> Downloaded:
        return Downloaded(
            path=self.target,
            bytes=plan.total,
            requested_bytes=self.traffic.received,
            requests=self.traffic.requests,
            sha256=sha256,
            url=plan.head.url,
            etag=plan.head.etag,
            source_size=plan.head.size,
            mirror=source.mirror.name,
            way=plan.way,
            found=plan.found,
            missing=plan.missing,
            messages=headers,
        )

    def _check(self, spool: Spool, headers: Sequence[MessageHeader]) -> None:
        try:
            if self.check:
                self.check(headers)
        except WrongFile:
            spool.discard()
            raise

    def _head(self, source: SourceUrls) -> ObjectHead:
        self.traffic.requests += 1
        return self.session.head(source.grib_url, source.mirror.host)

    def _index(self, url: str, source: SourceUrls) -> bytes:
        self.traffic.requests += 1
        data = self.session.get(url, source.mirror.host, limit_bytes=self.limits.index_bytes).data
        self.traffic.received += len(data)
        if data.lstrip()[:1] == b"<":
            raise Untrusted(url, "the response is a web page or an error message, not the index")
        return data

    def _check_covers(self, inventory: Inventory, source: SourceUrls, head: ObjectHead, *, known: bool) -> None:
        """Raises an error unless the index covers the whole file: a truncated index may lack wanted messages.

        `known`: the last message will be verified anyway.
        """
        last = inventory.entries[-1]
        if head.size is None:
            return
        if last.end is not None and last.end != head.size:
            raise BadIndex(inventory.source, None, f"it ends at byte {last.end}, but the file has {head.size} bytes")
        if known:
            return
        self.traffic.requests += 1
        end = min(last.offset + INDICATOR_BYTES, head.size)
        first = self.session.read_range(head.url, source.mirror.host, last.offset, end, pin=head).data
        self.traffic.received += len(first)
        try:
            verify_beginning(first, head.size - last.offset)
        except GribError as error:
            raise damaged(head.url, last.number, last.offset, str(error)) from None
