"""Arguments as JSON, from the command line or stdin: one object, or one per line."""

from __future__ import annotations

import json
from typing import Any, BinaryIO, NoReturn

from gribmill.errors import GribmillError

STDIN_LIMIT_BYTES = 64_000_000


class BadJson(GribmillError):
    """The text is not a JSON object; the message says where."""


def read_objects(stream: BinaryIO) -> list[tuple[int, dict[str, Any]]]:
    """One object, or JSON lines, of at most 64 MB; each object with the number of its first line."""
    data = stream.read(STDIN_LIMIT_BYTES + 1)
    if len(data) > STDIN_LIMIT_BYTES:
        raise BadJson(f"stdin has more than {STDIN_LIMIT_BYTES} bytes; enqueue it in parts")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadJson(f"stdin is not UTF-8: byte {error.start} is 0x{data[error.start]:02x}") from None
    if not text.strip():
        raise BadJson("stdin is empty; expected one JSON object, or one per line")
    lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    if len(lines) > 1 and _is_object(lines[0][1]):
        return [(number, parse_object(line, "stdin", number)) for number, line in lines]
    return [(lines[0][0], parse_object(text, "stdin"))]


def parse_object(text: str, where: str = "the arguments", first_line: int = 1) -> dict[str, Any]:
    """Parse the JSON object in the text, which begins at `first_line`; raises BadJson with the position."""
    try:
        value = json.loads(text, parse_constant=_refuse_constant, object_pairs_hook=_refuse_twice)
    except json.JSONDecodeError as error:
        line = first_line + error.lineno - 1
        raise BadJson(f"{where}: invalid JSON at line {line}, column {error.colno}: {error.msg}") from None
    except (ValueError, RecursionError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise BadJson(f"{where}, line {first_line}: unusable JSON: {reason}") from None
    if not isinstance(value, dict):
        raise BadJson(
            f'{where}, line {first_line}: expected a JSON object such as {{"seconds": 1}}, not {_kind(value)}'
        )
    return value


def _is_object(text: str) -> bool:
    try:
        parse_object(text)
    except BadJson:
        return False
    return True


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


def _refuse_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse duplicate keys, of which the last would silently win."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"the key {next(name for name in names if names.count(name) > 1)!r} occurs twice")
    return found


def _kind(value: object) -> str:
    kinds = {list: "a list", str: "a string", bool: "true or false", type(None): "null"}
    return kinds.get(type(value), "a number")
