"""A fault on request: what goes wrong, and with which files."""

from __future__ import annotations

import fnmatch
import hashlib
import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal, get_args

from gribmill.ingest.errors import IngestError
from gribmill.ingest.models.hour_ranges import parse_steps
from gribmill.ingest.models.registry import find_key, load_models
from gribmill.sandbox.errors import MirrorError

Kind = Literal["truncate", "stale-idx", "slow", "500", "flip", "vanish", "replace", "cut"]
KINDS: tuple[Kind, ...] = get_args(Kind)
_SPEC = re.compile(r"(?P<kind>[a-z0-9-]+?)(?::(?P<aim>[0-9.,/ -]+))?(?:x(?P<times>[0-9]{1,4}))?")


@dataclass(frozen=True, slots=True)
class Fault:
    """Hits files of some forecast hours, a share of all files, or those whose key fits a pattern.

    `times`: only so many requests for each file are hit, the first ones; None is every request.
    """

    kind: Kind
    share: float = 1.0
    hours: frozenset[int] = field(default_factory=frozenset)
    keys: str = "*"
    times: int | None = None

    def aims_at(self, key: str, seed: int) -> bool:
        """Whether a file is one of those; the same for the same seed, and for a file and its index."""
        if self.hours and hour_of(key) not in self.hours:
            return False
        if not fnmatch.fnmatchcase(key, self.keys):
            return False
        return self.share >= 1 or chance(seed, self.kind, grib_key(key)) < self.share


def parse_fault(text: str) -> Fault:
    """`truncate`, `500:0.25` (a share of the files), `flip:3` or `slow:0-6,12` (hours), `500:3x2` (twice each)."""
    found = _SPEC.fullmatch(text.strip())
    kind = next((kind for kind in KINDS if found and found["kind"] == kind), None)
    if not found or kind is None:
        raise MirrorError(f"{text!r} is no fault; use one of {', '.join(KINDS)}, as in 500, 500:0.25, 500:0-6 or 500x2")
    times = int(found["times"]) if found["times"] else None
    aim = found["aim"] or ""
    if "." in aim:
        try:
            share = float(aim)
        except ValueError:
            share = -1
        if not 0 < share <= 1:
            raise MirrorError(f"{text!r}: a share of the files lies between 0.0 and 1.0")
        return Fault(kind, share=share, times=times)
    try:
        hours = frozenset(parse_steps(aim)) if aim else frozenset()
    except IngestError as error:
        raise MirrorError(f"{text!r}: {error}") from None
    return Fault(kind, hours=hours, times=times)


def chance(seed: int, *words: object) -> float:
    """A number in [0, 1) that depends on nothing but these words."""
    text = "\0".join(map(str, (seed, *words)))
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=7).digest()) / 256**7


def is_index(key: str) -> bool:
    """Whether it is an index by its name."""
    return key.endswith((".idx", ".index"))


def grib_key(key: str) -> str:
    """The file that an index belongs to; a file itself."""
    if key.endswith(".index"):
        return key.removesuffix(".index") + ".grib2"
    return key.removesuffix(".idx")


@lru_cache(maxsize=4096)
def hour_of(key: str) -> int | None:
    """The forecast hour of a file by its key, whatever folders stand before it; None where no model has such keys."""
    models = load_models()
    parts = key.split("/")
    for place in range(len(parts)):
        for _, _, hour in find_key(models, "/".join(parts[place:])):
            return hour
    return None
