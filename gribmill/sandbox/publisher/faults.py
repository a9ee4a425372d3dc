"""All faults of a mirror: what each request meets. Counted per file, so that tests can aim."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from gribmill.sandbox.forecast.repacked import stale_index, turn, turned_index
from gribmill.sandbox.publisher.fault import Fault, Kind, chance, grib_key, is_index
from gribmill.sandbox.publisher.folder import Folder, Stored
from gribmill.sandbox.publisher.object_bytes import BytesContent, Content, FileContent

SLOW_BYTES_PER_SECOND = 20_000
TRUNCATED_SHARE = 0.6
# Beyond the sections that describe a message, so that the bit lies in its values, which nothing else proves.
FLIP_SHARE = (0.3, 0.9)
CUT_SHARE = 0.5


@dataclass(frozen=True, slots=True)
class Trouble:
    """What one answer meets. `flip` and `cut` are shares of the body: which byte is wrong, where it ends."""

    status: int | None = None
    bytes_per_second: int | None = None
    flip: float | None = None
    cut: float | None = None


NONE = Trouble()


class Faults:
    """Decides for each file and request. The same seed and the same requests meet the same faults."""

    def __init__(self, faults: Iterable[Fault] = (), seed: int = 0) -> None:
        self.faults = tuple(faults)
        self.seed = seed
        self._met: Counter[tuple[Kind, str]] = Counter()
        self._fetched: Counter[str] = Counter()
        self._lock = threading.Lock()
        self._turned = lru_cache(maxsize=4)(_turned)

    def content(self, folder: Folder, stored: Stored) -> Content:
        """The version of an object that listings, HEAD and GET show now."""
        key, index = stored.key, is_index(stored.key)
        if self._aimed("replace", key) and self._fetched[grib_key(key)] >= 1:
            new = self._turned(folder, grib_key(key), index)
            if new is not None:
                return new
        if index and self._aimed("stale-idx", key):
            return BytesContent(stale_index(stored.path.read_bytes()), stored.modified)
        if not index and self._aimed("truncate", key):
            with stored.path.open("rb") as file:
                return BytesContent(file.read(int(stored.size * TRUNCATED_SHARE)), stored.modified)
        return FileContent(folder, stored)

    def trouble(self, key: str, method: str) -> Trouble:
        """What a request for an object meets; asking counts as a request."""
        index = is_index(key)
        with self._lock:
            if method == "GET":
                self._fetched[key] += 1
            if self._meets("500", key):
                return Trouble(status=500)
            if method != "GET" or index:
                return Trouble(bytes_per_second=SLOW_BYTES_PER_SECOND if self._meets("slow", key) else None)
            if self._meets("vanish", key):
                return Trouble(status=404)
            low, high = FLIP_SHARE
            place = low + (high - low) * chance(self.seed, "place", key, self._fetched[key])
            return Trouble(
                bytes_per_second=SLOW_BYTES_PER_SECOND if self._meets("slow", key) else None,
                flip=place if self._meets("flip", key) else None,
                cut=CUT_SHARE if self._meets("cut", key) else None,
            )

    def _aimed(self, kind: Kind, key: str) -> bool:
        return any(fault.kind == kind and fault.aims_at(key, self.seed) for fault in self.faults)

    def _meets(self, kind: Kind, key: str) -> bool:
        aimed = [fault for fault in self.faults if fault.kind == kind and fault.aims_at(key, self.seed)]
        if not aimed:
            return False
        self._met[kind, key] += 1
        return any(fault.times is None or self._met[kind, key] <= fault.times for fault in aimed)


def _turned(folder: Folder, key: str, index: bool) -> Content | None:
    """The second edition of a file, or of its index; None where either is missing."""
    grib = folder.find(key)
    if grib is None:
        return None
    data, places = turn(grib.path.read_bytes())
    if not index:
        return BytesContent(data, grib.modified)
    for name in (f"{key}.idx", key.removesuffix(".grib2") + ".index"):
        stored = folder.find(name)
        if stored is not None:
            return BytesContent(turned_index(stored.path.read_bytes(), places), stored.modified)
    return None
