"""One try to bring a file from one mirror."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from gribmill.grib.errors import GribError, damaged
from gribmill.grib.message_header import MessageHeader
from gribmill.grib.sections import INDICATOR_BYTES
from gribmill.ingest.download.download_plan import Plan, Way, plan_by_index
from gribmill.ingest.download.downloaded import Downloaded
from gribmill.ingest.download.errors import NothingWanted, WrongFile
from gribmill.ingest.download.fetch import Fetch, Progress, Traffic
from gribmill.ingest.download.limits import Limits
from gribmill.ingest.download.scan_headers import RangeReader, member_of, plan_by_headers, scan_headers
from gribmill.ingest.download.spool import Spool
from gribmill.ingest.download.verify_message import Expected, verify_beginning
from gribmill.ingest.download.whole_file import bring_whole
from gribmill.ingest.errors import BadIndex
from gribmill.ingest.http.client import Session
from gribmill.ingest.http.deadline import until
from gribmill.ingest.http.errors import Changed, NoRanges, NotThere, TooLarge, Untrusted
from gribmill.ingest.http.local_files import is_local
from gribmill.ingest.http.object_head import Head
from gribmill.ingest.index.entry import Inventory
from gribmill.ingest.index.parse import parse_index
from gribmill.ingest.index.select import select
from gribmill.ingest.index.wanted import Wanted
from gribmill.ingest.listing.available_hours import Published
from gribmill.ingest.mirrors.host import Host
from gribmill.ingest.mirrors.mirror import SourceUrls
from gribmill.ingest.models.model import Model
from gribmill.ingest.models.model_file import IndexKind

# An object that is replaced more often than this while it is read is left for another mirror.
MOST_STARTS = 3
# Looks at what came before it takes its name, and may refuse it with a WrongFile.
Check = Callable[[Sequence[MessageHeader]], None]


@dataclass(frozen=True, slots=True)
class Attempt:
    """What is wanted, and what it may cost; the same for every mirror."""

    session: Session
    model: Model
    hour: int
    wanted: tuple[Wanted, ...]
    target: Path
    expected: Expected
    limits: Limits
    progress: Progress | None
    deadline: float
    check: Check | None = None
    traffic: Traffic = field(default_factory=Traffic)

    def by_index(self, source: SourceUrls, known: Published | None) -> Downloaded:
        """By what the index says; by the headers at once where there is none."""
        if source.index_url is None:
            return self.by_headers(source)
        # Without its tag a listing does not say which object it saw, and its times are rounded.
        seen = known is not None and known.size and known.etag
        listed = Head(source.grib_url, known.size, known.etag) if known and seen else None
        return self._again_if_changed(lambda fresh: self._once_by_index(source, None if fresh else listed), listed)

    def by_headers(self, source: SourceUrls) -> Downloaded:
        """By the file's own headers: read through small requests, or from the whole file."""
        return self._again_if_changed(lambda fresh: self._once_by_headers(source), None)

    def _again_if_changed(self, once: Callable[[bool], Downloaded], listed: Head | None) -> Downloaded:
        """A replaced object begins anew. What a listing said may be old: then it is asked for again, too."""
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

    def _once_by_index(self, source: SourceUrls, listed: Head | None) -> Downloaded:
        assert source.index_url is not None
        try:
            index = self._index(source.index_url, source)
        except NotThere:
            # A user's own folder may hold GRIB without an index.
            if is_local(source.grib_url):
                return self._once_by_headers(source)
            raise
        head = listed or self._head(source)
        kind: IndexKind = "ecmwf_index" if source.index_url.endswith(".index") else "noaa_idx"
        inventory = parse_index(kind, index, source.index_url, self.expected.run, head.size)
        chosen = select(
            inventory,
            self.wanted,
            self.hour,
            extras=self.model.extras,
            offset_minutes=self.model.offset_minutes,
        )
        if chosen.missing:
            self._check_covers(inventory, source, head, known=inventory.entries[-1] in chosen.entries)
        return self._bring(source, plan_by_index(inventory, chosen, self.wanted, head, index))

    def _once_by_headers(self, source: SourceUrls) -> Downloaded:
        head = self._head(source)
        if is_local(head.url):
            return self._bring(source, self._walked(self.session, source.mirror.host, head, self.traffic, "walk"))
        counted = source.mirror.host.requests_per_minute is not None
        named = bool(self.wanted) and all(want.parameters for want in self.wanted)
        # Without an index, all of the file is wanted more often than not: one long request instead of many.
        if head.size and source.index_url is not None and named and not counted:
            try:
                return self._bring(source, self._walked(self.session, source.mirror.host, head, self.traffic, "walk"))
            except NoRanges:
                pass
        return self._whole(source, head)

    def _whole(self, source: SourceUrls, head: Head) -> Downloaded:
        host, copied = source.mirror.host, Traffic()
        path = bring_whole(
            self.session, host, head, self.target,
            limits=self.limits, traffic=self.traffic, progress=self.progress, deadline=self.deadline,
        )  # fmt: skip
        try:
            here = self.session.head(path.absolute().as_uri(), host)
            plan = self._walked(self.session, host, here, copied, "whole")
            quiet = replace(self, progress=None, traffic=copied)
            found = quiet._bring(source, plan)
        finally:
            path.unlink(missing_ok=True)
        traffic = self.traffic
        return replace(found, requests=traffic.requests, requested_bytes=traffic.came, url=head.url, etag=head.etag)

    def _walked(self, session: Session, host: Host, head: Head, traffic: Traffic, way: Way) -> Plan:
        reader = RangeReader(session, host, head, traffic)
        most = self.limits.local_messages if is_local(head.url) else self.limits.walked_messages
        headers = scan_headers(reader, head.url, most)
        return plan_by_headers(headers, head, self.wanted, self.expected, member_of(self.model.extras), way)

    def _bring(self, source: SourceUrls, plan: Plan) -> Downloaded:
        if not plan.pieces:
            raise NothingWanted(f"{plan.head.url} holds nothing of what is wanted of this run and hour")
        if plan.total > self.limits.spool_bytes:
            raise TooLarge(plan.head.url, f"{plan.total} bytes are wanted; the limit is {self.limits.spool_bytes}")
        with Spool(self.target) as spool:
            fetch = Fetch(
                self.session, source.mirror.host, plan, spool, self.expected,
                limits=self.limits, traffic=self.traffic, progress=self.progress, deadline=self.deadline,
            )  # fmt: skip
            fetch.run()
            headers = fetch.all_headers()
            self._check(spool, headers)
            digest = spool.finish()
        return Downloaded(
            path=self.target,
            bytes=plan.total,
            requested_bytes=self.traffic.came,
            requests=self.traffic.requests,
            sha256=digest,
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

    def _head(self, source: SourceUrls) -> Head:
        self.traffic.requests += 1
        return self.session.head(source.grib_url, source.mirror.host)

    def _index(self, url: str, source: SourceUrls) -> bytes:
        self.traffic.requests += 1
        data = self.session.get(url, source.mirror.host, limit_bytes=self.limits.index_bytes).data
        self.traffic.came += len(data)
        if data.lstrip()[:1] == b"<":
            raise Untrusted(url, "a web page or an error message came instead of the index")
        return data

    def _check_covers(self, inventory: Inventory, source: SourceUrls, head: Head, *, known: bool) -> None:
        """What is missing from an index may only be missing because the index was cut off.

        `known`: the last message will be proven anyway.
        """
        last = inventory.entries[-1]
        if head.size is None:
            return
        if last.end is not None and last.end != head.size:
            raise BadIndex(inventory.source, None, f"it ends at {last.end}, but the file has {head.size} bytes")
        if known:
            return
        self.traffic.requests += 1
        end = min(last.offset + INDICATOR_BYTES, head.size)
        first = self.session.read_range(head.url, source.mirror.host, last.offset, end, pin=head).data
        self.traffic.came += len(first)
        try:
            verify_beginning(first, head.size - last.offset)
        except GribError as error:
            raise damaged(head.url, last.number, last.offset, str(error)) from None
