"""A stand-in for an unknown map projection, fitted to a tile's own latitudes and longitudes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from gribmill.arrays import Floats
from gribmill.draw.drawable import Drawable

Project = Callable[[Floats, Floats], tuple[Floats, Floats]]

FIT_DEGREE = 6  # good to a fraction of a cell over a continent
FIT_POINTS = 40  # samples along each side


def fitted(field: Drawable) -> tuple[Project, Project]:
    """Both ways between places and (row, column), by polynomials on an equal-area plane."""
    ny, nx = field.values.shape
    lat, lon = np.asarray(field.lat, np.float64), np.asarray(field.lon, np.float64)
    centre = float(lat[ny // 2, nx // 2]), float(lon[ny // 2, nx // 2])
    j = np.unique(np.linspace(0, ny - 1, FIT_POINTS).astype(int))
    i = np.unique(np.linspace(0, nx - 1, FIT_POINTS).astype(int))
    rows, columns = (a.ravel().astype(np.float64) for a in np.meshgrid(j, i, indexing="ij"))
    u, v = to_equal_area(lat[np.ix_(j, i)].ravel(), lon[np.ix_(j, i)].ravel(), *centre)
    reach = 1.2 * float(np.hypot(u, v).max()) + 0.01
    degree = min(FIT_DEGREE, len(j) - 1, len(i) - 1)
    forward = np.linalg.lstsq(_terms(u / reach, v / reach, degree), np.column_stack([rows, columns]), rcond=None)[0]
    half = max(ny, nx) / 2
    back_terms = _terms((columns - nx / 2) / half, (rows - ny / 2) / half, degree)
    backward = np.linalg.lstsq(back_terms, np.column_stack([u, v]), rcond=None)[0]

    def project(lats: Floats, lons: Floats) -> tuple[Floats, Floats]:
        a, b = to_equal_area(lats, lons, *centre)
        far = ~(np.hypot(a, b) <= reach)  # a polynomial says nothing beyond the points it was fitted to
        placed = _terms(np.where(far, 0, a) / reach, np.where(far, 0, b) / reach, degree) @ forward
        placed[far] = np.nan
        return placed[..., 0], placed[..., 1]

    def locate(at_rows: Floats, at_columns: Floats) -> tuple[Floats, Floats]:
        placed = _terms((at_columns - nx / 2) / half, (at_rows - ny / 2) / half, degree) @ backward
        return from_equal_area(placed[..., 0], placed[..., 1], *centre)

    return project, locate


def _terms(u: ArrayLike, v: ArrayLike, degree: int) -> Floats:
    a, b = np.asarray(u, np.float64), np.asarray(v, np.float64)
    return np.stack([a**m * b**n for m in range(degree + 1) for n in range(degree + 1 - m)], axis=-1)


def to_equal_area(lat: Floats, lon: Floats, lat0: float, lon0: float) -> tuple[Floats, Floats]:
    """Lambert's azimuthal plane on the unit sphere; the antipode is infinitely far."""
    phi, phi0, turn = np.radians(lat), np.radians(lat0), np.radians(lon - lon0)
    cosine = np.sin(phi0) * np.sin(phi) + np.cos(phi0) * np.cos(phi) * np.cos(turn)
    up = np.cos(phi0) * np.sin(phi) - np.sin(phi0) * np.cos(phi) * np.cos(turn)
    with np.errstate(divide="ignore", invalid="ignore"):
        k = np.sqrt(2 / (1 + cosine))
        return k * np.cos(phi) * np.sin(turn), k * up


def from_equal_area(u: Floats, v: Floats, lat0: float, lon0: float) -> tuple[Floats, Floats]:
    """The way back from `to_equal_area`."""
    rho = np.maximum(np.hypot(u, v), 1e-12)
    angle, phi0 = 2 * np.arcsin(np.minimum(rho / 2, 1)), np.radians(lat0)
    sine = np.clip(np.cos(angle) * np.sin(phi0) + v * np.sin(angle) * np.cos(phi0) / rho, -1, 1)
    turn = np.arctan2(u * np.sin(angle), rho * np.cos(phi0) * np.cos(angle) - v * np.sin(phi0) * np.sin(angle))
    return np.degrees(np.arcsin(sine)), (lon0 + np.degrees(turn) + 180) % 360 - 180
