"""Palettes and the scales cut from them."""

import numpy as np
import pytest

from gribmill.draw.palette import palette, palettes
from gribmill.draw.scale import level_label, scale_for
from gribmill.grib.names.lexicon import lexicon
from gribmill.tiles.read.unit_conversion import conversion, spelled


@pytest.mark.parametrize("name", sorted(palettes()))
def test_a_palette_has_a_colour_for_every_step_and_rising_places(name: str) -> None:
    chosen = palettes()[name]
    if chosen.levels:
        assert len(chosen.colours) == len(chosen.levels) + 1
        assert (np.diff(chosen.levels) > 0).all()
    else:
        places = [place for place, _ in chosen.stops]
        assert (np.diff(places) > 0).all()
        assert chosen.relative == (places[0] == 0 and places[-1] == 1)
        assert chosen.relative or list(chosen.steps) == sorted(chosen.steps) != []


@pytest.mark.parametrize("name", sorted(palettes()))
@pytest.mark.parametrize("values", [[np.nan, np.nan], [281.0, 281.0], [0.0, 0.0], [-1e6, 1e6], [1e-9, 2e-9]])
def test_any_values_get_a_scale(name: str, values: list[float]) -> None:
    scale = scale_for(np.array(values, np.float32), palettes()[name].units, name)
    assert len(scale.colours) == len(scale.levels) + 1 <= 80
    assert (np.diff(scale.levels) > 0).all()
    assert scale.rgb(np.array(values), (0, 0, 0), (1, 1, 1)).shape == (2, 3)


def test_every_palette_of_the_lexicon_exists() -> None:
    assert {row.palette for row in lexicon().rows.values()} <= set(palettes())


def test_a_temperature_has_the_same_colour_on_every_map() -> None:
    warm = scale_for(np.array([290.0, 310.0]), "K", "temperature")
    wide = scale_for(np.array([250.0, 310.0]), "K", "temperature")
    at = np.array([21.0])
    difference = warm.rgb(at, (0, 0, 0), (0, 0, 0)).astype(int) - wide.rgb(at, (0, 0, 0), (0, 0, 0))
    assert np.abs(difference).max() < 25  # steps of another width, cut from the same blend


def test_kelvins_on_a_round_level_fall_above_it() -> None:
    scale = scale_for(np.array([263.15, 293.15], np.float32), "K", "temperature")
    freezing = scale.convert(np.array([273.15], np.float32))
    assert scale.levels[int(scale.bins(freezing)[0]) - 1] == 0


def test_drizzle_below_the_first_step_is_not_coloured() -> None:
    scale = scale_for(np.array([0.0, 0.05, 12.0]), "kg m-2", "precipitation")
    colours = scale.rgb(np.array([0.05, 12.0, np.nan]), (9, 9, 9), (7, 7, 7)).tolist()
    assert colours[0] == [9, 9, 9] and colours[2] == [7, 7, 7]
    assert tuple(colours[1]) == palette("precipitation").colours[6]


def test_metres_of_water_are_shown_as_millimetres() -> None:
    scale = scale_for(np.array([0.012]), "m", "precipitation")
    assert scale.convert(np.array([0.012]))[0] == pytest.approx(12) and scale.units == "mm"


def test_units_that_do_not_fit_the_palette_get_the_generic_one() -> None:
    scale = scale_for(np.array([1.0, 2.0]), "furlong", "temperature")
    assert scale.palette.name == "generic" and scale.units == "furlong"


def test_one_wild_point_does_not_stretch_a_scale_that_follows_the_data() -> None:
    values = np.append(np.linspace(0, 1, 5000), 1e9)
    assert scale_for(values, "x", "generic").levels[-1] < 2


@pytest.mark.parametrize("text", ["m/s", "m s**-1", "m s^-1", "m.s-1", "m s⁻¹"])
def test_the_spellings_of_a_unit_are_one(text: str) -> None:
    assert spelled(text) == "m s-1"


def test_fahrenheit_and_knots_convert() -> None:
    fahrenheit, knots = conversion("degF", "°C"), conversion("kt", "m/s")
    assert fahrenheit and fahrenheit(np.array([212.0]))[0] == pytest.approx(100)
    assert knots and knots(np.array([1.0]))[0] == pytest.approx(0.514444, abs=1e-6)


def test_levels_are_written_short_with_a_true_minus() -> None:
    assert [level_label(x) for x in (-5.0, 0.25, 1013.0)] == ["−5", "0.25", "1013"]
