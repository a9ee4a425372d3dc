"""Settings as TOML: single values, and the whole commented file that `gribmill init` writes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import MISSING, Field, fields
from pathlib import Path
from typing import Any, get_args

from gribmill.checked.constraints import describe
from gribmill.checked.table import annotations_of
from gribmill.errors import GribmillError
from gribmill.settings.schema import Settings
from gribmill.settings.settings_table import SettingsTable

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
HEADER = """\
# Settings of gribmill. Every setting is listed with its default; one that is unset by default, or whose default
# depends on the machine, is commented out. GRIBMILL_* variables (GRIBMILL_QUEUE_LEASE_SECONDS for
# queue.lease_seconds) and command-line options override this file. `gribmill config show` lists the values in
# effect and where each came from.
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
    if isinstance(value, SettingsTable):
        value = value.model_dump(exclude_none=True)
    if isinstance(value, dict):
        pairs = ", ".join(f"{_key(name)} = {toml_value(one)}" for name, one in value.items() if one is not None)
        return f"{{ {pairs} }}" if pairs else "{}"
    raise GribmillError(f"a setting of type {type(value).__name__} cannot be written as TOML")


def settings_file() -> str:
    """The commented settings file, generated from the schema, so that it is always up to date."""
    return "\n".join([HEADER.rstrip(), *_lines(Settings, "")]) + "\n"


def _lines(table: type[SettingsTable], prefix: str) -> Iterator[str]:
    """Values first, then tables, as TOML requires."""
    hints = annotations_of(table)
    tables = {one: section for one in fields(table) if (section := _section(hints[one.name]))}
    for one in fields(table):
        if one not in tables:
            yield from _setting(one, hints[one.name])
    for one, section in tables.items():
        path = f"{prefix}{one.name}"
        if hints[one.name] is section:
            yield from ["", f"# {section.__doc__}", f"[{path}]"]
            yield from _lines(section, f"{path}.")
        else:
            yield from _open_table(path, one, section)


def _setting(one: Field[Any], hint: Any) -> Iterator[str]:
    default = one.default if one.default_factory is MISSING else one.default_factory()
    by_machine = one.default_factory is not MISSING or default is None
    yield ""
    yield f"# {_explanation(one, hint)}"
    yield f"{'# ' if by_machine else ''}{one.name} = {'…' if default is None else toml_value(default)}"


def _open_table(path: str, one: Field[Any], section: type[SettingsTable]) -> Iterator[str]:
    """A table whose names the user chooses, as an example in comments."""
    yield from ["", f"# {one.metadata['description']}", f"# [{path}.NAME]"]
    hints = annotations_of(section)
    for inner in fields(section):
        yield f"# {inner.name} = …  # {_explanation(inner, hints[inner.name])}"


def _explanation(one: Field[Any], hint: Any) -> str:
    kind = describe(hint)
    # The example value already shows these types.
    return (one.metadata["description"] or one.name) + ("" if kind in ("", "text", "table", "list") else f" ({kind})")


def _section(hint: Any) -> type[SettingsTable] | None:
    """The class behind a field that is a table, or a table of tables."""
    for one in (hint, *get_args(hint)[1:]):
        if isinstance(one, type) and issubclass(one, SettingsTable):
            return one
    return None


def _key(name: str) -> str:
    return name if _BARE_KEY.fullmatch(name) else toml_value(name)
