"""A table of numbers as an Arrow IPC stream: a schema, one record batch, and the end-of-stream marker.

The FlatBuffers are written by the field numbers in Arrow's schemas (Schema.fbs, Message.fbs), so that the server does
not need an Arrow library.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import flatbuffers
import numpy as np

from gribmill.arrays import Floats, Values

MEDIA_TYPE = "application/vnd.apache.arrow.stream"
ALIGNMENT = 64
CONTINUATION = b"\xff\xff\xff\xff"
VERSION_5, SCHEMA, RECORD_BATCH, FLOATING_POINT = 4, 1, 3, 3
PRECISIONS = {np.dtype("<f4"): 1, np.dtype("<f8"): 2}


@dataclass(frozen=True, slots=True)
class ArrowColumn:
    """A column of floats; NaN becomes null. `facts` are its metadata."""

    name: str
    values: Values | Floats
    facts: Mapping[str, str] = field(default_factory=dict)


def arrow_stream(columns: Sequence[ArrowColumn], facts: Mapping[str, str]) -> Iterator[bytes | memoryview]:
    """The chunks of the stream, in order. All columns must have the same length."""
    yield _message(SCHEMA, lambda builder: _schema(builder, columns, facts), 0)
    body: list[bytes | memoryview] = []
    buffers: list[tuple[int, int]] = []
    nodes: list[tuple[int, int]] = []
    at = 0
    for column in columns:
        values = np.ascontiguousarray(column.values).reshape(-1)
        lacking = np.isnan(values)
        missing = int(lacking.sum())
        nodes.append((len(values), missing))
        valid = np.packbits(~lacking, bitorder="little").tobytes() if missing else b""
        for part in (valid, values.data.cast("B") if len(values) else b""):
            buffers.append((at, len(part)))
            padding = -len(part) % ALIGNMENT
            body += [part, bytes(padding)]
            at += len(part) + padding
    rows = nodes[0][0] if nodes else 0
    yield _message(RECORD_BATCH, lambda builder: _record_batch(builder, rows, nodes, buffers), at)
    yield from body
    yield CONTINUATION + bytes(4)


def _message(kind: int, header: Callable[[flatbuffers.Builder], int], body_bytes: int) -> bytes:
    builder = flatbuffers.Builder(1024)
    offset = header(builder)
    builder.StartObject(5)
    builder.PrependInt16Slot(0, VERSION_5, 0)
    builder.PrependUint8Slot(1, kind, 0)
    builder.PrependUOffsetTRelativeSlot(2, offset, 0)
    builder.PrependInt64Slot(3, body_bytes, 0)
    builder.Finish(builder.EndObject())
    text = bytes(builder.Output())
    text += bytes(-len(text) % 8)
    return CONTINUATION + struct.pack("<i", len(text)) + text


def _schema(builder: flatbuffers.Builder, columns: Sequence[ArrowColumn], facts: Mapping[str, str]) -> int:
    fields = _vector(builder, [_field(builder, column) for column in columns])
    metadata = _facts(builder, facts)
    builder.StartObject(4)
    builder.PrependUOffsetTRelativeSlot(1, fields, 0)
    builder.PrependUOffsetTRelativeSlot(2, metadata, 0)
    return int(builder.EndObject())


def _field(builder: flatbuffers.Builder, column: ArrowColumn) -> int:
    name, metadata = builder.CreateString(column.name), _facts(builder, column.facts)
    children = _vector(builder, [])
    builder.StartObject(1)
    builder.PrependInt16Slot(0, PRECISIONS[column.values.dtype], 0)
    kind = builder.EndObject()
    builder.StartObject(7)
    builder.PrependUOffsetTRelativeSlot(0, name, 0)
    builder.PrependBoolSlot(1, True, False)
    builder.PrependUint8Slot(2, FLOATING_POINT, 0)
    builder.PrependUOffsetTRelativeSlot(3, kind, 0)
    builder.PrependUOffsetTRelativeSlot(5, children, 0)
    builder.PrependUOffsetTRelativeSlot(6, metadata, 0)
    return int(builder.EndObject())


def _record_batch(
    builder: flatbuffers.Builder, rows: int, nodes: Sequence[tuple[int, int]], buffers: Sequence[tuple[int, int]]
) -> int:
    vectors = []
    for pairs in (nodes, buffers):
        builder.StartVector(16, len(pairs), 8)
        for first, second in reversed(pairs):
            builder.PrependInt64(second)
            builder.PrependInt64(first)
        vectors.append(builder.EndVector())
    builder.StartObject(4)
    builder.PrependInt64Slot(0, rows, 0)
    builder.PrependUOffsetTRelativeSlot(1, vectors[0], 0)
    builder.PrependUOffsetTRelativeSlot(2, vectors[1], 0)
    return int(builder.EndObject())


def _facts(builder: flatbuffers.Builder, facts: Mapping[str, str]) -> int:
    pairs = []
    for key, value in facts.items():
        key_at, value_at = builder.CreateString(key), builder.CreateString(value)
        builder.StartObject(2)
        builder.PrependUOffsetTRelativeSlot(0, key_at, 0)
        builder.PrependUOffsetTRelativeSlot(1, value_at, 0)
        pairs.append(builder.EndObject())
    return _vector(builder, pairs)


def _vector(builder: flatbuffers.Builder, offsets: Sequence[int]) -> int:
    builder.StartVector(4, len(offsets), 4)
    for offset in reversed(offsets):
        builder.PrependUOffsetTRelative(offset)
    return int(builder.EndVector())
