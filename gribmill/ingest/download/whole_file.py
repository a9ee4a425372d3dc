"""Fetches a whole file beside the target, in blocks that survive a crash, to be read there by its headers."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

from gribmill.ingest.download.download_plan import DownloadPlan, Limits, Piece
from gribmill.ingest.download.fetch import DownloadProgress, Fetcher, Traffic
from gribmill.ingest.download.spool import Spool
from gribmill.ingest.http.client import SourceSession
from gribmill.ingest.http.errors import Broken, Changed, NoRanges, NotThere, TooLarge
from gribmill.ingest.http.response import ObjectHead
from gribmill.ingest.mirrors.mirror import Host

BLOCK_BYTES = 4 << 20


def whole_path(target: Path) -> Path:
    """Where the whole file is kept meanwhile."""
    return target.with_name(f".{target.name}.whole")


def fetch_whole(
    session: SourceSession,
    host: Host,
    head: ObjectHead,
    target: Path,
    *,
    limits: Limits,
    traffic: Traffic,
    progress: DownloadProgress | None,
    deadline: float,
) -> Path:
    """The file at that address as a whole, not verified. The caller removes it."""
    if head.size == 0:
        raise NotThere(head.url, "is still empty")
    if head.size is not None and head.size > limits.whole_bytes:
        raise TooLarge(head.url, f"{head.size} bytes, more than the limit of {limits.whole_bytes} for a whole file")
    with Spool(whole_path(target)) as spool:
        whole = _WholeFile(session, host, head, spool, limits, traffic, progress, deadline)
        if not whole.in_blocks():
            whole.in_one_go()
        spool.finish()
    return whole_path(target)


@dataclass(frozen=True, slots=True)
class _WholeFile:
    session: SourceSession
    host: Host
    head: ObjectHead
    spool: Spool
    limits: Limits
    traffic: Traffic
    progress: DownloadProgress | None
    deadline: float

    def in_blocks(self) -> bool:
        """Resumes after a dropped connection. False for hosts without ranges, even if they claim to have them."""
        size = self.head.size
        if not size or not self.head.ranges:
            return False
        starts = range(0, size, BLOCK_BYTES)
        pieces = [Piece(at, start, min(BLOCK_BYTES, size - start)) for at, start in enumerate(starts)]
        plan = DownloadPlan(self.head, tuple(pieces), (), (), "whole")
        fetcher = Fetcher(
            self.session, self.host, plan, self.spool, None,
            limits=self.limits, traffic=self.traffic, progress=self.progress, deadline=self.deadline,
        )  # fmt: skip
        try:
            fetcher.run()
        except NoRanges:
            return False
        return True

    def in_one_go(self) -> None:
        """Starts again after a dropped connection."""
        self.spool.begin(None, [0])
        place = 0

        def take(chunk: bytes) -> None:
            nonlocal place
            if time.monotonic() > self.deadline:
                raise Broken(self.head.url, f"the file took longer than {self.limits.seconds:.0f} s")
            self.spool.write(place, chunk)
            place += len(chunk)
            self.traffic.received += len(chunk)
            if self.progress:
                self.progress(place, self.head.size or place)

        self.traffic.requests += 1
        size = self.head.size
        limit = self.limits.whole_bytes if size is None else size
        try:
            self.head.check_same(self.session.get_into(self.head.url, self.host, take, limit_bytes=limit))
        except TooLarge as error:
            if size is None:
                raise
            raise Changed(self.head.url, f"sends more than the {size} bytes that it had before") from error
        self.spool.grown(place)
