"""The parameters of a query: lists of texts, read as names, numbers or choices. Invalid ones raise OpenMeteoError."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from gribmill.errors import quoted
from gribmill.server.openmeteo.errors import OpenMeteoError

LIMIT_TEXT = 40_000
TRUTHS = {"true": True, "1": True, "false": False, "0": False}
Query = Sequence[tuple[str, str]]
Chosen = TypeVar("Chosen", bound=str)


@dataclass(frozen=True, slots=True)
class Given:
    """The values of each parameter: separated by commas, or given several times."""

    values: dict[str, list[str]]

    @classmethod
    def of(cls, query: Query, known: frozenset[str]) -> Given:
        if sum(len(value) for _, value in query) > LIMIT_TEXT:
            raise OpenMeteoError(f"The query is longer than {LIMIT_TEXT} characters")
        found: dict[str, list[str]] = {}
        for key, value in query:
            if key not in known:
                raise OpenMeteoError(f"{quoted(key)} is not a parameter of this server")
            found.setdefault(key, []).extend(part.strip() for part in value.split(",") if part.strip())
        return cls(found)

    def texts(self, key: str) -> list[str]:
        return self.values.get(key, [])

    def names(self, key: str, most: int) -> list[str]:
        """The texts without duplicates, at most so many."""
        names = list(dict.fromkeys(self.texts(key)))
        if len(names) > most:
            raise OpenMeteoError(f"{len(names)} values of '{key}' are more than {most}")
        return names

    def one(self, key: str, default: str) -> str:
        values = self.texts(key) or [default]
        if len(values) > 1:
            raise OpenMeteoError(f"Parameter '{key}' takes one value")
        return values[0]

    def choice(self, key: str, known: Sequence[Chosen]) -> Chosen:
        """One of the known values; the first if none is given."""
        value = self.one(key, known[0])
        for one in known:
            if one == value:
                return one
        raise OpenMeteoError(f"Cannot initialize {key} from invalid String value {value[:60]} for key {key}")

    def truth(self, key: str) -> bool:
        """Whether it is true; Python's programs write `True`."""
        value = self.one(key, "false")
        if value.lower() not in TRUTHS:
            raise OpenMeteoError(f"Value of type 'Bool' required for key '{key}'.")
        return TRUTHS[value.lower()]

    def numbers(self, key: str) -> list[float]:
        return [number(key, text) for text in self.texts(key)]

    def integer(self, key: str, most: int) -> int | None:
        """A whole number from 0 to `most`."""
        text = self.one(key, "")
        if not text:
            return None
        if not text.isascii() or not text.isdigit() or len(text) > 6:
            raise OpenMeteoError(f"Value of type 'Int' required for key '{key}'.")
        if int(text) > most:
            raise OpenMeteoError(f"Parameter '{key}' is out of allowed range from 0 to {most}. Given {int(text)}.")
        return int(text)


def number(key: str, text: str) -> float:
    try:
        found = float(text)
    except ValueError:
        found = math.nan
    if not math.isfinite(found):
        raise OpenMeteoError(f"Value of type 'Float' required for key '{key}'.")
    return found
