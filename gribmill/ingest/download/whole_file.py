"""A whole file brought beside the target, in blocks that survive a crash, and read there by its own headers."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

from gribmill.ingest.download.download_plan import Piece, plan_by_pieces
from gribmill.ingest.download.fetch import Fetch, Progress, Traffic
from gribmill.ingest.download.limits import Limits
from gribmill.ingest.download.spool import Spool
from gribmill.ingest.http.client import Session
from gribmill.ingest.http.errors import Broken, Changed, NoRanges, NotThere, TooLarge
from gribmill.ingest.http.object_head import Head
from gribmill.ingest.mirrors.host import Host

BLOCK_BYTES = 4 << 20


def whole_path(target: Path) -> Path:
    """Where the whole file lies for the time being."""
    return target.with_name(f".{target.name}.whole")


def bring_whole(
    session: Session,
    host: Host,
    head: Head,
    target: Path,
    *,
    limits: Limits,
    traffic: Traffic,
    progress: Progress | None,
    deadline: float,
) -> Path:
    """The file of that address, all of it, unread. The caller removes it."""
    if head.size == 0:
        raise NotThere(head.url, "is empty so far")
    if head.size is not None and head.size > limits.whole_bytes:
        raise TooLarge(head.url, f"{head.size} bytes, more than the limit of {limits.whole_bytes} for a whole file")
    with Spool(whole_path(target)) as spool:
        whole = _Whole(session, host, head, spool, limits, traffic, progress, deadline)
        if not whole.in_blocks():
            whole.in_one_go()
        spool.finish()
    return whole_path(target)


@dataclass(frozen=True, slots=True)
class _Whole:
    session: Session
    host: Host
    head: Head
    spool: Spool
    limits: Limits
    traffic: Traffic
    progress: Progress | None
    deadline: float

    def in_blocks(self) -> bool:
        """A cut goes on where it was. False for a host that knows no ranges, or only says that it does."""
        size = self.head.size
        if not size or not self.head.ranges:
            return False
        starts = range(0, size, BLOCK_BYTES)
        pieces = [Piece(at, start, min(BLOCK_BYTES, size - start)) for at, start in enumerate(starts)]
        plan = plan_by_pieces(self.head, pieces, (), (), "whole")
        fetch = Fetch(
            self.session, self.host, plan, self.spool, None,
            limits=self.limits, traffic=self.traffic, progress=self.progress, deadline=self.deadline,
        )  # fmt: skip
        try:
            fetch.run()
        except NoRanges:
            return False
        return True

    def in_one_go(self) -> None:
        """A cut begins anew."""
        self.spool.begin(None, [0])
        place = 0

        def take(chunk: bytes) -> None:
            nonlocal place
            if time.monotonic() > self.deadline:
                raise Broken(self.head.url, f"the file took longer than {self.limits.seconds:.0f} s")
            self.spool.write(place, chunk)
            place += len(chunk)
            self.traffic.came += len(chunk)
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
            raise Changed(self.head.url, f"sends more than the {size} bytes that it had when it was asked") from error
        self.spool.grown(place)
