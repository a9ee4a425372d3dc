"""Levels as wgrib2 writes them, and as part of a variable's name: `850 mb` and `t_850`.

The kinds of level are those of GRIB2's code table 4.5; those of GRIB1 are converted.
"""

from __future__ import annotations

import re
from functools import lru_cache

from gribmill.grib.product.keys import Level

# Code table 4.5 and NCEP's local kinds: surfaces without a value.
NAMED = {
    1: "surface", 2: "cloud base", 3: "cloud top", 4: "0C isotherm",
    5: "level of adiabatic condensation from sfc", 6: "max wind", 7: "tropopause", 8: "top of atmosphere",
    9: "sea bottom", 10: "entire atmosphere", 14: "level of free convection",
    17: "level of the most unstable parcel", 101: "mean sea level",
    # Kinds of the National Blend that NCEP has not documented; wgrib2 calls each of them `reserved`.
    195: "reserved_195", 196: "reserved_196", 197: "reserved_197",
    200: "entire atmosphere (considered as a single layer)",
    201: "entire ocean (considered as a single layer)", 204: "highest tropospheric freezing level",
    206: "grid scale cloud bottom level", 207: "grid scale cloud top level", 209: "boundary layer cloud bottom level",
    210: "boundary layer cloud top level", 211: "boundary layer cloud layer", 212: "low cloud bottom level",
    213: "low cloud top level", 214: "low cloud layer", 215: "cloud ceiling", 220: "planetary boundary layer",
    222: "middle cloud bottom level", 223: "middle cloud top level", 224: "middle cloud layer",
    232: "high cloud bottom level", 233: "high cloud top level", 234: "high cloud layer",
    242: "convective cloud bottom level", 243: "convective cloud top level", 244: "convective cloud layer",
    245: "lowest level of the wet bulb zero", 247: "equilibrium level",
}  # fmt: skip

# Kinds with a value: the text for one surface, the text for a layer, and the size of the unit in SI.
VALUED: dict[int, tuple[str, str, float]] = {
    18: ("{} mb mixed layer", "{}-{} mb mixed layer", 100),
    20: ("{} K level", "{} K level - {} K level", 1),
    100: ("{} mb", "{}-{} mb", 100),
    102: ("{} m above mean sea level", "{}-{} m above mean sea level", 1),
    103: ("{} m above ground", "{}-{} m above ground", 1),
    104: ("{} sigma level", "{}-{} sigma layer", 1),
    105: ("{} hybrid level", "{}-{} hybrid layer", 1),
    106: ("{} m underground", "{}-{} m below ground", 1),
    107: ("{} K isentropic level", "{}-{} K isentropic layer", 1),
    108: ("{} mb above ground", "{}-{} mb above ground", 100),
    109: ("PV={} (Km^2/kg/s) surface", "PV={}-{} (Km^2/kg/s) layer", 1),
    111: ("{} Eta level", "{}-{} Eta layer", 1),
    118: ("{} hybrid height level", "{}-{} hybrid height layer", 1),
    119: ("{} hybrid pressure level", "{}-{} hybrid pressure layer", 1),
    150: ("{} generalized vertical height coordinate", "{}-{} generalized vertical height coordinate", 1),
    160: ("{} m below sea level", "{}-{} m below sea level", 1),
    241: ("{} in sequence", "{}-{} in sequence", 1),
}
SOIL_LEVEL = 151

_NUMBER = re.compile(r"(?<![\w.^])(?<!\de-)(\d+(?:\.\d+)?)(?![\w.])")


def level_text(level: Level | None, level2: Level | None) -> str:
    """`2 m above ground`, `180-0 mb above ground`, `surface`; `kind 117 value 3` for a kind without a text."""
    if level is None:
        return "" if level2 is None else _one(level2)
    if level.kind == SOIL_LEVEL:
        # A layer is numbered by its lower bound; the top one has no upper bound.
        deeper = level2 if level2 and level2.kind == SOIL_LEVEL else level
        return f"soil level {_number(deeper.value or 0)}"
    if level2 is None or (level.kind == level2.kind and level.kind in NAMED):
        return _one(level)
    if level.kind == level2.kind and level.kind in VALUED and None not in (level.value, level2.value):
        _, text, unit = VALUED[level.kind]
        return text.format(_number((level.value or 0) / unit), _number((level2.value or 0) / unit))
    return f"{_one(level)} - {_one(level2)}"


@lru_cache(maxsize=1024)
def family(text: str) -> tuple[str, tuple[str, ...]]:
    """The text with {} in place of each number, and the numbers: `500 mb` is (`{} mb`, (`500`,))."""
    return _NUMBER.sub("{}", text), tuple(_NUMBER.findall(text))


def _one(level: Level) -> str:
    if level.kind in NAMED:
        return NAMED[level.kind]
    if level.kind in VALUED and level.value is not None:
        text, _, unit = VALUED[level.kind]
        return text.format(_number(level.value / unit))
    return f"kind {level.kind}" + ("" if level.value is None else f" value {_number(level.value)}")


def _number(value: float) -> str:
    return f"{value:g}"


# Suffixes by the level's text: {} is a number, with `p` for the decimal point.
SUFFIXES = {
    "{} mb": "{}",
    "soil level {}": "{}",
    "{} in sequence": "{}",
    "{} hybrid level": "hyb{}",
    "{} sigma level": "sigma{}",
    "{}-{} sigma layer": "sigma{}_{}",
    "{} m above ground": "{}m",
    "{}-{} m above ground": "{}_{}m",
    "{} m above mean sea level": "{}m_msl",
    "{}-{} mb above ground": "{}_{}hpa_agl",
    "PV=2e-06 (Km^2/kg/s) surface": "pv2",
    "PV=-2e-06 (Km^2/kg/s) surface": "pvm2",
    "tropopause": "trop",
    "max wind": "maxwind",
    "top of atmosphere": "toa",
    "0C isotherm": "0c",
    "highest tropospheric freezing level": "hfrz",
    "planetary boundary layer": "pbl",
    "entire atmosphere": "column",
    "entire atmosphere (considered as a single layer)": "column",
    "cloud base": "cloudbase",
    "cloud top": "cloudtop",
    "low cloud bottom level": "lcb",
    "low cloud top level": "lct",
    "middle cloud bottom level": "mcb",
    "middle cloud top level": "mct",
    "high cloud bottom level": "hcb",
    "high cloud top level": "hct",
    "convective cloud bottom level": "ccb",
    "convective cloud top level": "cct",
    "boundary layer cloud layer": "blc",
    "convective cloud layer": "conv",
}
_SUFFIX_NUMBER = r"(\d{1,5}(?:p\d{1,4})?)"
# Depths below the ground are given in metres and named in centimetres.
_DEPTHS = {"{}-{} m below ground", "{} m underground"}
_CENTIMETRES = re.compile(rf"{_SUFFIX_NUMBER}(?:_{_SUFFIX_NUMBER})?cm")


def level_suffix(words: str, numbers: tuple[str, ...]) -> str:
    """The level's part of a family's name: `850`, `0p4`, `0_10cm`, `30m`, `trop`."""
    if words in _DEPTHS:
        depths = [f"{float(number) * 100:g}".replace(".", "p") for number in dict.fromkeys(numbers)]
        return "_".join(depths) + "cm"
    return SUFFIXES[words].format(*(number.replace(".", "p") for number in numbers))


def level_of_suffix(words: str, suffix: str) -> tuple[str, ...] | None:
    """The inverse of `level_suffix`: the numbers in a suffix; None if it does not match the level."""
    if words not in _DEPTHS:
        found = re.fullmatch(SUFFIXES[words].replace("{}", _SUFFIX_NUMBER), suffix)
        return tuple(text.replace("p", ".") for text in found.groups()) if found else None
    deep = _CENTIMETRES.fullmatch(suffix)
    if not deep:
        return None
    metres = tuple(f"{float(text.replace('p', '.')) / 100:g}" for text in deep.groups() if text)
    wanted = words.count("{}")
    return metres * wanted if len(metres) == 1 else metres if wanted == 2 else None
