"""The kinds of level of both editions, with the text that wgrib2 writes for each."""

from __future__ import annotations

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
