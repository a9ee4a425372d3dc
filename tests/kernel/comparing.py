"""One field, decoded by the kernel alone and by ecCodes alone."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from gribmill.grib.decode import native as kernel
from gribmill.grib.decode.field import Field
from gribmill.grib.sections import Sections2
from gribmill.kernel import native

# For tests of the kernel itself; those of its absence run everywhere.
needs_kernel = pytest.mark.skipif(native.state() != "native", reason="the native kernel is off or not built")


def by_kernel(field: Field) -> NDArray[np.float32] | None:
    """The whole field; None where the kernel leaves it to ecCodes."""
    assert field.layout is not None and isinstance(field.sections, Sections2)
    found = kernel.unpack(field.sections, field.packing.points, field.layout, None)
    return None if found is None else found[0]


def by_eccodes(field: Field) -> NDArray[np.float32]:
    """The definition of a tile's value: ecCodes' float64, cast."""
    return field._normalised()
