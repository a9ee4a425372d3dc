"""The levels and colours for drawing one field: a palette fitted to the field's values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from gribmill.draw.drawable import Drawable, ShownUnits, ValueRange
from gribmill.draw.errors import DrawError
from gribmill.draw.palette import Palette, Rgb, palette, rgb_of
from gribmill.tiles.read.units import Conversion, conversion

FEWEST_STEPS = 14  # finer steps are used until the field has at least this many
STEPS_WANTED = 20  # for a scale that follows the data
MOST_STEPS = 36  # more cannot be distinguished
BULK_PERCENT = (0.2, 99.8)  # outliers beyond do not stretch a scale
TAIL_SHARE = 0.25  # of the bulk's range: points within it are not outliers
FEWEST_LEVELS = 3  # of a palette's own levels within given limits
WIDE_STEP = 50  # between levels: values are shown without decimals
DIMENSIONLESS = ("1", "-", "~", "Numeric")
MOST_CODES = 40  # a field with more distinct values is not a code field
YES_NO = {0: "no", 1: "yes"}
# The first words found in a meaning determine its colour; None is not coloured.
CODE_COLOURS: tuple[tuple[str, str | None], ...] = (
    ("no precipitation", None), ("freezing drizzle", "#f7a6c4"), ("freezing rain", "#d7263d"), ("freezing", "#d7263d"),
    ("ice pellets", "#8a4fbf"), ("sleet", "#8a4fbf"), ("wet snow", "#57c4d8"), ("mix", "#e58cc8"),
    ("snow", "#2f6fd0"), ("graupel", "#5b4b9a"), ("hail", "#3b1f5e"), ("thunder", "#f2a71b"), ("drizzle", "#a5d67a"),
    ("rain", "#3f9d5c"), ("yes", "#2f7fc4"), ("land", "#c9b98f"), ("sea", None), ("water", None), ("missing", None),
)  # fmt: skip
NOTHING = {"no", "none", "no data", "nothing", "reserved"}
OTHERS = ("#4c78a8", "#f58518", "#54a24b", "#b279a2", "#e45756", "#72b7b2", "#eeca3b", "#9d755d", "#bab0ac", "#ff9da6")

Levels = tuple[float, ...]
Colours = tuple[Rgb | None, ...]


@dataclass(frozen=True, slots=True)
class Scale:
    """Ascending levels with len(levels) + 1 colours (None: nothing is drawn), in the units shown.

    A code field has a meaning for each colour in `meanings`.
    """

    levels: Levels
    colours: Colours
    units: str
    convert: Conversion
    palette: Palette
    meanings: tuple[str, ...] = ()
    contour_step: float | None = None
    contour_at: Levels = ()

    @property
    def blended(self) -> bool:
        """Whether values may be interpolated between points: false for codes and directions."""
        return not self.meanings and not self.palette.categories and self.palette.name != "direction"

    def bins(self, shown: NDArray[np.floating]) -> NDArray[np.intp]:
        """The number of each value's colour; a value on a level gets the colour above it."""
        # A small tolerance: float32 kelvins converted to °C miss round levels by rounding.
        slack = 1e-5 * max(1e-30, self.levels[-1] - self.levels[0])
        return np.asarray(np.digitize(shown, np.asarray(self.levels) - slack))

    def rgb(self, shown: NDArray[np.floating], nothing: Rgb, missing: Rgb) -> NDArray[np.uint8]:
        """Colours of values in shown units; `nothing` where the scale draws none, `missing` at NaN."""
        table = np.array([nothing if c is None else c for c in self.colours] + [missing], dtype=np.uint8)
        return table[np.where(np.isnan(shown), len(self.colours), self.bins(shown))]

    def label(self, value: float) -> str:
        """A value with as many decimals as suit its scale; the meaning of a code."""
        if self.meanings:
            return self.meanings[int(self.bins(np.array([value]))[0])]
        gaps = np.diff(self.levels)
        gap = float(gaps.min()) if len(gaps) else 1.0
        if not 1e-4 <= gap < 1e7:
            return f"{value:.4g}"
        decimals = 0 if gap >= WIDE_STEP else max(1, int(np.ceil(-np.log10(gap) - 1e-9)))
        text = f"{value:.{decimals}f}" if abs(value) < 1e5 else f"{value:.6g}"
        return text.removeprefix("-") if float(text) == 0 else text


def level_label(value: float) -> str:
    """The shortest text for a level."""
    text = f"{value:.6g}"
    return text.replace("-", "−", 1) if text.startswith("-") else text


def scale_of(field: Drawable) -> Scale:
    """The scale of a field, in its units and within its limits."""
    return scale_for(field.values, field.units, field.palette, field.shown, field.limits, field.flags)


def scale_for(
    values: NDArray[np.floating],
    units: str,
    name: str,
    shown: ShownUnits | None = None,
    limits: ValueRange = (None, None),
    flags: Mapping[int, str] | None = None,
) -> Scale:
    """The scale for these values with the named palette; a generic one if their units do not match the palette.

    `shown` are other units than the palette's, `limits` the first and last level instead of the data's range.
    """
    chosen = palette(name)
    if flags or chosen.categories:
        codes = _codes(values, chosen, flags or {})
        if codes is not None:
            return codes
        chosen = palette("share" if units == "1" else "generic")
    native = conversion(units, chosen.units) if chosen.units else Conversion()
    if native is None:
        chosen, native = palette("generic"), Conversion()
    wanted = shown or ShownUnits(chosen.units or units, native)
    return _numbers(wanted.convert(values), chosen, _Units(wanted, native), limits)


@dataclass(frozen=True, slots=True)
class _Units:
    """The units of a map beside those of its palette, both made from those of the data."""

    shown: ShownUnits
    native: Conversion  # to the palette's

    @property
    def ratio(self) -> float:
        """A step in shown units over the same step in the palette's."""
        return self.shown.convert.factor / self.native.factor

    def to_palette(self, shown: NDArray[np.float64]) -> NDArray[np.float64]:
        given = (shown - self.shown.convert.offset) / self.shown.convert.factor
        return np.asarray(given * self.native.factor + self.native.offset)

    def of_palette(self, value: float) -> float:
        given = (value - self.native.offset) / self.native.factor
        return given * self.shown.convert.factor + self.shown.convert.offset

    @property
    def same(self) -> bool:
        return self.shown.convert == self.native


def _numbers(shown: NDArray[np.float64], chosen: Palette, units: _Units, limits: ValueRange) -> Scale:
    finite = shown[np.isfinite(shown)]
    if chosen.levels:
        levels, colours = _fixed(chosen, units, limits)
    elif chosen.relative:
        levels, colours = _following(_range(finite, limits), chosen)
    else:
        levels, colours = _anchored(_range(finite, limits), chosen, units, limits)
    step = chosen.contour_step
    if step and not units.same:
        step = round_step(step * units.ratio)
    at = tuple(units.of_palette(value) for value in chosen.contour_at)
    name = "" if units.shown.units in DIMENSIONLESS else units.shown.units
    return Scale(levels, colours, name, units.shown.convert, chosen, contour_step=step, contour_at=at)


def _codes(values: NDArray[np.floating], chosen: Palette, flags: Mapping[int, str]) -> Scale | None:
    """A scale with a colour for each code; None if the values are not codes."""
    meanings = _meanings(values, flags)
    if not meanings:
        return None
    codes = sorted(meanings)
    if len(codes) == 1:
        codes.append(codes[0] + 1)  # at least two, so that there is a level between them
    levels = tuple((low + high) / 2 for low, high in pairwise(codes))
    colours = tuple(_code_colour(meanings.get(code, "no"), number) for number, code in enumerate(codes))
    texts = tuple(meanings.get(code, "") for code in codes)
    return Scale(levels, colours, "", Conversion(), chosen, meanings=texts)


def _meanings(values: NDArray[np.floating], flags: Mapping[int, str]) -> dict[int, str]:
    """The codes of a field: those with a meaning, and others that occur.

    Empty if the values are not codes: means over a time range, or a wrong table.
    """
    finite = values[np.isfinite(values)]
    present = np.unique(finite)
    if len(present) > MOST_CODES or (present != np.rint(present)).any() or (np.abs(present) > 1e6).any():
        return {}
    codes = {int(code) for code in present}
    known = flags or (YES_NO if codes <= YES_NO.keys() else {})
    return {**{code: f"code {code}" if code else "none" for code in codes}, **known}


def _code_colour(meaning: str, number: int) -> Rgb | None:
    """The colour of a meaning; codes without a known word get colours in turn."""
    words = meaning.lower().replace("_", " ").strip()
    if words in NOTHING:
        return None
    for part, colour in CODE_COLOURS:
        if part in words:
            return rgb_of(colour) if colour else None
    return rgb_of(OTHERS[number % len(OTHERS)])


def _range(finite: NDArray[np.float64], limits: ValueRange) -> tuple[float, float]:
    """The given limits, or else the range of the data without a few outliers."""
    low, high = (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 1.0)
    if len(finite):
        bulk = np.percentile(finite, BULK_PERCENT).tolist()
        tail = TAIL_SHARE * (bulk[1] - bulk[0])
        if tail > 0:
            low, high = low if low >= bulk[0] - tail else bulk[0], high if high <= bulk[1] + tail else bulk[1]
    low, high = low if limits[0] is None else limits[0], high if limits[1] is None else limits[1]
    if None not in limits and low >= high:
        raise DrawError(f"the lowest value of a scale must be below the highest, not {low:g} and {high:g}")
    return low, max(low, high)


def _anchored(data: tuple[float, float], chosen: Palette, units: _Units, limits: ValueRange) -> tuple[Levels, Colours]:
    """Steps over the field's range, each with the colour that its value has on every map."""
    first, last = (units.of_palette(place) for place in (chosen.stops[0][0], chosen.stops[-1][0]))
    low, high = (
        value if limit is not None else min(max(value, first), last) for value, limit in zip(data, limits, strict=True)
    )
    steps = [step if units.same else round_step(step * units.ratio) for step in chosen.steps]
    fitting = [step for step in steps if FEWEST_STEPS <= (high - low) / step <= MOST_STEPS]
    step = max(fitting, default=steps[-1] if high - low > steps[-1] else steps[0])
    if (high - low) / step > MOST_STEPS:
        step = round_step((high - low) / STEPS_WANTED)
    levels = _steps(low, high, step)
    return tuple(levels.tolist()), _tuples(chosen.blend(units.to_palette(_middles(levels, step))))


def _following(data: tuple[float, float], chosen: Palette) -> tuple[Levels, Colours]:
    """Round steps over the bulk of the data, the palette's whole range spread over them."""
    low, high = data
    step = round_step((high - low) / STEPS_WANTED) if high > low else round_step(abs(low) / 10 or 1.0)
    levels = _steps(low, high, step)
    shares = np.linspace(0, 1, len(levels) + 1)
    return tuple(levels.tolist()), _tuples(chosen.blend(shares))


def _fixed(chosen: Palette, units: _Units, limits: ValueRange) -> tuple[Levels, Colours]:
    """The palette's fixed levels within the limits, in the units shown."""
    levels, colours = chosen.levels, chosen.colours
    if not units.same:
        ours = chosen.us_levels if units.shown.units == chosen.us_units else ()
        levels = ours or tuple(float(f"{units.of_palette(level):.3g}") for level in levels)
    low, high = -np.inf if limits[0] is None else limits[0], np.inf if limits[1] is None else limits[1]
    if low >= high:
        raise DrawError(f"the lowest value of a scale must be below the highest, not {low:g} and {high:g}")
    inside = [number for number, level in enumerate(levels) if low <= level <= high]
    if len(inside) >= FEWEST_LEVELS:
        return levels[inside[0] : inside[-1] + 1], colours[inside[0] : inside[-1] + 2]
    low, high = max(low, min(0.0, high - 1)), min(high, max(levels[-1], low + 1))
    step = round_step((high - low) / STEPS_WANTED)
    fine = _steps(low, high, step)
    bins = np.digitize(_middles(fine, step), levels)
    return tuple(fine.tolist()), tuple(colours[number] for number in bins)


def round_step(width: float) -> float:
    """Rounds up to 1, 2, 2.5 or 5 times a power of ten."""
    power = 10.0 ** np.floor(np.log10(width))
    return float(next(m * power for m in (1, 2, 2.5, 5, 10) if m * power >= width * 0.999))


def _middles(levels: NDArray[np.float64], step: float) -> NDArray[np.float64]:
    return np.concatenate([[levels[0] - step / 2], levels[:-1] + step / 2, [levels[-1] + step / 2]])


def _steps(low: float, high: float, step: float) -> NDArray[np.float64]:
    first, last = np.floor(low / step + 1e-6), np.ceil(high / step - 1e-6)
    if last <= first:
        first, last = first - 1, first + 1
    digits = max(0, 3 - int(np.floor(np.log10(step))))  # enough for the step, too few for rounding errors
    return np.round(np.arange(first, last + 1) * step, digits) + 0.0


def _tuples(colours: NDArray[np.uint8]) -> Colours:
    return tuple((int(r), int(g), int(b)) for r, g, b in colours)
