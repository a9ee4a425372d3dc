"""Turns a JSON Schema into form fields, and submitted fields into arguments."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NoReturn

from gribmill.queue.errors import BadArguments

Kind = Literal["text", "integer", "number", "boolean", "choice", "words", "json"]


@dataclass(frozen=True, slots=True)
class FormField:
    """One argument. `words` is a list of strings, one per line; `json` is anything else."""

    name: str
    kind: Kind
    required: bool
    help: str = ""
    default: str = ""
    choices: tuple[str, ...] = ()
    pattern: str | None = None
    least: float | None = None
    most: float | None = None


def fields_of_schema(schema: Any, defaults: Any = None) -> list[FormField]:
    """One field per property; empty if the schema has no properties that a form can show."""
    if not isinstance(schema, dict) or not isinstance(schema.get("properties"), dict):
        return []
    needed = schema.get("required")
    required = {*needed} if isinstance(needed, list) else set()
    given = defaults if isinstance(defaults, dict) else {}
    found = []
    for name, part in schema["properties"].items():
        if isinstance(name, str) and isinstance(part, dict):
            found.append(_field(name, _resolved(part, schema), part, given, required=name in required))
    return found


def _field(
    name: str, part: dict[str, Any], whole: dict[str, Any], given: dict[str, Any], *, required: bool
) -> FormField:
    kind, choices = _kind(part)
    default = given.get(name, whole.get("default"))
    return FormField(
        name,
        kind,
        required and name not in given,
        str(whole.get("description") or part.get("description") or ""),
        _as_text(default, kind),
        choices,
        part.get("pattern") if isinstance(part.get("pattern"), str) and kind == "text" else None,
        _limit(part.get("minimum")),
        _limit(part.get("maximum")),
    )


def _resolved(part: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    """The schema without its null alternative, with one reference resolved."""
    for several in ("anyOf", "oneOf"):
        options = part.get(several)
        if isinstance(options, list):
            real = [one for one in options if isinstance(one, dict) and one.get("type") != "null"]
            if len(real) == 1:
                part = real[0]
    reference = part.get("$ref")
    if isinstance(reference, str) and reference.startswith("#/$defs/"):
        found = schema.get("$defs", {}).get(reference.removeprefix("#/$defs/"))
        part = found if isinstance(found, dict) else part
    return part


def _kind(part: dict[str, Any]) -> tuple[Kind, tuple[str, ...]]:
    options = part.get("enum")
    if isinstance(options, list) and options and all(isinstance(one, str) for one in options):
        return "choice", tuple(options)
    match part.get("type"):
        case "string":
            return "text", ()
        case "integer":
            return "integer", ()
        case "number":
            return "number", ()
        case "boolean":
            return "boolean", ()
        case "array" if isinstance(part.get("items"), dict) and part["items"].get("type") == "string":
            return "words", ()
    return "json", ()


def _as_text(value: Any, kind: Kind) -> str:
    if value is None:
        return ""
    if kind == "boolean":
        return "true" if value else "false"
    if kind == "words" and isinstance(value, list | tuple):
        return "\n".join(map(str, value))
    return value if isinstance(value, str) else json.dumps(value)


def _limit(value: Any) -> float | None:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def read_arguments(fields: list[FormField], typed: Mapping[str, str]) -> dict[str, Any]:
    """The submitted fields as arguments; empty fields are left out. Raises BadArguments if one is invalid."""
    found: dict[str, Any] = {}
    for field in fields:
        text = typed.get(field.name, "")
        if text.strip() == "":
            continue
        try:
            found[field.name] = _value(field, text)
        except (ValueError, RecursionError):
            raise BadArguments(f"{field.name}: this is not {_expected(field.kind)}") from None
    return found


def _value(field: FormField, text: str) -> Any:
    match field.kind:
        case "integer":
            return int(text)
        case "number":
            found = float(text)
            if not math.isfinite(found):
                raise ValueError
            return found
        case "boolean":
            if text not in ("true", "false"):
                raise ValueError
            return text == "true"
        case "words":
            return [line.strip() for line in text.splitlines() if line.strip()]
        case "json":
            return json.loads(text, parse_constant=_refuse_constant)
        case _:
            return text


def _expected(kind: Kind) -> str:
    return {"integer": "a whole number", "number": "a number", "boolean": "true or false", "json": "JSON"}.get(
        kind, "text"
    )


def json_arguments(text: str) -> dict[str, Any]:
    """Arguments typed as a JSON object; none for an empty text. Raises BadArguments."""
    try:
        found = json.loads(text or "{}", parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise BadArguments(f"the arguments are not JSON: {error}") from None
    if not isinstance(found, dict):
        raise BadArguments("the arguments must be a JSON object, such as {}")
    return found


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")
