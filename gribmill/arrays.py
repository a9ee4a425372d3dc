"""Types of the arrays that modules exchange."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

# Coordinates, indices with a fraction, weights.
Floats = NDArray[np.float64]
# Decoded values of a field: rows from south to north, NaN where there is no value.
Values = NDArray[np.float32]
# Where precision does not matter.
AnyFloats = NDArray[np.floating[Any]]
Indices = NDArray[np.intp]
Marks = NDArray[np.bool_]
