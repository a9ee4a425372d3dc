"""Describes how a field's values are packed: packing, bits per value, scaling and precision."""

from __future__ import annotations

from dataclasses import dataclass

from gribmill.grib.errors import GribError
from gribmill.grib.sections import NO_BITMAP, Octets, Sections1, Sections2, ibm32, ieee32, signed, unsigned

NAMES2 = {
    0: "simple", 1: "matrix", 2: "complex", 3: "complex+diff", 4: "ieee", 40: "jpeg2000", 41: "png", 42: "ccsds",
    50: "spectral", 51: "spectral complex", 61: "simple+log", 200: "run length", 40000: "jpeg2000", 40010: "png",
    50001: "second order", 50002: "second order",
}  # fmt: skip
# Templates that start like 5.0: reference, binary and decimal scale, bits.
SCALED2 = {0, 2, 3, 40, 41, 42, 40000, 40010, 50001, 50002}
IEEE = 4
# Templates for logarithms and spherical harmonics, which also have the bits per value in octet 20.
OTHERWISE_SCALED2 = {50, 51, 61}
# All of them begin with a reference value.
REFERENCED2 = SCALED2 | OTHERWISE_SCALED2
# By the first four flag bits of GRIB1: spherical harmonics, complex packing, integers, more flags in octet 14.
NAMES1 = {0: "simple", 1: "matrix", 2: "simple", 3: "ieee", **dict.fromkeys((4, 5, 6, 7), "second order")}


@dataclass(frozen=True, slots=True)
class FieldPacking:
    """value = (reference + integer × 2^binary) × 10^-decimal; None for numbers that the packing does not have."""

    name: str
    template: int | None
    points: int
    coded: int | None
    bits: int | None
    reference: float | None
    binary: int | None
    decimal: int | None
    bitmap: bool

    @property
    def step(self) -> float | None:
        """The precision: the difference between two adjacent packed values."""
        if self.binary is None or self.decimal is None or abs(self.binary) > 1000 or abs(self.decimal) > 300:
            return None
        return float(2.0**self.binary * 10.0**-self.decimal)


def packing2(sections: Sections2) -> FieldPacking:
    """The packing of a GRIB2 field, from its sections 3, 5 and 6."""
    section = sections.packing
    template = unsigned(section, 10, 11)
    scaled = template in SCALED2
    return FieldPacking(
        name=NAMES2.get(template, f"5.{template}"),
        template=template,
        points=unsigned(sections.grid, 7, 10),
        coded=unsigned(section, 6, 9),
        bits=_bits2(section, template),
        reference=ieee32(section, 12) if scaled else None,
        binary=signed(section, 16, 17) if scaled else None,
        decimal=signed(section, 18, 19) if scaled else None,
        bitmap=sections.bitmap[5] != NO_BITMAP,
    )


def packing1(sections: Sections1, points: int) -> FieldPacking:
    """The packing of a GRIB1 field with this number of points."""
    data = sections.data
    flags = data[3] >> 4
    name = NAMES1.get(flags, "spectral complex" if flags & 4 else "spectral")
    ieee = name == "ieee"
    return FieldPacking(
        name=name,
        template=None,
        points=points,
        coded=None,
        bits=8 * ieee_bytes(data) if ieee else unsigned(data, 11, 11),
        reference=None if ieee else ibm32(data, 7),
        binary=None if ieee else signed(data, 5, 6),
        decimal=None if ieee else signed(sections.product, 27, 28),
        bitmap=bool(sections.bitmap),
    )


def _bits2(section: bytes, template: int) -> int | None:
    if template == IEEE:
        return 8 * ieee_bytes(section)
    return unsigned(section, 20, 20) if template in REFERENCED2 else None


def ieee_bytes(section: Octets) -> int:
    """Bytes per value (code table 5.7), from octet 12 of GRIB2's section 5 or of GRIB1's data section."""
    sizes = {1: 4, 2: 8, 3: 16}
    precision = unsigned(section, 12, 12)
    if precision not in sizes:
        raise GribError(f"IEEE precision {precision} is unknown")
    return sizes[precision]
