"""Loads settings from defaults, the settings file, GRIBMILL_* variables and flags, in ascending precedence.

Each setting knows which of them it came from.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gribmill.checked.constraints import CheckFailed, WrongValue
from gribmill.config_file import SettingsError, beside, check_path, expand_user, find_config, read_config
from gribmill.database_url import HIDDEN, hide_password
from gribmill.errors import quoted, shortened
from gribmill.settings.schema import RegionSettings, RetentionSettings, Settings, known_keys
from gribmill.settings.settings_table import SettingsTable
from gribmill.settings.variable_table import VariableSettings
from gribmill.toml_table import parse_toml

# A file may have thousands of mistakes; only the first ones are reported.
MOST_PROBLEMS = 5
KEY_LIMIT = 100
ENV_PREFIX = "GRIBMILL_"
TEST_PREFIX = "GRIBMILL_TEST_"
# Variables that are not settings: the settings file, the decoder, the token of remote workers, and two of the tests.
OTHER_VARIABLES = {
    "GRIBMILL_CONFIG",
    "GRIBMILL_KERNEL",
    "GRIBMILL_REQUIRE_SERVERS",
    "GRIBMILL_SOAK_MINUTES",
    "GRIBMILL_TOKEN",
}


@dataclass(frozen=True, slots=True)
class Origin:
    """One setting: its dotted key, its value, and the file, variable or option that it came from."""

    key: str
    value: Any
    source: str
    description: str


def load_settings(config_file: Path | None = None, flags: dict[str, Any] | None = None) -> Settings:
    """Load the settings. `flags` are command-line options by dotted key."""
    settings, _ = load_with_origins(config_file, flags)
    return settings


def load_with_origins(
    config_file: Path | None = None, flags: dict[str, Any] | None = None
) -> tuple[Settings, list[Origin]]:
    """Load the settings, with the origin of each."""
    path = find_config(config_file)
    layers = [
        (str(path), _leaves_of_table(_with_paths_beside(path, read_config(path))) if path else {}),
        ("environment", _from_environment()),
        ("flag", dict(flags or {})),
    ]
    merged: dict[str, Any] = {name: {} for name in ("store", "log", "queue", "workers", "chain")}
    sources: dict[str, str] = {}
    for source, leaves in layers:
        for key, value in leaves.items():
            _put(merged, key, value)
            sources[key] = variable_of(key) if source == "environment" else source
    _add_variables(merged, sources)
    try:
        settings = Settings.model_validate(merged)
    except CheckFailed as error:
        raise SettingsError(_explain(error.problems, sources)) from None
    return settings, _origins_of(settings, sources)


def variable_of(key: str) -> str:
    """The environment variable of a setting: GRIBMILL_QUEUE_LEASE_SECONDS for queue.lease_seconds."""
    return f"{ENV_PREFIX}{key.replace('.', '_').upper()}"


def _with_paths_beside(path: Path, table: dict[str, Any]) -> dict[str, Any]:
    """Resolve paths in the settings file relative to it."""
    regions = table.get("regions")
    outlines = [region for region in regions.values() if isinstance(region, dict)] if isinstance(regions, dict) else []
    files = ((table, key) for key in ("data", "models_dir", "variables_file"))
    for holder, key in (*files, *((region, "geojson") for region in outlines)):
        if isinstance(holder.get(key), str) and holder[key]:
            holder[key] = str(beside(path, holder[key]))
    return table


def _add_variables(merged: dict[str, Any], sources: dict[str, str]) -> None:
    """Merge the tables of `variables_file`, so that workers get them with the settings."""
    file, tables = merged.get("variables_file"), merged.get("variables", {})
    if not isinstance(file, str | Path) or not isinstance(tables, dict):
        return
    try:
        check_path(file)
    except ValueError as error:
        raise SettingsError(f"variables_file = {quoted(str(file))} is invalid: {error}") from None
    path = expand_user(Path(file))
    if not path.is_file():
        raise SettingsError(f"variables_file: there is no file {path}")
    own = read_config(path)
    for name in own:
        if name in tables:
            raise SettingsError(f"[variables.{name}] is in the settings and in {path}; keep one of them")
        sources[f"variables.{name}"] = str(path)
    merged["variables"] = {**tables, **own}


def _leaves_of_table(table: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    leaves: dict[str, Any] = {}
    known = known_keys()
    for name, value in table.items():
        key = f"{prefix}{name}"
        if isinstance(value, dict) and key not in known:
            leaves |= _leaves_of_table(value, f"{key}.")
        else:
            leaves[key] = value
    return leaves


def _from_environment() -> dict[str, Any]:
    by_variable = {variable_of(key): key for key in known_keys()}
    leaves: dict[str, Any] = {}
    for variable, text in os.environ.items():
        if not text or not variable.startswith(ENV_PREFIX):
            continue
        if variable in OTHER_VARIABLES or variable.startswith(TEST_PREFIX):
            continue
        if variable not in by_variable:
            raise SettingsError(f"{variable} is not a setting{_did_you_mean(variable, by_variable)}")
        leaves[by_variable[variable]] = _parse_text(variable, text)
    return leaves


def _parse_text(variable: str, text: str) -> Any:
    """Parse an environment variable: plain text, or a TOML table or list such as {fetch = 2, build = 4}."""
    if not text.lstrip().startswith(("{", "[")):
        return text
    try:
        return parse_toml(f"value = {text}")["value"]
    except ValueError as error:
        raise SettingsError(f"{variable} {error}") from None


def _put(tree: dict[str, Any], key: str, value: Any) -> None:
    *parents, name = key.split(".")
    for parent in parents:
        child = tree.setdefault(parent, {})
        if not isinstance(child, dict):
            raise SettingsError(f"{parent} is a table of settings, not a value")
        tree = child
    tree[name] = value


def _origins_of(settings: Settings, sources: dict[str, str]) -> list[Origin]:
    """All settings with their origin; a key without a source has its default."""
    return [
        Origin(key, _shown(key, _value(settings, key)), sources.get(key, "default"), description)
        for key, description in known_keys().items()
    ]


def _value(settings: Settings, key: str) -> Any:
    value: Any = settings
    for name in key.split("."):
        value = getattr(value, name)
    return value


def _shown(key: str, value: Any) -> Any:
    """A setting's value for display, without passwords."""
    if key != "database" or value is None:
        return value
    return hide_password(value) if isinstance(value, str) else HIDDEN


def _explain(problems: list[WrongValue], sources: dict[str, str]) -> str:
    sentences = []
    for problem in problems[:MOST_PROBLEMS]:
        key = problem.key
        source = next((source for known, source in sources.items() if key == known or key.startswith(known + ".")), "")
        origin = f" (from {source})" if source else ""
        if problem.kind == "unknown key":
            sentences.append(f"{shortened(key, KEY_LIMIT)} is not a setting{origin}{_hint(problem.place)}")
        elif problem.kind == "missing":
            sentences.append(f"{shortened(key, KEY_LIMIT)} is missing{origin}")
        else:
            value = quoted(_shown(key, problem.value))
            sentences.append(f"{shortened(key, KEY_LIMIT)} = {value} is invalid{origin}: {problem.text}")
    if len(problems) > MOST_PROBLEMS:
        sentences.append(f"and {len(problems) - MOST_PROBLEMS} more")
    return "; ".join(sentences)


def _hint(place: tuple[int | str, ...]) -> str:
    """Suggest what may have been meant by an unknown key."""
    tables: dict[int | str, tuple[str, type[SettingsTable]]] = {
        "regions": ("region", RegionSettings),
        "variables": ("variable", VariableSettings),
        "retention": ("[retention.MODEL] table", RetentionSettings),
    }
    if len(place) == 3 and place[0] in tables:
        noun, table = tables[place[0]]
        keys = known_keys(table)
        close = _close(str(place[2]), keys)
        meant = f"; did you mean {close}?" if close else ";"
        return f"{meant} the keys of a {noun} are: {', '.join(keys)}"
    return _did_you_mean(".".join(str(part) for part in place), known_keys())


def _did_you_mean(word: str, known: dict[str, str]) -> str:
    close = _close(word, known)
    return f"; did you mean {close}?" if close else f"; the settings are: {', '.join(sorted(known))}"


def _close(word: str, known: dict[str, str]) -> str | None:
    import difflib  # imported here because every command loads this module

    # Comparing very long words takes quadratic time.
    return next(iter(difflib.get_close_matches(word[:KEY_LIMIT], known, n=1)), None)
