"""Templates for object keys, which can be filled in and parsed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache

from gribmill.identity import whole_hour
from gribmill.ingest.errors import ModelError

# Placeholders: the run's date and hour, and the forecast hour with two, three or as many digits as needed.
PLACEHOLDERS = {
    "Ymd": r"[0-9]{8}",
    "HH": r"[0-9]{2}",
    "ff": r"[0-9]{2}",
    "fff": r"[0-9]{3}",
    "f": r"(?:0|[1-9][0-9]{0,3})",
}
# The forms of the hour, and the largest hour of each.
HOURS = {"ff": 99, "fff": 999, "f": 9999}
# Replaced when a model is loaded, from its list of members.
MEMBER = "{member}"
_PIECE = re.compile(r"\{([A-Za-z]+)\}")
_LITERAL = re.compile(r"[A-Za-z0-9._/-]*")


@dataclass(frozen=True, slots=True)
class KeyTemplate:
    """A key such as `hrrr.{Ymd}/conus/hrrr.t{HH}z.wrfsfcf{ff}.grib2`."""

    text: str

    def __post_init__(self) -> None:
        names = _PIECE.findall(self.text)
        plain = _PIECE.sub("", self.text)
        unknown = [name for name in names if name not in PLACEHOLDERS]
        if unknown:
            known = ", ".join(f"{{{name}}}" for name in PLACEHOLDERS)
            raise ModelError(f"{self.text}: unknown placeholder {{{unknown[0]}}}; use {known}")
        if not _LITERAL.fullmatch(plain):
            raise ModelError(f"{self.text}: a key has only letters, digits and . _ / - beside its placeholders")
        if self.text.startswith("/") or any(part in ("", ".", "..") for part in self.text.split("/")):
            raise ModelError(f"{self.text}: a key is a path below the mirror's root, without . or ..")
        hours = {name for name in names if name in HOURS}
        if not {"Ymd", "HH"} <= set(names) or len(hours) != 1:
            raise ModelError(f"{self.text}: a key needs the run ({{Ymd}}, {{HH}}) and one form of the hour")

    def fill(self, run: datetime, hour: int) -> str:
        """The key of one hour of a run."""
        values = self._values(run) | {"ff": f"{hour:02d}", "fff": f"{hour:03d}", "f": str(hour)}
        if not 0 <= hour <= min(most for name, most in HOURS.items() if f"{{{name}}}" in self.text):
            raise ModelError(f"{self.text} has too few digits for hour {hour}")
        return _PIECE.sub(lambda piece: values[piece[1]], self.text)

    def prefix(self, run: datetime) -> str:
        """The common prefix of the keys of all hours of a run."""
        values = self._values(run)
        first = min(self.text.index(f"{{{name}}}") for name in HOURS if f"{{{name}}}" in self.text)
        return _PIECE.sub(lambda piece: values[piece[1]], self.text[:first])

    def read(self, key: str) -> tuple[datetime, int] | None:
        """The run and hour in a key; None if the key does not match."""
        found = _pattern(self.text).fullmatch(key)
        if not found:
            return None
        values = found.groupdict()
        try:
            day = values["Ymd"]
            run = datetime(int(day[:4]), int(day[4:6]), int(day[6:]), int(values["HH"]), tzinfo=UTC)
        except ValueError:
            return None
        return run, int(next(values[name] for name in HOURS if name in values))

    @staticmethod
    def _values(run: datetime) -> dict[str, str]:
        moment = whole_hour(run)
        return {"Ymd": f"{moment:%Y%m%d}", "HH": f"{moment:%H}"}


@lru_cache(maxsize=1024)
def _pattern(text: str) -> re.Pattern[str]:
    """The regular expression of a template. A repeated placeholder must have the same digits each time."""
    parts: list[str] = []
    seen: set[str] = set()
    for place, piece in enumerate(_PIECE.split(text)):
        if place % 2 == 0:
            parts.append(re.escape(piece))
        elif piece in seen:
            parts.append(f"(?P={piece})")
        else:
            seen.add(piece)
            parts.append(f"(?P<{piece}>{PLACEHOLDERS[piece]})")
    return re.compile("".join(parts))
