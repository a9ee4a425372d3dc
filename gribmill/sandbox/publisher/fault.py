"""A fault that the publisher injects: its kind, and the files that it affects."""

from __future__ import annotations

import fnmatch
import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal, get_args

from gribmill.ingest.errors import IngestError
from gribmill.ingest.models.hour_ranges import parse_steps
from gribmill.ingest.models.registry import find_key, load_models
from gribmill.sandbox.chance import chance
from gribmill.sandbox.errors import SandboxError

FaultKind = Literal[
    "truncate", "stale-idx", "slow", "500", "flip", "vanish", "replace", "cut",
    "503", "bot-page", "no-range", "reset", "stall",
]  # fmt: skip
KINDS: tuple[FaultKind, ...] = get_args(FaultKind)
_SPEC = re.compile(r"(?P<kind>[a-z0-9-]+?)(?::(?P<aim>[0-9.,/ -]+))?(?:x(?P<times>[0-9]{1,4}))?")


@dataclass(frozen=True, slots=True)
class Fault:
    """Affects files of some forecast hours, a share of all files, or those whose key matches a pattern.

    `times` limits it to the first requests for each file; None means every request.
    """

    kind: FaultKind
    share: float = 1.0
    hours: frozenset[int] = field(default_factory=frozenset)
    keys: str = "*"
    times: int | None = None

    def aims_at(self, key: str, seed: int) -> bool:
        """Whether it affects a file; the same for the same seed, and for a file and its index."""
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
        raise SandboxError(
            f"{text!r} is not a fault; use one of {', '.join(KINDS)}, as in 500, 500:0.25, 500:0-6 or 500x2"
        )
    times = int(found["times"]) if found["times"] else None
    aim = found["aim"] or ""
    if "." in aim:
        try:
            share = float(aim)
        except ValueError:
            share = -1
        if not 0 < share <= 1:
            raise SandboxError(f"{text!r}: a share of the files must be above 0.0 and at most 1.0")
        return Fault(kind, share=share, times=times)
    try:
        hours = frozenset(parse_steps(aim)) if aim else frozenset()
    except IngestError as error:
        raise SandboxError(f"{text!r}: {error}") from None
    return Fault(kind, hours=hours, times=times)


def is_index(key: str) -> bool:
    """Whether the key belongs to an index."""
    return key.endswith((".idx", ".index"))


def grib_key(key: str) -> str:
    """The key of the GRIB file that an index belongs to; other keys are returned unchanged."""
    if key.endswith(".index"):
        return key.removesuffix(".index") + ".grib2"
    return key.removesuffix(".idx")


@lru_cache(maxsize=4096)
def hour_of(key: str) -> int | None:
    """The forecast hour in a file's key, below any folders; None if the key matches no model."""
    models = load_models()
    parts = key.split("/")
    for place in range(len(parts)):
        for _, _, hour in find_key(models, "/".join(parts[place:])):
            return hour
    return None
