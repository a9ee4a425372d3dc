"""The steps and colours one field is drawn with: a palette fitted to the field's values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gribmill.draw.palette import Palette, Rgb, palette
from gribmill.tiles.read.unit_conversion import Conversion, conversion

FEWEST_STEPS = 14  # finer steps are used until the field has at least this many
STEPS_WANTED = 20  # of a scale that follows the data
MOST_STEPS = 36  # more cannot be distinguished
BULK_PERCENT = (0.2, 99.8)  # where a scale follows the data, single wild points do not stretch it


@dataclass(frozen=True, slots=True)
class Scale:
    """Ascending levels with len(levels) + 1 colours (None: nothing is drawn), in the units shown."""

    levels: tuple[float, ...]
    colours: tuple[Rgb | None, ...]
    units: str
    convert: Conversion
    palette: Palette

    def bins(self, shown: NDArray[np.floating]) -> NDArray[np.intp]:
        """Which colour each value takes; a value on a level takes the colour above it."""
        # A hair of slack: float32 kelvins turned to °C miss round levels by rounding.
        slack = 1e-5 * max(1e-30, self.levels[-1] - self.levels[0])
        return np.asarray(np.digitize(shown, np.asarray(self.levels) - slack))

    def rgb(self, shown: NDArray[np.floating], nothing: Rgb, missing: Rgb) -> NDArray[np.uint8]:
        """Colours of values in shown units; `nothing` where the scale draws none, `missing` at NaN."""
        table = np.array([nothing if c is None else c for c in self.colours] + [missing], dtype=np.uint8)
        return table[np.where(np.isnan(shown), len(self.colours), self.bins(shown))]

    def label(self, value: float) -> str:
        """A value with as many decimals as its scale makes sense of."""
        gaps = np.diff(self.levels)
        gap = float(gaps.min()) if len(gaps) else 1.0
        if not 1e-4 <= gap < 1e7:
            return f"{value:.4g}"
        decimals = max(1, int(np.ceil(-np.log10(gap) - 1e-9)))
        text = f"{value:.{decimals}f}" if abs(value) < 1e5 else f"{value:.6g}"
        return text.removeprefix("-") if float(text) == 0 else text


def level_label(value: float) -> str:
    """A level as short as it can be written."""
    text = f"{value:.6g}"
    return text.replace("-", "−", 1) if text.startswith("-") else text


def scale_for(values: NDArray[np.floating], units: str, name: str) -> Scale:
    """The scale for these values by the palette's name; a generic one where their units do not fit it."""
    chosen = palette(name)
    convert = conversion(units, chosen.units) if chosen.units else Conversion()
    if convert is None:
        chosen, convert = palette("generic"), Conversion()
    shown = convert(values)
    finite = shown[np.isfinite(shown)]
    if chosen.levels:
        levels, colours = chosen.levels, chosen.colours
    elif chosen.relative:
        levels, colours = _following(finite, chosen)
    else:
        levels, colours = _anchored(finite, chosen)
    return Scale(levels, colours, chosen.units or units, convert, chosen)


def _anchored(finite: NDArray[np.float64], chosen: Palette) -> tuple[tuple[float, ...], tuple[Rgb | None, ...]]:
    """Steps over the field's range, each with the colour that its value has on every map."""
    first, last = chosen.stops[0][0], chosen.stops[-1][0]
    low = float(np.clip(finite.min(), first, last)) if len(finite) else first
    high = float(np.clip(finite.max(), first, last)) if len(finite) else last
    fitting = [step for step in chosen.steps if FEWEST_STEPS <= (high - low) / step <= MOST_STEPS]
    step = max(fitting, default=chosen.steps[-1] if high - low > chosen.steps[-1] else chosen.steps[0])
    levels = _steps(low, high, step)
    middles = np.concatenate([[levels[0] - step / 2], levels[:-1] + step / 2, [levels[-1] + step / 2]])
    return tuple(levels.tolist()), _tuples(chosen.blend(middles))


def _following(finite: NDArray[np.float64], chosen: Palette) -> tuple[tuple[float, ...], tuple[Rgb | None, ...]]:
    """Round steps over the bulk of the data, the palette's whole range spread over them."""
    low, high = np.percentile(finite, BULK_PERCENT).tolist() if len(finite) else (0.0, 1.0)
    if high <= low and len(finite):
        low, high = float(finite.min()), float(finite.max())
    step = round_step((high - low) / STEPS_WANTED) if high > low else round_step(abs(low) / 10 or 1.0)
    levels = _steps(low, high, step)
    shares = np.linspace(0, 1, len(levels) + 1)
    return tuple(levels.tolist()), _tuples(chosen.blend(shares))


def round_step(width: float) -> float:
    """The nearest of 1, 2, 2.5, 5 times a power of ten that is not smaller."""
    power = 10.0 ** np.floor(np.log10(width))
    return float(next(m * power for m in (1, 2, 2.5, 5, 10) if m * power >= width * 0.999))


def _steps(low: float, high: float, step: float) -> NDArray[np.float64]:
    first, last = np.floor(low / step + 1e-6), np.ceil(high / step - 1e-6)
    if last <= first:
        first, last = first - 1, first + 1
    digits = max(0, 3 - int(np.floor(np.log10(step))))  # enough for the step, too few for rounding errors
    return np.round(np.arange(first, last + 1) * step, digits) + 0.0


def _tuples(colours: NDArray[np.uint8]) -> tuple[Rgb | None, ...]:
    return tuple((int(r), int(g), int(b)) for r, g, b in colours)
