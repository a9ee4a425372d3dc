"""Conversions from the units of GRIB to those that forecasts, maps and meteograms show."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gribmill.arrays import AnyFloats, Floats

STANDARD_GRAVITY = 9.80665
KNOTS_PER_M_S = 3600 / 1852
MILE_M, FOOT_M, INCH_MM, INHG_PA = 1609.344, 0.3048, 25.4, 3386.389


@dataclass(frozen=True, slots=True)
class Conversion:
    """shown = given × factor + offset."""

    factor: float = 1.0
    offset: float = 0.0

    def __call__(self, values: AnyFloats) -> Floats:
        return np.asarray(values, dtype=np.float64) * self.factor + self.offset


# (given, shown), both as `spelled` writes them.
CONVERSIONS = {
    ("K", "°C"): Conversion(1, -273.15),
    ("K", "°F"): Conversion(1.8, -459.67),
    ("°F", "°C"): Conversion(5 / 9, -160 / 9),
    ("Pa", "hPa"): Conversion(0.01),
    ("Pa", "inHg"): Conversion(1 / INHG_PA),
    ("kg m-2", "mm"): Conversion(),
    ("kg m-2", "in"): Conversion(1 / INCH_MM),
    ("m", "mm"): Conversion(1000),
    ("m", "cm"): Conversion(100),
    ("m", "km"): Conversion(0.001),
    ("m", "in"): Conversion(1000 / INCH_MM),
    ("m", "ft"): Conversion(1 / FOOT_M),
    ("m", "mi"): Conversion(1 / MILE_M),
    ("kg m-2 s-1", "mm h-1"): Conversion(3600),
    ("kg m-2 s-1", "in h-1"): Conversion(3600 / INCH_MM),
    ("mm s-1", "mm h-1"): Conversion(3600),
    ("m s-1", "mm h-1"): Conversion(3_600_000),
    ("m s-1", "in h-1"): Conversion(3_600_000 / INCH_MM),
    ("1", "%"): Conversion(100),
    ("kg kg-1", "g kg-1"): Conversion(1000),
    ("m2 s-2", "gpm"): Conversion(1 / STANDARD_GRAVITY),
    ("m", "gpm"): Conversion(),
    ("m2 s-2", "m"): Conversion(1 / STANDARD_GRAVITY),
    ("m3 m-3", "%"): Conversion(100),
    ("1", "m3 m-3"): Conversion(),
    ("s-1", "10-5 s-1"): Conversion(1e5),
    ("kt", "m s-1"): Conversion(1 / KNOTS_PER_M_S),
    ("km h-1", "m s-1"): Conversion(1 / 3.6),
    ("mph", "m s-1"): Conversion(0.44704),
    ("m s-1", "kt"): Conversion(KNOTS_PER_M_S),
    ("m s-1", "mph"): Conversion(3600 / MILE_M),
    ("in", "mm"): Conversion(INCH_MM),
}
SPELLINGS = {
    "kelvin": "K",
    "degC": "°C",
    "C": "°C",
    "celsius": "°C",
    "degF": "°F",
    "F": "°F",
    "(0 - 1)": "1",
    "fraction": "1",
    "Proportion": "1",
    "percent": "%",
    "dB": "dBZ",
    "degree": "°",
    "degrees": "°",
    "deg": "°",
    "degree true": "°",
    "Degree true": "°",
    "knots": "kt",
    "kts": "kt",
    "mi h-1": "mph",
    "meter": "m",
    "metre": "m",
    "mb": "hPa",
    "mm of water equivalent": "mm",
    "m of water equivalent": "m",
}
SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")


def spelled(units: str) -> str:
    """One spelling for `m/s`, `m s**-1`, `m s^-1` and `m s-1`."""
    text = units.strip().translate(SUPERSCRIPTS).replace("**", "").replace("^", "").replace(".", " ")
    text = SPELLINGS.get(text, text)
    head, *below = text.split("/")
    for part in below:
        unit = part.strip()
        name = unit.rstrip("0123456789")
        head += f" {name}-{unit[len(name) :] or 1}"
    return SPELLINGS.get(head, head)


def conversion(given: str, shown: str) -> Conversion | None:
    """The conversion from `given` to `shown`, in any spelling; None if there is none."""
    ours, theirs = spelled(given), spelled(shown)
    if ours == theirs:
        return Conversion()
    return CONVERSIONS.get((ours, theirs))
