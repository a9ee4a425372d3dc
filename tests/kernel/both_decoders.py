"""Decodes one field with the kernel alone, or with ecCodes alone."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from gribmill.grib.decode.field import Field
from gribmill.grib.decode.native import decode_windows
from gribmill.grib.sections import Sections2
from gribmill.kernel import native

# For tests of the kernel itself; tests of the fallback run everywhere.
needs_kernel = pytest.mark.skipif(native.state() != "native", reason="the native kernel is off or not built")


def by_kernel(field: Field) -> NDArray[np.float32] | None:
    """The whole field; None where the kernel declines."""
    assert field.layout is not None and isinstance(field.sections, Sections2)
    found = decode_windows(field.sections, field.packing.points, field.layout, None)
    return None if found is None else found[0]


def by_eccodes(field: Field) -> NDArray[np.float32]:
    """ecCodes' float64 cast to float32, which defines the values of a tile."""
    return field._normalised()
