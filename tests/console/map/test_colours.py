"""The map's colours: every quantity has a palette, distinguishable with any kind of colour vision."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest

from gribmill.console.map.colours import ColourTable, colour_tables
from gribmill.console.map.variables import shown_variable
from gribmill.draw.palette import palettes, rgb_of
from gribmill.grib.names.lexicon import lexicon

Rows = np.ndarray[Any, np.dtype[np.float64]]

# Machado, Oliveira and Fernandes 2009, severity 1.0: linear RGB as seen without one kind of cone.
VISION = {
    "normal": np.eye(3),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "tritanopia": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
}
TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
WHITE = np.array([0.9505, 1.0, 1.089])
STEPS = 9
LEAST = 5.0  # a difference of 2.3 is just noticeable


def lab(colours: list[str], vision: str) -> Rows:
    """CIE Lab values of colours as perceived with a kind of colour vision."""
    rgb = np.array([rgb_of(colour) for colour in colours]) / 255
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    seen = np.clip(linear @ VISION[vision].T, 0, 1)
    ratio = seen @ TO_XYZ.T / WHITE
    f = np.where(ratio > 0.008856, np.cbrt(ratio), 7.787 * ratio + 16 / 116)
    return np.stack([116 * f[:, 1] - 16, 500 * (f[:, 0] - f[:, 1]), 200 * (f[:, 1] - f[:, 2])], axis=1)


def steps_of(table: ColourTable) -> list[str]:
    """Evenly spaced colours of a scale."""
    if table["colours"]:
        coloured = [colour for colour in table["colours"] if colour is not None]
        return [coloured[round(n)] for n in np.linspace(0, len(coloured) - 1, min(STEPS, len(coloured)))]
    places = [place for place, _ in table["stops"]]
    channels = np.array([rgb_of(colour) for _, colour in table["stops"]])
    at = np.linspace(places[0], places[-1], STEPS)
    mixed = np.stack([np.interp(at, places, channels[:, k]) for k in range(3)], axis=1)
    return ["#{:02x}{:02x}{:02x}".format(*row) for row in np.rint(mixed).astype(int).tolist()]


@pytest.mark.parametrize("vision", VISION)
def test_no_two_steps_of_a_scale_look_alike(vision: str) -> None:
    for name in (*palettes(), "difference"):
        steps = steps_of(colour_tables()["clear"][name])
        if name == "direction":
            steps = steps[:-1]  # the circle closes
        assert not look_alike(steps, vision), f"{name} with {vision}: {steps}"


def look_alike(steps: list[str], vision: str) -> list[tuple[int, int]]:
    seen = lab(steps, vision)
    pairs = combinations(range(len(steps)), 2)
    return [(a, b) for a, b in pairs if float(np.linalg.norm(seen[a] - seen[b])) < LEAST]


def test_conventional_colours_fail_for_some_colour_vision() -> None:
    """Justifies the second set of colours, and proves that the check can fail."""
    steps = steps_of(colour_tables()["usual"]["reflectivity"])
    assert not look_alike(steps, "normal")
    assert look_alike(["#c8b400", "#a5c400"], "deuteranopia")
    usual = colour_tables()["usual"]
    assert [name for name in palettes() if look_alike(steps_of(usual[name]), "deuteranopia")]


def test_every_palette_has_levels_and_colours_that_fit() -> None:
    for tables in colour_tables().values():
        for name, table in tables.items():
            assert bool(table["stops"]) != bool(table["levels"]), name
            assert len(table["colours"]) == (len(table["levels"]) + 1 if table["levels"] else 0), name
            places = [place for place, _ in table["stops"]]
            assert places == sorted(places), name


def test_every_variable_of_the_lexicon_can_be_shown() -> None:
    tables = colour_tables()["clear"]
    for name, variable in lexicon().rows.items():
        shown = shown_variable(name, variable.units)
        assert shown["palette"] in tables
        assert all(np.isfinite(number) for key in ("metric", "us") for number in shown[key][1:])


def test_units_suit_the_readers() -> None:
    assert shown_variable("t2m", "K")["metric"] == ("°C", 1, -273.15)
    assert shown_variable("t2m", "K")["us"] == ("°F", 1.8, -459.67)
    assert shown_variable("ws10", "m s-1")["palette"] == "wind"
    assert shown_variable("ws_250", "m s-1")["palette"] == "wind_upper"
    assert shown_variable("anything", "furlong")["metric"] == ("furlong", 1.0, 0.0)
