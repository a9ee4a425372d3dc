"""Statistics of an ensemble that are quantities of their own: probabilities, percentiles, spreads."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import lru_cache

from gribmill.grib.product.keys import Keys

# Code table 4.7, in the words that a user may write, and as wgrib2 ends its lines.
DERIVED_WORDS = {"standard deviation": 2, "normalised standard deviation": 3, "spread": 4, "interquartile range": 7}
_DERIVED_ENDINGS = {"ens std dev": 2, "normalized ens std dev": 3, "ens spread": 4}
_NUMBER = r"(-?[0-9]+(?:\.[0-9]+)?(?:e[-+]?[0-9]+)?)"
_ABOVE = re.compile(rf"prob >{_NUMBER}")
_BELOW = re.compile(rf"prob <{_NUMBER}")
_BETWEEN = re.compile(rf"prob >={_NUMBER} <{_NUMBER}")
_PERCENTILE = re.compile(r"([0-9]{1,3})% level")


@dataclass(frozen=True, slots=True)
class Variant:
    """A probability of values above and below limits (one or both), a percentile, or a spread (code table 4.7)."""

    above: float | None = None
    below: float | None = None
    percentile: int | None = None
    derived: int | None = None

    def equals(self, other: Variant | None) -> bool:
        """Whether both are the same; limits are equal to six digits, as index lines write them."""
        if other is None or (self.percentile, self.derived) != (other.percentile, other.derived):
            return False
        return _alike(self.above, other.above) and _alike(self.below, other.below)

    def fits(self, keys: Keys) -> bool:
        """Whether a message holds it."""
        return self.equals(variant_of(keys))

    def __str__(self) -> str:
        if self.percentile is not None:
            return f"percentile {self.percentile}"
        if self.derived is not None:
            return next((words for words, code in DERIVED_WORDS.items() if code == self.derived), "spread")
        limits = [f"above {self.above:g}" if self.above is not None else ""]
        limits += [f"below {self.below:g}" if self.below is not None else ""]
        return f"probability of values {' and '.join(filter(None, limits))}"


def variant_of(keys: Keys) -> Variant | None:
    """What a message holds instead of the quantity itself; None for the quantity."""
    if keys.probability is not None:
        lower, upper = keys.probability.lower, keys.probability.upper
        above, below = {0: (None, lower), 1: (upper, None), 3: (lower, None), 4: (None, upper)}.get(
            keys.probability.kind, (lower, upper)
        )
        return Variant(above=above, below=below, percentile=keys.percentile)
    if keys.percentile is not None:
        return Variant(percentile=keys.percentile)
    return Variant(derived=keys.derived) if keys.spread else None


@lru_cache(maxsize=1024)
def variant_of_ending(text: str) -> Variant | None:
    """What the end of an index line says: `prob >0.254:prob fcst 255/255`, `10% level`, `ens std dev`."""
    first = text.split(":")[0].strip()
    if found := _ABOVE.fullmatch(first):
        return Variant(above=float(found[1]))
    if found := _BELOW.fullmatch(first):
        return Variant(below=float(found[1]))
    if found := _BETWEEN.fullmatch(first):
        return Variant(above=float(found[1]), below=float(found[2]))
    if found := _PERCENTILE.fullmatch(first):
        return Variant(percentile=int(found[1]))
    return Variant(derived=_DERIVED_ENDINGS[first]) if first in _DERIVED_ENDINGS else None


def _alike(one: float | None, other: float | None) -> bool:
    if one is None or other is None:
        return one is other
    return math.isclose(one, other, rel_tol=1e-5, abs_tol=1e-9)
