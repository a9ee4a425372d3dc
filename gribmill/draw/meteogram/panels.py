"""The panels of a meteogram: their variables and styles."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from gribmill.arrays import Floats
from gribmill.draw.meteogram.curves import Curves
from gribmill.tiles.read.units import KNOTS_PER_M_S, conversion

Look = Literal["lines", "bars", "cover"]
NAMES_TOLD = 8
ZERO_SAYS_NOTHING = ("asnow", "snod", "weasd", "frzr", "sf", "csnow", "cfrzr", "cicep")
KINDRED = ("°C", "°F", "K", "hPa", "inHg", "Pa", "m/s", "mph", "kt", "m s-1")  # such panels are placed together
MOST_PANELS = 10  # further ones are named in the footer, but not drawn


@dataclass(frozen=True, slots=True)
class Panel:
    """Quantities with one unit on one axis."""

    title: str
    names: tuple[str, ...]
    look: Look = "lines"


# Title, quantities in the order of importance, look. One panel takes only those that share a unit.
FAMILIES: tuple[tuple[str, tuple[str, ...], Look], ...] = (
    ("Temperature", ("t2m", "d2m"), "lines"),
    ("Wind", ("ws10", "gust"), "lines"),
    ("Precipitation", ("tp",), "bars"),
    ("Snowfall", ("asnow",), "bars"),
    ("Pressure", ("mslp",), "lines"),
    ("Cloud", ("tcc",), "cover"),
)
COLOURS = {
    "t2m": "#d1342f", "d2m": "#2f8f4e", "ws10": "#2b5fa8", "gust": "#8a5cc2", "tp": "#2f7fd0", "asnow": "#6f9fd8",
    "mslp": "#b0581f", "tcc": "#9aa4ad",
}  # fmt: skip
OTHERS = ("#3a6ea5", "#a05195", "#2f8f7f", "#c07a1f")
HIDDEN = ("u10", "v10", "wdir10")  # shown as barbs and arrows


def panels_of(curves: Curves) -> tuple[list[Panel], list[str]]:
    """The panels to draw, and the names left out for lack of space."""
    left = [name for name in curves.values if name not in HIDDEN]
    left = [name for name in left if name not in without_panel(curves)] or left
    panels = []
    for title, members, look in FAMILIES:
        names = [name for name in members if name in left]
        if names:
            units = curves.units.get(names[0], "")
            together = tuple(name for name in names if curves.units.get(name, "") == units)
            panels.append(Panel(title, together, look))
            left = [name for name in left if name not in together]
    for name in left:
        _insert(panels, Panel(curves.label(name), (name,), _look(curves, name)), curves)
    unseen = [name for panel in panels[MOST_PANELS:] for name in panel.names]
    return panels[:MOST_PANELS], unseen


def without_panel(curves: Curves) -> dict[str, str]:
    """Names whose panel would be empty, and why: no values at all, or an amount that stays zero (except rain)."""
    found = {}
    for name in curves.values:
        values = curves.get(name)
        present = values[np.isfinite(values)]
        if not len(present):
            found[name] = "no values"
        elif name != "tp" and not present.any() and (name in curves.minutes or name in ZERO_SAYS_NOTHING):
            found[name] = "zero throughout"
    return found


def without_panel_text(curves: Curves) -> str:
    """`zero throughout: asnow; no values: snod`."""
    by_reason: dict[str, list[str]] = {}
    for name, reason in without_panel(curves).items():
        if name not in HIDDEN:
            by_reason.setdefault(reason, []).append(name)
    return "; ".join(f"{reason}: {', '.join(names[:NAMES_TOLD])}" for reason, names in by_reason.items())


def _insert(panels: list[Panel], panel: Panel, curves: Curves) -> None:
    """After the last panel in the same units if these identify the kind of quantity, otherwise at the end."""
    units = curves.units.get(panel.names[0], "")
    same = [k for k, other in enumerate(panels) if units in KINDRED and curves.units.get(other.names[0]) == units]
    panels.insert(same[-1] + 1 if same else len(panels), panel)


def unseen_text(unseen: list[str]) -> str:
    """A few of the names that were left out, and how many more there are."""
    if not unseen:
        return ""
    rest = len(unseen) - NAMES_TOLD
    return f"not drawn: {', '.join(unseen[:NAMES_TOLD])}" + (f" and {rest} more" if rest > 0 else "")


def _look(curves: Curves, name: str) -> Look:
    return "bars" if name in curves.minutes else "lines"


def colour_of(name: str, number: int = 0) -> str:
    return COLOURS.get(name, OTHERS[number % len(OTHERS)])


def with_wind(curves: Curves) -> Curves:
    """The same with speed and direction beside u10 and v10, where only those are given."""
    if "ws10" in curves.values or not {"u10", "v10"} <= set(curves.values):
        return curves
    u, v = curves.get("u10"), curves.get("v10")
    speed, come_from = np.hypot(u, v), np.degrees(np.arctan2(-u, -v)) % 360
    return replace(
        curves,
        values={**curves.values, "ws10": speed, "wdir10": come_from},
        units={**curves.units, "ws10": curves.units.get("u10", ""), "wdir10": "°"},
        long_names={"ws10": "Wind speed at 10 m", "wdir10": "Wind direction at 10 m", **curves.long_names},
    )


def knots(curves: Curves) -> tuple[Floats, Floats] | None:
    """Eastward and northward wind in knots for barbs, if speed and direction are known."""
    if not {"ws10", "wdir10"} <= set(curves.values):
        return None
    to_m_s = conversion(curves.units.get("ws10", "m s-1"), "m s-1")
    if to_m_s is None:
        return None
    speed, come_from = to_m_s(curves.get("ws10")) * KNOTS_PER_M_S, np.radians(curves.get("wdir10"))
    calm = np.isnan(come_from) & (speed < 1)
    come_from = np.where(calm, 0.0, come_from)
    return -speed * np.sin(come_from), -speed * np.cos(come_from)


def finite_range(columns: Iterable[Floats]) -> tuple[float, float] | None:
    """The lowest and highest value of all columns, ignoring missing ones."""
    together = np.concatenate(list(columns))
    present = together[np.isfinite(together)]
    return (float(present.min()), float(present.max())) if len(present) else None
