"""A whole file brought beside the target, in blocks that survive a crash, and read there by its own headers."""

from __future__ import annotations

import time
from pathlib import Path

from gribmill.ingest.answer import Head
from gribmill.ingest.fetch import Fetch, Progress, Traffic
from gribmill.ingest.host import Host
from gribmill.ingest.limits import Limits
from gribmill.ingest.outcome import Broken, NoRanges, NotThere, TooLarge
from gribmill.ingest.plan import Piece, plan_by_pieces
from gribmill.ingest.session import Session
from gribmill.ingest.spool import Spool

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
        if not _in_blocks(session, host, head, spool, limits, traffic, progress, deadline):
            _in_one_go(session, host, head, spool, limits, traffic, progress, deadline)
        spool.finish()
    return whole_path(target)


def _in_blocks(
    session: Session,
    host: Host,
    head: Head,
    spool: Spool,
    limits: Limits,
    traffic: Traffic,
    progress: Progress | None,
    deadline: float,
) -> bool:
    """A cut goes on where it was. False for a host that knows no ranges, or only says that it does."""
    if not head.size or not head.ranges:
        return False
    starts = range(0, head.size, BLOCK_BYTES)
    pieces = [Piece(at, start, min(BLOCK_BYTES, head.size - start)) for at, start in enumerate(starts)]
    plan = plan_by_pieces(head, pieces, (), (), "whole")
    fetch = Fetch(
        session, host, plan, spool, None,
        limits=limits, traffic=traffic, progress=progress, deadline=deadline,
    )  # fmt: skip
    try:
        fetch.run()
    except NoRanges:
        return False
    return True


def _in_one_go(
    session: Session,
    host: Host,
    head: Head,
    spool: Spool,
    limits: Limits,
    traffic: Traffic,
    progress: Progress | None,
    deadline: float,
) -> None:
    """From a host that knows no ranges; a cut begins anew."""
    spool.begin(None, [0])
    place = 0

    def take(chunk: bytes) -> None:
        nonlocal place
        if time.monotonic() > deadline:
            raise Broken(head.url, f"the file took longer than {limits.seconds:.0f} s")
        spool.write(place, chunk)
        place += len(chunk)
        traffic.came += len(chunk)
        if progress:
            progress(place, head.size or place)

    traffic.requests += 1
    head.check_same(session.get_into(head.url, host, take, limit_bytes=limits.whole_bytes))
    spool.grown(place)
