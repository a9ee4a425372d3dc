"""A level as part of a variable's name: `t_850`, `u_30m`, `gh_trop`, `tsoil_0_10cm`."""

from __future__ import annotations

import re

# By the level's text: {} is a number, written with `p` for the point.
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
_NUMBER = r"(\d{1,5}(?:p\d{1,4})?)"
# Depths below the ground are given in metres and named in centimetres.
_DEPTHS = {"{}-{} m below ground", "{} m underground"}
_CENTIMETRES = re.compile(rf"{_NUMBER}(?:_{_NUMBER})?cm")


def level_suffix(words: str, numbers: tuple[str, ...]) -> str:
    """The level's part of a family's name: `850`, `0p4`, `0_10cm`, `30m`, `trop`."""
    if words in _DEPTHS:
        depths = [f"{float(number) * 100:g}".replace(".", "p") for number in dict.fromkeys(numbers)]
        return "_".join(depths) + "cm"
    return SUFFIXES[words].format(*(number.replace(".", "p") for number in numbers))


def level_of_suffix(words: str, suffix: str) -> tuple[str, ...] | None:
    """The numbers from which `level_suffix` forms that suffix; None if it is of another level."""
    if words not in _DEPTHS:
        found = re.fullmatch(SUFFIXES[words].replace("{}", _NUMBER), suffix)
        return tuple(text.replace("p", ".") for text in found.groups()) if found else None
    deep = _CENTIMETRES.fullmatch(suffix)
    if not deep:
        return None
    metres = tuple(f"{float(text.replace('p', '.')) / 100:g}" for text in deep.groups() if text)
    wanted = words.count("{}")
    return metres * wanted if len(metres) == 1 else metres if wanted == 2 else None
