"""Palettes and the scales cut from them."""

import numpy as np
import pytest

from gribmill.draw.drawable import ShownUnits
from gribmill.draw.errors import DrawError
from gribmill.draw.palette import palette, palettes
from gribmill.draw.scale import level_label, scale_for
from gribmill.grib.names.lexicon import lexicon
from gribmill.tiles.read.units import Conversion, conversion, spelled


@pytest.mark.parametrize("name", sorted(palettes()))
def test_a_palette_has_a_colour_for_every_step_and_rising_places(name: str) -> None:
    chosen = palettes()[name]
    if chosen.levels:
        assert len(chosen.colours) == len(chosen.levels) + 1
        assert not chosen.us_levels or (len(chosen.us_levels) == len(chosen.levels) and chosen.us_units)
        assert (np.diff(chosen.us_levels) > 0).all()
        assert (np.diff(chosen.levels) > 0).all()
    else:
        places = [place for place, _ in chosen.stops]
        assert (np.diff(places) > 0).all()
        assert chosen.relative == (places[0] == 0 and places[-1] == 1)
        assert chosen.relative or list(chosen.steps) == sorted(chosen.steps) != []


@pytest.mark.parametrize("values", [[np.nan, np.nan], [281.0, 281.0], [0.0, 0.0], [-1e6, 1e6], [1e-9, 2e-9]])
def test_any_values_get_a_scale(values: list[float]) -> None:
    for name, chosen in palettes().items():
        scale = scale_for(np.array(values, np.float32), chosen.units, name)
        assert len(scale.colours) == len(scale.levels) + 1 <= 80, name
        assert (np.diff(scale.levels) > 0).all(), name
        assert scale.rgb(np.array(values), (0, 0, 0), (1, 1, 1)).shape == (2, 3), name


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


def test_outlier_does_not_stretch_a_scale_that_follows_the_data() -> None:
    values = np.append(np.linspace(0, 1, 5000), 1e9)
    assert scale_for(values, "x", "generic").levels[-1] < 2


@pytest.mark.parametrize("text", ["m/s", "m s**-1", "m s^-1", "m.s-1", "m s⁻¹"])
def test_spellings_of_a_unit_are_equivalent(text: str) -> None:
    assert spelled(text) == "m s-1"


def test_fahrenheit_and_knots_convert() -> None:
    fahrenheit, knots = conversion("degF", "°C"), conversion("kt", "m/s")
    assert fahrenheit and fahrenheit(np.array([212.0]))[0] == pytest.approx(100)
    assert knots and knots(np.array([1.0]))[0] == pytest.approx(0.514444, abs=1e-6)


def test_levels_are_written_short_with_a_true_minus() -> None:
    assert [level_label(x) for x in (-5.0, 0.25, 1013.0)] == ["−5", "0.25", "1013"]


def fahrenheit() -> ShownUnits:
    how = conversion("K", "°F")
    assert how
    return ShownUnits("°F", how)


def test_outlier_does_not_stretch_a_scale_of_fixed_colours() -> None:
    """A dew point of −81 °C in a summer field: the moist part keeps its steps, and the outlier is below the first."""
    values = np.append(np.linspace(283.15, 299.15, 20000), 192.15)
    scale = scale_for(values, "K", "dewpoint")
    assert scale.levels[0] >= 5 and scale.levels[-1] <= 30 and np.diff(scale.levels).max() <= 1
    assert scale.bins(scale.convert(np.array([192.15]))).tolist() == [0]


def test_a_small_deep_low_stays_on_the_scale() -> None:
    values = np.append(np.linspace(100000, 102500, 100000), np.linspace(99500, 100000, 50))
    assert scale_for(values, "Pa", "pressure").levels[0] <= 995


def test_given_limits_are_the_ends_of_the_scale() -> None:
    values = np.linspace(250, 310, 100)
    scale = scale_for(values, "K", "temperature", limits=(-10, 30))
    assert (scale.levels[0], scale.levels[-1]) == (-10, 30)
    assert scale_for(values, "K", "temperature", limits=(-10, None)).levels[0] == -10
    assert scale_for(values, "x", "generic", limits=(None, 300)).levels[-1] == 300
    with pytest.raises(DrawError, match="must be below the highest, not 30 and 10"):
        scale_for(values, "K", "temperature", limits=(30, 10))


def test_limits_within_fixed_levels_keep_their_colours() -> None:
    values = np.array([0.0, 12.0, 90.0])
    whole = scale_for(values, "kg m-2", "precipitation")
    part = scale_for(values, "kg m-2", "precipitation", limits=(1, 50))
    assert (part.levels[0], part.levels[-1]) == (1, 50) and len(part.colours) == len(part.levels) + 1
    black = (0, 0, 0)
    assert part.rgb(np.array([12.0]), black, black).tolist() == whole.rgb(np.array([12.0]), black, black).tolist()
    narrow = scale_for(values, "kg m-2", "precipitation", limits=(6, 9))
    assert (narrow.levels[0], narrow.levels[-1]) == (6, 9) and len(narrow.colours) == len(narrow.levels) + 1


def test_a_temperature_has_its_colour_in_fahrenheit_too() -> None:
    values = np.linspace(262, 305, 1000)
    celsius, other = scale_for(values, "K", "temperature"), scale_for(values, "K", "temperature", fahrenheit())
    assert other.units == "°F" and set(np.diff(other.levels)) == {5.0}
    at, black = np.array([294.2]), (0, 0, 0)
    pair = [scale.rgb(scale.convert(at), black, black).astype(int) for scale in (celsius, other)]
    assert np.abs(pair[0] - pair[1]).max() < 30
    assert other.contour_at == pytest.approx((32.0,))


def test_rain_in_inches_has_round_levels() -> None:
    how = conversion("kg m-2", "in")
    assert how
    scale = scale_for(np.array([0.0, 30.0]), "kg m-2", "precipitation", ShownUnits("in", how))
    assert {0.01, 0.1, 0.5, 1.0, 2.0} <= set(scale.levels) and scale.units == "in"
    assert len(scale.colours) == len(scale.levels) + 1


def test_native_units_are_those_of_the_data() -> None:
    scale = scale_for(np.linspace(99000, 103000, 500), "Pa", "pressure", ShownUnits("Pa", Conversion()))
    assert scale.units == "Pa" and 95000 < scale.levels[0] < 105000 and scale.contour_step == 500


def test_codes_have_meanings_and_colours_and_none_in_between() -> None:
    flags = {0: "no precipitation", 1: "rain", 3: "freezing rain", 5: "snow", 8: "ice pellets"}
    values = np.array([0.0, 1, 3, 5, 8, 9, np.nan])
    scale = scale_for(values, "1", "flag", flags=flags)
    assert [scale.label(value) for value in values[:6]] == [*flags.values(), "code 9"]
    colours = [tuple(rgb) for rgb in scale.rgb(values, (9, 9, 9), (7, 7, 7)).tolist()]
    assert len(set(colours)) == 7 and colours[0] == (9, 9, 9) and colours[6] == (7, 7, 7)
    assert scale.units == "" and not scale.blended


def test_flags_without_a_table_are_no_and_yes() -> None:
    scale = scale_for(np.array([0.0, 1.0]), "1", "flag")
    assert scale.meanings == ("no", "yes") and scale.colours[0] is None and scale.units == ""


def test_shares_of_a_window_are_not_codes() -> None:
    scale = scale_for(np.array([0.0, 0.25, 1.0]), "1", "flag")
    assert scale.units == "%" and not scale.meanings and scale.convert(np.array([0.25]))[0] == 25
