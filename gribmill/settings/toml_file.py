"""Settings as TOML: single values, and the whole commented file that `gribmill init` writes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from gribmill.errors import GribmillError
from gribmill.settings.describe_schema import describe_type
from gribmill.settings.schema import Settings

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
HEADER = """\
# Settings of gribmill. Every setting is listed with its default. Lines that begin with "#" are explanations,
# or settings that are empty or depend on the machine until you set them. GRIBMILL_* variables
# (GRIBMILL_QUEUE_LEASE_SECONDS for queue.lease_seconds) and command-line options override this file.
# `gribmill config show` lists the values in force and where each came from.
"""


def toml_value(value: Any) -> str:
    """One value as TOML."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, str | Path):
        return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, list | tuple):
        return f"[{', '.join(toml_value(one) for one in value)}]"
    if isinstance(value, BaseModel):
        value = value.model_dump(mode="json", exclude_none=True)
    if isinstance(value, dict):
        pairs = ", ".join(f"{_key(name)} = {toml_value(one)}" for name, one in value.items() if one is not None)
        return f"{{ {pairs} }}" if pairs else "{}"
    raise GribmillError(f"a setting of type {type(value).__name__} cannot be written as TOML")


def settings_file() -> str:
    """The commented settings file, generated from the schema, so that it is always up to date."""
    return "\n".join([HEADER.rstrip(), *_lines(Settings, "")]) + "\n"


def _lines(model: type[BaseModel], prefix: str) -> Iterator[str]:
    """Values first, then tables, as TOML requires."""
    schema = model.model_json_schema()
    tables = {name: section for name, field in model.model_fields.items() if (section := _section(field))}
    for name, field in model.model_fields.items():
        if name not in tables:
            yield from _setting(name, field, schema["properties"][name])
    for name, section in tables.items():
        path = f"{prefix}{name}"
        if _is_open(model.model_fields[name]):
            yield from _open_table(path, model.model_fields[name], section)
        else:
            yield from ["", f"# {section.__doc__}", f"[{path}]"]
            yield from _lines(section, f"{path}.")


def _setting(name: str, field: FieldInfo, schema: dict[str, Any]) -> Iterator[str]:
    default = field.get_default(call_default_factory=True, validated_data={})
    by_machine = field.default is PydanticUndefined or default is None
    yield ""
    yield f"# {_explanation(name, field, schema)}"
    yield f"{'# ' if by_machine else ''}{name} = {'…' if default is None else toml_value(default)}"


def _open_table(path: str, field: FieldInfo, section: type[BaseModel]) -> Iterator[str]:
    """A table whose names the user chooses, as an example in comments."""
    yield from ["", f"# {field.description}", f"# [{path}.NAME]"]
    properties = section.model_json_schema()["properties"]
    for name, inner in section.model_fields.items():
        yield f"# {name} = …  # {_explanation(name, inner, properties[name])}"


def _explanation(name: str, field: FieldInfo, schema: dict[str, Any]) -> str:
    kind = describe_type(schema)
    # The value beside it shows these.
    return (field.description or name) + ("" if kind in ("", "text", "table", "list") else f" ({kind})")


def _section(field: FieldInfo) -> type[BaseModel] | None:
    """The model behind a field that is a table, or a table of tables."""
    for annotation in (field.annotation, *get_args(field.annotation)[1:]):
        if isinstance(annotation, type) and issubclass(annotation, BaseModel):
            return annotation
    return None


def _is_open(field: FieldInfo) -> bool:
    return not (isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel))


def _key(name: str) -> str:
    return name if _BARE_KEY.fullmatch(name) else toml_value(name)
