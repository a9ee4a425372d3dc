"""What a message's grid section says, read alike from both editions: plain numbers, before any grid is made of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["lat-lon", "rotated lat-lon", "Gaussian", "Mercator", "polar stereographic", "Lambert"]

# In the octet that tells on which side of the Earth a projection's plane lies.
SOUTH_POLE, BIPOLAR = 0x80, 0x40


@dataclass(frozen=True, slots=True, kw_only=True)
class GridFacts:
    """Angles in degrees, lengths in metres. What a kind of grid does not have stays as it is here."""

    kind: Kind
    earth: tuple[float, float]
    """Semi-axes, at the equator and at the poles."""
    first: tuple[float, float]
    """Latitude and longitude of the first point."""
    last: tuple[float, float] = (0.0, 0.0)
    di: float | None = None
    dj: float | None = None
    """Increments, where they are given."""
    parallels: int = 0
    """Of a Gaussian grid, between a pole and the equator."""
    pole: tuple[float, float, float] = (-90.0, 0.0, 0.0)
    """The southern pole of a rotated grid, and the angle of rotation."""
    dx: float = 0.0
    dy: float = 0.0
    lad: float = 0.0
    lov: float = 0.0
    latin1: float = 0.0
    latin2: float = 0.0
    centre: int = 0
