"""Units by choice."""

from __future__ import annotations

import numpy as np
import pytest

from gribmill.tiles.read.units import conversion_for, shown_unit


@pytest.mark.parametrize(
    ("name", "unit", "value", "metric", "us"),
    [
        ("t2m", "K", 300.0, (26.85, "°C"), (80.33, "°F")),
        ("ws10", "m s-1", 10.0, (10.0, "m/s"), (22.369, "mph")),
        ("mslp", "Pa", 101325.0, (1013.25, "hPa"), (29.921, "inHg")),
        ("tp", "kg m-2", 25.4, (25.4, "mm"), (1.0, "in")),
        ("tp", "m", 0.0254, (25.4, "mm"), (1.0, "in")),
        ("tp_bucket", "m", 0.0254, (25.4, "mm"), (1.0, "in")),
        ("prate", "kg m-2 s-1", 0.001, (3.6, "mm/h"), (0.1417, "in/h")),
        ("prate_avg", "m s-1", 1e-6, (3.6, "mm/h"), (0.1417, "in/h")),
        ("vis", "m", 1609.344, (1.609, "km"), (1.0, "mi")),
        ("snod", "m", 0.254, (25.4, "cm"), (10.0, "in")),
        ("swh", "m", 3.048, (3.048, "m"), (10.0, "ft")),
        ("tcc", "1", 0.5, (50.0, "%"), (50.0, "%")),
        ("tcc", "%", 50.0, (50.0, "%"), (50.0, "%")),
        ("ptype", "1", 5.0, (5.0, "1"), (5.0, "1")),
        ("lftx", "K", -2.0, (-2.0, "°C"), (-3.6, "°F")),
        ("t2m_spread", "K", 1.5, (1.5, "°C"), (2.7, "°F")),
        ("t2m_spread_max", "K", 1.5, (1.5, "°C"), (2.7, "°F")),
        ("t_850_sd", "K", 1.5, (1.5, "°C"), (2.7, "°F")),
        ("g2_0_0_7_l103_2", "K", 3.0, (3.0, "K"), (3.0, "K")),
        ("g2_0_20_1_l10", "kg m-2", 3.0, (3.0, "kg m-2"), (3.0, "kg m-2")),
        ("g2_0_2_2_l7", "m s-1", 10.0, (10.0, "m/s"), (22.369, "mph")),
        ("t2m_prob_gt_300", "%", 45.0, (45.0, "%"), (45.0, "%")),
    ],
)
def test_values_are_shown_in_the_units_that_people_read(
    name: str, unit: str, value: float, metric: tuple[float, str], us: tuple[float, str]
) -> None:
    for system, (shown, words) in (("metric", metric), ("us", us), ("si", (value, unit))):
        assert shown_unit(name, unit, system) == words
        assert conversion_for(name, unit, system)(np.array([value]))[0] == pytest.approx(shown, rel=1e-3)


def test_missing_values_stay_missing() -> None:
    assert np.isnan(conversion_for("t2m", "K", "us")(np.array([np.nan]))[0])
