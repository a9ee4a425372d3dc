"""Describes JSON Schema types in words."""

from __future__ import annotations

from typing import Any

_KINDS = {
    "object": "table",
    "array": "list",
    "string": "text",
    "boolean": "true or false",
    "integer": "whole number",
    "number": "number",
}


def describe_type(field: dict[str, Any]) -> str:
    """The values that a field of a JSON Schema allows: `number, 0 to 3600`, `full or normal`."""
    if "enum" in field:
        return " or ".join(str(value) for value in field["enum"])
    if "anyOf" in field:
        return " or ".join(describe_type(option) for option in field["anyOf"] if option.get("type") != "null")
    if isinstance(field.get("type"), list):
        return " or ".join(describe_type({**field, "type": kind}) for kind in field["type"] if kind != "null")
    words = [_KINDS.get(field.get("type", ""), "")]
    low, high = field.get("minimum"), field.get("maximum")
    if low is not None and high is not None:
        words.append(f"{low:g} to {high:g}")
    elif low is not None:
        words.append(f"at least {low:g}")
    elif high is not None:
        words.append(f"at most {high:g}")
    if "exclusiveMinimum" in field:
        words.append(f"more than {field['exclusiveMinimum']:g}")
    if "pattern" in field:
        words.append(field["pattern"])
    if "maxLength" in field:
        words.append(f"up to {field['maxLength']} characters")
    return ", ".join(words).strip()
