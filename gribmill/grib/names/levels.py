"""Levels as wgrib2 writes them, and as part of a variable's name: `850 mb` and `t_850`."""

from __future__ import annotations

import re
from functools import lru_cache

from gribmill.grib.product.keys import Level
from gribmill.grib.product.level_kinds import NAMED, VALUED

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
