"""Writes complex packing with primary and secondary missing values, in groups and as groups: ecCodes does not."""

from __future__ import annotations

import random
import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from gribmill.grib.sections import Sections2

# In place of a packed integer: a primary or a secondary missing value.
PRIMARY, SECONDARY = "primary", "secondary"
Code = int | str


@dataclass(frozen=True, slots=True)
class Group:
    """Packed integers with one reference and width."""

    reference: int
    width: int
    numbers: tuple[int, ...]


def grouped(
    model: Sections2, codes: Sequence[Code], *, management: int, order: int, bitmap: Sequence[bool] = (), seed: int = 0
) -> bytes:
    """A message like `model` with these packed integers: template 5.2 or, with an order of differencing, 5.3."""
    extra, stored = _differences(codes, order) if order else (b"", list(codes))
    bits = max(3, max((code for code in stored if isinstance(code, int)), default=0).bit_length() + 1)
    groups = [_group(part, bits, management) for part in _parts(stored, seed)]
    section5 = _section5(len(codes), groups, (bits, management, order, len(extra) // (order + 1)))
    lengths = [len(group.numbers) for group in groups]
    widths = [group.width for group in groups]
    data = b"".join([
        extra,
        _packed((group.reference, bits) for group in groups),
        _packed((width, 5) for width in widths),
        _packed((length - 1, 5) for length in lengths),
        _packed((number, group.width) for group in groups for number in group.numbers),
    ])  # fmt: skip
    section6 = b"\0\0\0\6\6\xff" if not bitmap else _numbered(6, b"\0" + _packed((int(bit), 1) for bit in bitmap))
    return model._replace(packing=section5, bitmap=section6, data=memoryview(_numbered(7, data))).message()


def _differences(codes: Sequence[Code], order: int) -> tuple[bytes, list[Code]]:
    """The extra descriptors, and the differences less their minimum; missing values stay in their places."""
    present = [code for code in codes if isinstance(code, int)]
    steps = present
    for _ in range(order):
        steps = [after - before for before, after in pairwise(steps)]
    least = min(steps, default=0)
    undone = iter([0] * min(order, len(present)) + [step - least for step in steps])
    firsts = (present + [0] * order)[:order]
    octets = max(abs(number).bit_length() // 8 + 1 for number in (*firsts, least))
    sign = 1 << (8 * octets - 1) if least < 0 else 0
    extra = b"".join(number.to_bytes(octets, "big") for number in (*firsts, abs(least) | sign))
    return extra, [next(undone) if isinstance(code, int) else code for code in codes]


def _parts(codes: Sequence[Code], seed: int) -> list[Sequence[Code]]:
    """Groups of 1 to 32 values of random length."""
    chance, parts, start = random.Random(seed), [], 0
    while start < len(codes):
        size = chance.choice((1, 2, 5, 12, 32))
        parts.append(codes[start : start + size])
        start += size
    return parts


def _group(codes: Sequence[Code], bits: int, management: int) -> Group:
    present = [code for code in codes if isinstance(code, int)]
    if len(set(codes)) == 1:
        # A group of width 0 is its reference: all ones for a primary missing value, one less for a secondary.
        alone = {PRIMARY: (1 << bits) - 1, SECONDARY: (1 << bits) - 2}.get(str(codes[0]))
        reference = int(codes[0]) if alone is None else alone
        return Group(reference, 0, (0,) * len(codes))
    reference = min(present, default=0)
    width = (max(present, default=0) - reference + management).bit_length()
    marks = {PRIMARY: (1 << width) - 1, SECONDARY: (1 << width) - 2}
    return Group(reference, width, tuple(
        code - reference if isinstance(code, int) else marks[code] for code in codes
    ))  # fmt: skip


def _section5(count: int, groups: Sequence[Group], kind: tuple[int, int, int, int]) -> bytes:
    bits, management, order, octets = kind
    head = struct.pack(">IHfHH", count, 3 if order else 2, 250.5, 0x8002, 1)
    rest = struct.pack(">BBBBII", bits, 0, 1, management, 0, 0)
    rest += struct.pack(">IBBIBIB", len(groups), 0, 5, 1, 1, len(groups[-1].numbers), 5)
    return _numbered(5, head + rest + (bytes((order, octets)) if order else b""))


def _numbered(number: int, body: bytes) -> bytes:
    return (5 + len(body)).to_bytes(4, "big") + bytes((number,)) + body


def _packed(numbers: Iterable[tuple[int, int]]) -> bytes:
    text = "".join(f"{number:0{width}b}" for number, width in numbers if width)
    text += "0" * (-len(text) % 8)
    return int(text, 2).to_bytes(len(text) // 8, "big") if text else b""
