"""Missing value management 1 and 2 of complex packing (code table 5.5) decode as in ecCodes."""

from __future__ import annotations

import random

import numpy as np
import pytest

from gribmill.grib.decode.field import Field, fields
from gribmill.grib.sections import Sections2
from tests.kernel.both_decoders import by_eccodes, by_kernel, needs_kernel
from tests.kernel.complex_packing_writer import PRIMARY, SECONDARY, Code, grouped
from tests.kernel.message_variants import TINY
from tests.make_grib import make_message

pytestmark = needs_kernel
POINTS = TINY.shape[0] * TINY.shape[1]
MISSING: list[Code] = [PRIMARY, SECONDARY]


def only(message: bytes) -> Field:
    (field,) = fields(message, "made")
    return field


def model() -> Sections2:
    sections = only(make_message(TINY, packing="grid_complex")).sections
    assert isinstance(sections, Sections2)
    return sections


def codes_of(kind: str, management: int, count: int, seed: int) -> list[Code]:
    chance = random.Random(seed)
    missing = MISSING[:management] or [0]
    level, codes = 500, []
    for place in range(count):
        level += chance.choice((-3, -1, 0, 0, 0, 1, 4))
        hole = {"sparse": chance.random() < 0.1, "stretches": place // 40 % 2 == 1, "all": True}.get(kind, False)
        mark = missing[place // 40 // 2 % len(missing)] if kind == "stretches" else chance.choice(missing)
        # Long runs of one number make groups of width 0.
        codes.append(mark if hole and management else 500 if place % 100 < 30 else level)
    return codes


@pytest.mark.parametrize("order", [0, 1, 2])
@pytest.mark.parametrize("management", [0, 1, 2])
@pytest.mark.parametrize("kind", ["none", "sparse", "stretches", "all"])
@pytest.mark.parametrize("seed", range(4))
def test_missing_values_within_groups_and_as_groups(kind: str, management: int, order: int, seed: int) -> None:
    codes = codes_of(kind, management, POINTS, seed)
    field = only(grouped(model(), codes, management=management, order=order, seed=seed))
    native = by_kernel(field)
    assert native is not None
    assert native.tobytes() == by_eccodes(field).tobytes()
    # And ecCodes returns what was written: value = (250.5 + code / 4) / 10, NaN for both kinds.
    written = np.array([(250.5 + code / 4) * 0.1 if isinstance(code, int) else np.nan for code in codes])
    assert np.allclose(field.flat_values(), written, rtol=1e-6, equal_nan=True)


@pytest.mark.parametrize("order", [0, 1, 2])
@pytest.mark.parametrize("management", [1, 2])
@pytest.mark.parametrize("seed", range(3))
def test_missing_values_under_a_bitmap(management: int, order: int, seed: int) -> None:
    chance = random.Random(seed)
    bitmap = [chance.random() < 0.7 for _ in range(POINTS)]
    codes = codes_of("sparse" if seed % 2 else "stretches", management, sum(bitmap), seed)
    field = only(grouped(model(), codes, management=management, order=order, bitmap=bitmap, seed=seed))
    native = by_kernel(field)
    assert native is not None
    assert native.tobytes() == by_eccodes(field).tobytes()
    assert np.isnan(native).sum() == POINTS - sum(bitmap) + sum(not isinstance(code, int) for code in codes)


@pytest.mark.parametrize("management", [1, 2])
def test_a_window_of_a_field_with_missing_values_is_a_slice_of_it(management: int) -> None:
    from gribmill.regions.window import Window

    field = only(grouped(model(), codes_of("sparse", management, POINTS, 9), management=management, order=2))
    window = Window(slice(3, 8), (slice(5, 17),))
    assert field.cut([window])[0].tobytes() == np.ascontiguousarray(window.take(by_eccodes(field))).tobytes()
