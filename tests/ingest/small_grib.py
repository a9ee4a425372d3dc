"""GRIB2 messages with payloads of any size, whole files of them, and their indexes."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from gribmill.sandbox.forecast.index_lines import noaa_lines
from gribmill.sandbox.grib_writer.sections import message as write_message
from gribmill.sandbox.grib_writer.sections import section
from tests.ingest.product_section import Accumulation, product_section, time_octets

RUN = datetime(2026, 9, 1, 12, tzinfo=UTC)


@dataclass(frozen=True)
class SmallField:
    """A line of an index, and the GRIB parameter behind it."""

    element: str
    level: str
    parameter: tuple[int, int, int]
    surface: tuple[int, int] = (1, 0)
    window: tuple[int, int] | None = None


FIELDS = {
    "t2m": SmallField("TMP", "2 m above ground", (0, 0, 0), (103, 2)),
    "d2m": SmallField("DPT", "2 m above ground", (0, 0, 6), (103, 2)),
    "u10": SmallField("UGRD", "10 m above ground", (0, 2, 2), (103, 10)),
    "v10": SmallField("VGRD", "10 m above ground", (0, 2, 3), (103, 10)),
    "gust": SmallField("GUST", "surface", (0, 2, 22)),
    "sp": SmallField("PRES", "surface", (0, 3, 0)),
    "vis": SmallField("VIS", "surface", (0, 19, 0)),
    "cape": SmallField("CAPE", "surface", (0, 7, 6)),
    "tp": SmallField("APCP", "surface", (0, 1, 8), window=(0, 1)),
    # Not wanted.
    "t500": SmallField("TMP", "500 mb", (0, 0, 0), (100, 50000)),
    "land": SmallField("LAND", "surface", (2, 0, 0)),
    "hgt500": SmallField("HGT", "500 mb", (0, 3, 5), (100, 50000)),
}


def message(
    fields: Sequence[SmallField] | SmallField = FIELDS["t2m"],
    payload: bytes = b"",
    *,
    reference: datetime = RUN,
    hour: int = 1,
    member: int | None = None,
) -> bytes:
    """One message; several fields share it as submessages."""
    fields = [fields] if isinstance(fields, SmallField) else list(fields)
    sections = [
        section(1, bytes([0, 7, 0, 0, 2, 1, 1]) + time_octets(reference) + bytes([0, 1])),
        section(3, bytes(67)),
    ]
    for field in fields:
        sections.append(_product(field, reference, hour, member))
        sections += [section(5, bytes(16)), section(6, b"\xff"), section(7, payload)]
    return write_message(sections, discipline=fields[0].parameter[0])


def _product(field: SmallField, reference: datetime, hour: int, member: int | None) -> bytes:
    start = field.window[0] if field.window else hour
    accumulation = Accumulation(hour - start, reference) if field.window else None
    return product_section(*field.parameter[1:], field.surface, start, accumulation, member)


def window_text(field: SmallField, hour: int) -> str:
    if field.window is None:
        return "anl" if hour == 0 else f"{hour} hour fcst"
    return f"{field.window[0]}-{hour} hour acc fcst"


@dataclass(frozen=True)
class SmallFile:
    """A file with its messages by name (two names for one message: submessages), and its .idx."""

    names: tuple[tuple[str, ...], ...]
    messages: tuple[bytes, ...]
    reference: datetime = RUN
    hour: int = 1
    sizes: tuple[int, ...] = ()

    @property
    def data(self) -> bytes:
        return b"".join(self.messages)

    @property
    def idx(self) -> bytes:
        messages, offset = [], 0
        for names, one in zip(self.names, self.messages, strict=True):
            fields = [FIELDS[name] for name in names]
            rows = [f"{field.element}:{field.level}:{window_text(field, self.hour)}:" for field in fields]
            messages.append((offset, rows))
            offset += len(one)
        return "".join(f"{line}\n" for line in noaa_lines(messages, f"{self.reference:%Y%m%d%H}")).encode()

    def spool(self, wanted: set[str] | None = None) -> bytes:
        """The spool file after a download of these names."""
        chosen = wanted if wanted is not None else set(WANTED)
        return b"".join(one for names, one in zip(self.names, self.messages, strict=True) if chosen.intersection(names))

    def longer(self, by: int) -> SmallFile:
        """The same file repacked: every message is longer by this number of bytes."""
        return make_file(self.names, [size + by for size in self.sizes], self.reference, self.hour, seed=1)


WANTED = ("t2m", "d2m", "u10", "v10", "gust", "sp", "vis", "cape", "tp")


def make_file(
    names: Sequence[tuple[str, ...]],
    sizes: Sequence[int],
    reference: datetime = RUN,
    hour: int = 1,
    seed: int = 0,
) -> SmallFile:
    """A file of these messages with payloads of these sizes (random bytes, GRIB and 7777 among them)."""
    noise = random.Random(seed)
    made = []
    for group, size in zip(names, sizes, strict=True):
        payload = noise.randbytes(size) + b"GRIB7777"
        made.append(message([FIELDS[name] for name in group], payload, reference=reference, hour=hour))
    return SmallFile(tuple(names), tuple(made), reference, hour, tuple(sizes))


def usual_file(hour: int = 1, size: int = 3000, reference: datetime = RUN, seed: int = 0) -> SmallFile:
    """Wanted and unwanted messages, one with two fields."""
    names = [
        ("t500",), ("t2m",), ("d2m",), ("land",), ("u10", "v10"), ("hgt500",), ("gust",), ("sp",), ("land",),
        ("vis",), ("cape",), ("tp",),
    ]  # fmt: skip
    sizes = [size * (10 if name[0] in ("t500", "land", "hgt500") else 1) + 7 * at for at, name in enumerate(names)]
    return make_file(names, sizes, reference, hour, seed)
