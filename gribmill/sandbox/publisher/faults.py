"""Injects the configured faults. Requests are counted per file, so that tests can target them."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import lru_cache
from typing import Protocol

from gribmill.sandbox.chance import chance
from gribmill.sandbox.forecast.repacked import rotate_messages, rotated_index, stale_index
from gribmill.sandbox.publisher.byte_range import ByteSpan
from gribmill.sandbox.publisher.damaged_body import cut_off, flipped, slowed, stalled
from gribmill.sandbox.publisher.fault import Fault, FaultKind, grib_key, is_index
from gribmill.sandbox.publisher.request import Request
from gribmill.sandbox.publisher.response import RawResponse, Response, from_bytes, refusal
from gribmill.sandbox.publisher.stored_object import BytesObject, ObjectStore, StoredObject, read_whole

SLOW_BYTES_PER_SECOND = 20_000
TRUNCATED_SHARE = 0.6
# Beyond the sections that describe a message, so that the bit is in its values, where only a checksum detects it.
FLIP_SHARE = (0.3, 0.9)
CUT_SHARE = 0.5
RETRY_AFTER_SECONDS = 1
BOT_PAGE = b"<html><body>Please complete the captcha to show that you are not a robot.</body></html>"
# The faults that replace a response. The first match applies, and the others do not count the request.
REPLACE_ANY: tuple[FaultKind, ...] = ("500", "503", "reset")
REPLACE_FILE: tuple[FaultKind, ...] = ("vanish", "bot-page", "no-range")

Proceed = Callable[[Request], Response]


class FaultInjector(Protocol):
    """Stands between the service and its clients."""

    def version(self, store: ObjectStore, stored: StoredObject) -> StoredObject:
        """The version of an object that listings, HEAD and GET show now."""

    def respond(self, request: Request, proceed: Proceed) -> Response | RawResponse:
        """The response to a request; `proceed` returns the correct one."""


class Faults:
    """A deterministic FaultInjector: the same seed and the same requests give the same faults."""

    def __init__(self, faults: Iterable[Fault] = (), seed: int = 0) -> None:
        self.faults = tuple(faults)
        self.seed = seed
        self._met: Counter[tuple[FaultKind, str]] = Counter()
        self._fetched: Counter[str] = Counter()
        self._lock = threading.Lock()
        self._repacked = lru_cache(maxsize=4)(_repacked)

    def version(self, store: ObjectStore, stored: StoredObject) -> StoredObject:
        """The version of an object that listings, HEAD and GET show now."""
        key, index = stored.key, is_index(stored.key)
        if self._aimed("replace", key) and self._fetched[grib_key(key)] >= 1:
            new = self._repacked(store, grib_key(key), index)
            if new is not None:
                return new
        if index and self._shown("stale-idx", key):
            return BytesObject(key, stale_index(read_whole(stored)), stored.modified)
        if not index and self._shown("truncate", key):
            part = ByteSpan(0, int(stored.size * TRUNCATED_SHARE))
            return BytesObject(key, b"".join(stored.read(part)), stored.modified)
        return stored

    def respond(self, request: Request, proceed: Proceed) -> Response | RawResponse:
        """Only requests for objects are counted and may fail, not those for lists, pages and missing keys."""
        # The right response comes before the request counts: an object is replaced after the first that fetches it.
        response = proceed(request)
        if not response.of_object:
            return response
        key = request.key
        with self._lock:
            self._fetched[key] += request.method == "GET"
            of_file = request.method == "GET" and not is_index(key)
            kinds = REPLACE_ANY + (REPLACE_FILE if of_file else ())
            replaced = next((kind for kind in kinds if self._meets(kind, key)), None)
            if replaced is None:
                return self._on_the_way(key, response, of_file=of_file)
        return _replacement(replaced, request, proceed)

    def _on_the_way(self, key: str, response: Response, *, of_file: bool) -> Response:
        slow = self._meets("slow", key)
        flip, cut, stall = (of_file and self._meets(kind, key) for kind in ("flip", "cut", "stall"))
        body, length = response.body, response.length or 0
        if response.status not in (200, 206):
            return response
        if flip:
            low, high = FLIP_SHARE
            share = low + (high - low) * chance(self.seed, "place", key, self._fetched[key])
            body = flipped(body, int(length * share))
        if cut:
            body = cut_off(body, int(length * CUT_SHARE))
        if stall:
            body = stalled(body, int(length * CUT_SHARE))
        if slow:
            body = slowed(body, SLOW_BYTES_PER_SECOND)
        return replace(response, body=body)

    def _aimed(self, kind: FaultKind, key: str) -> bool:
        return any(fault.kind == kind and fault.aims_at(key, self.seed) for fault in self.faults)

    def _shown(self, kind: FaultKind, key: str) -> bool:
        """Whether the faulty version is shown: always, or until it has been fetched as often as the fault says."""
        return any(
            fault.kind == kind
            and fault.aims_at(key, self.seed)
            and (fault.times is None or self._fetched[key] < fault.times)
            for fault in self.faults
        )

    def _meets(self, kind: FaultKind, key: str) -> bool:
        aimed = [fault for fault in self.faults if fault.kind == kind and fault.aims_at(key, self.seed)]
        if not aimed:
            return False
        self._met[kind, key] += 1
        return any(fault.times is None or self._met[kind, key] <= fault.times for fault in aimed)


def _replacement(kind: FaultKind, request: Request, proceed: Proceed) -> Response | RawResponse:
    match kind:
        case "500":
            return refusal("InternalError", {"Key": request.key})
        case "503":
            return refusal("SlowDown", None, {"Retry-After": str(RETRY_AFTER_SECONDS)})
        case "reset":
            return RawResponse(reset=True)
        case "bot-page":
            return from_bytes(BOT_PAGE, "text/html;charset=UTF-8")
        case "no-range":
            return proceed(request.without("Range"))
        case _:
            return refusal("NoSuchKey", {"Key": request.key})


def _repacked(store: ObjectStore, key: str, index: bool) -> StoredObject | None:
    """The second edition of a file, or of its index; None if either is missing."""
    grib = store.find(key)
    if grib is None:
        return None
    data, places = rotate_messages(read_whole(grib))
    if not index:
        return BytesObject(key, data, grib.modified)
    for name in (f"{key}.idx", key.removesuffix(".grib2") + ".index"):
        stored = store.find(name)
        if stored is not None:
            return BytesObject(name, rotated_index(read_whole(stored), places), stored.modified)
    return None
