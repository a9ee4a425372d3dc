"""Sunrise and sunset compared with PyEphem, using the conventions of the US Naval Observatory."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from gribmill.server.openmeteo.sun import is_up, sun_times

# Place, local midnight in UTC, rise and set in UTC.
KNOWN = {
    "Boston": (42.36, -71.06, "2026-11-18T05:00", "2026-11-18T11:38:49", "2026-11-18T21:19:41"),
    "London in June": (51.5, -0.12, "2026-06-20T23:00", "2026-06-21T03:43:09", "2026-06-21T20:21:27"),
    "Auckland": (-36.85, 174.76, "2026-12-20T11:00", "2026-12-20T16:57:59", "2026-12-21T07:39:36"),
    "Auckland, days of UTC": (-36.85, 174.76, "2026-12-21T00:00", "2026-12-20T16:57:59", "2026-12-21T07:39:36"),
    "14 hours ahead": (1.87, -157.4, "2026-03-19T10:00", "2026-03-19T16:34:00", "2026-03-20T04:40:26"),
    "equator": (-0.18, -78.47, "2026-09-23T05:00", "2026-09-23T11:02:57", "2026-09-23T23:09:25"),
    "Reykjavik": (64.15, -21.94, "2026-06-20T00:00", "2026-06-20T02:55:08", "2026-06-21T00:03:44"),
}


def seconds(text: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()


@pytest.mark.parametrize("name", KNOWN)
def test_sunrise_and_sunset_match_pyephem(name: str) -> None:
    lat, lon, day, rise, set_ = KNOWN[name]
    found = sun_times(seconds(day), lat, lon)
    assert found == pytest.approx((seconds(rise), seconds(set_)), abs=15)
    around = np.array([found.rise - 5, found.rise + 5, found.set - 5, found.set + 5])
    assert is_up(around, lat, lon).tolist() == [0, 1, 1, 0]


@pytest.mark.parametrize(
    ("lat", "day", "hours"),
    [(78.2, "2026-12-21", 0), (78.2, "2026-06-21", 24), (90.0, "2026-06-21", 24), (-90.0, "2026-06-21", 0)],
)
def test_polar_days_and_nights_have_no_sunrise_or_sunset(lat: float, day: str, hours: int) -> None:
    begin = seconds(day)
    found = sun_times(begin, lat, 15.6)
    assert (float(found.rise), float(found.set)) == (begin, begin + timedelta(hours=hours).total_seconds())
    assert is_up(np.arange(begin, begin + 86400, 3600), lat, 15.6).tolist() == [hours / 24] * 24


def test_places_and_days_together_get_the_same_times_as_alone() -> None:
    lats, lons = np.array([42.36, 78.2, -36.85]), np.array([-71.06, 15.6, 174.76])
    days = np.array([seconds("2026-06-20T05:00") + 86400.0 * day for day in range(0, 200, 25)])
    together = np.stack(sun_times(days, lats[:, None], lons[:, None]), axis=-1)
    places = zip(lats.tolist(), lons.tolist(), strict=True)
    alone = [[sun_times(day, lat, lon) for day in days.tolist()] for lat, lon in places]
    np.testing.assert_allclose(together, alone, atol=1e-3)
