"""Names that include the time range of a sum, mean or extreme: `tp_6h`, `t2m_max_12h`, `tp_15min`.

`tp` is the sum since the run began (also `tp_run`), `tp_bucket` the shortest sum that ends at an hour, and `tp_6h` any
sum of six hours. `t2m_max` is the extreme over the shortest time that ends at an hour, `t2m_max_12h` that of 12 hours.
"""

from __future__ import annotations

import re

RUN, BUCKET = "_run", "_bucket"
LONGEST_MINUTES = 100 * 24 * 60
_LENGTH = re.compile(r"(?P<base>[A-Za-z0-9].*)_(?P<count>[1-9][0-9]{0,5})(?P<unit>min|h)")
_MINUTES = {"min": 1, "h": 60}
# How the lexicon's descriptions refer to a time range of unknown length.
_ANY_RANGE = re.compile(r" (since the run began|since the bucket was last emptied|(in|over) the window)\b")


def window_text(minutes: int) -> str:
    """The length of a time range as part of a name: `6h`, or `15min` if it is not in whole hours."""
    return f"{minutes // 60}h" if minutes % 60 == 0 else f"{minutes}min"


def with_window(base: str, minutes: int) -> str:
    """The name of a quantity over a time range of that length."""
    return f"{base}_{window_text(minutes)}"


def split_window(name: str) -> tuple[str, int] | None:
    """Splits `tp_6h` into `tp` and 360; None for names that do not end with a length."""
    found = _LENGTH.fullmatch(name)
    if found is None:
        return None
    minutes = int(found["count"]) * _MINUTES[found["unit"]]
    return (found["base"], minutes) if minutes <= LONGEST_MINUTES else None


def base_name(name: str) -> str:
    """The name without its time range: `tp` for `tp`, `tp_run`, `tp_bucket` and `tp_6h`."""
    if found := split_window(name):
        return found[0]
    return name.removesuffix(BUCKET).removesuffix(RUN)


def without_range(long_name: str) -> str:
    """The description without its time range: `Precipitation` for `Precipitation since the run began`."""
    return _ANY_RANGE.sub("", long_name)


def with_range(long_name: str, minutes: int) -> str:
    """The description with the length of the time range: `Precipitation over 6 h`."""
    length = f"{minutes // 60} h" if minutes % 60 == 0 else f"{minutes} min"
    return f"{without_range(long_name)} over {length}"
