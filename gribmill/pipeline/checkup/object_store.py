"""Checks the object store: it must respond, be writable, and honour conditional writes."""

from __future__ import annotations

import secrets
from collections.abc import Iterator

from gribmill.pipeline.checkup.finding import Examination, Finding
from gribmill.storage.bucket import NEW, Condition
from gribmill.storage.errors import ChangedObject, StorageError
from gribmill.storage.object_path import ObjectPath

CHECK = "object store"


def object_store(about: Examination) -> Iterator[Finding]:
    """Try the conditional writes that tiles and latest.json rely on, with a small temporary object."""
    root = about.root
    places = [place for place in dict.fromkeys((root.tiles_at, root.spool_at)) if place is not None]
    if not places:
        yield Finding(CHECK, True, "not used: tiles and messages are on this machine")
    for place in places:
        probe = place / f".probe-{secrets.token_hex(8)}"
        try:
            fault = _fault(probe)
        except StorageError as error:
            yield Finding(CHECK, False, str(error), "check `tiles`, `spool` and [store] of the settings")
            continue
        if fault:
            yield Finding(CHECK, False, f"{place} {fault}", "use a store that compares ETags (If-Match, If-None-Match)")
        else:
            yield Finding(CHECK, True, f"{place} can be written, and honours conditional writes")


def _fault(probe: ObjectPath) -> str | None:
    """How the store misbehaves, or None if it works."""
    try:
        probe.write([b"1"], NEW)
        if _is_written(probe, b"2", NEW):
            return "replaces an object that was to be new"
        seen = probe.now()
        if seen is None or seen.etag is None:
            return "gives no ETag for an object that was just written"
        probe.write([b"3"], seen)
        if _is_written(probe, b"4", seen):
            return "replaces an object that has changed meanwhile"
        return None if bytes(probe.read_range(0, 1)) == b"3" else "does not return what was written"
    finally:
        probe.unlink()


def _is_written(probe: ObjectPath, content: bytes, condition: Condition) -> bool:
    try:
        probe.write([content], condition)
    except ChangedObject:
        return False
    return True
