from array import array
from typing import Any

import numpy as np
from numpy.typing import NDArray

_Summary = tuple[float, float, float, int]

def decode_field(
    section5: bytes,
    section6: bytes,
    section7: bytes | memoryview,
    points: int,
    ny: int,
    nx: int,
    scanning_mode: int,
    windows: NDArray[np.uint32],
    arrays: tuple[NDArray[np.float32], ...],
    /,
) -> int: ...
def decimal_rows(values: NDArray[np.float64], width: int, decimals: int, /) -> list[bytes] | None: ...
def encode_array(
    header: bytes, body: bytes | np.ndarray[Any, Any], mode: int, /
) -> tuple[int, int, int, bytes, bytes, _Summary | None]: ...
def inflate(
    streams: tuple[bytes, ...],
    places: bytes | array[int] | NDArray[np.uint32],
    out: bytearray | memoryview | NDArray[np.uint8],
    /,
) -> bool: ...
def requantize(
    values: NDArray[np.float32],
    width: int,
    reference: float,
    scale: float,
    factor: float,
    integers: NDArray[np.uint16],
    /,
) -> bool: ...
def rotate_winds(
    u: NDArray[np.float32],
    v: NDArray[np.float32],
    cosine: NDArray[np.float64],
    sine: NDArray[np.float64],
    east: NDArray[np.float32],
    north: NDArray[np.float32],
    /,
) -> None: ...
def summarize(values: np.ndarray[Any, Any], /) -> _Summary: ...
