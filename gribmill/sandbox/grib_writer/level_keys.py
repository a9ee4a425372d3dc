"""Converts a level's text in index files to ecCodes keys of GRIB2's section 4."""

from __future__ import annotations

from collections.abc import Iterator

from gribmill.grib.product.levels import NAMED, VALUED, family
from gribmill.sandbox.errors import SandboxError

_KINDS = {words: kind for kind, words in NAMED.items()}
_ONE = {words: (kind, unit) for kind, (words, _, unit) in VALUED.items()}
_LAYER = {words: (kind, unit) for kind, (_, words, unit) in VALUED.items()}


def level_keys(text: str) -> Iterator[tuple[str, int]]:
    """The keys for `2 m above ground`, `180-0 mb above ground`, `surface` …. Raises SandboxError for other texts."""
    if text in _KINDS:
        yield "typeOfFirstFixedSurface", _KINDS[text]
        return
    words, numbers = family(text)
    if words in _ONE and len(numbers) == 1:
        yield from _surface("First", *_ONE[words], numbers[0])
    elif words in _LAYER and len(numbers) == 2:
        yield from _surface("First", *_LAYER[words], numbers[0])
        yield from _surface("Second", *_LAYER[words], numbers[1])
    else:
        raise SandboxError(f"cannot write the level {text!r}")


def _surface(which: str, kind: int, unit: float, number: str) -> Iterator[tuple[str, int]]:
    digits = len(number.partition(".")[2])
    yield f"typeOf{which}FixedSurface", kind
    yield f"scaleFactorOf{which}FixedSurface", digits
    yield f"scaledValueOf{which}FixedSurface", round(float(number) * unit * 10**digits)
