"""gribmill.toml, GRIBMILL_* variables and flags become one typed, validated object."""

from __future__ import annotations

import difflib
import os
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from gribmill.errors import GribmillError

CONFIG_NAME = "gribmill.toml"
ENV_PREFIX = "GRIBMILL_"
CONFIG_LIMIT_BYTES = 1_000_000
# Read elsewhere, before or beside the settings: which file to read, how long `make soak` lasts, which decoder.
OTHER_VARIABLES = {"GRIBMILL_CONFIG", "GRIBMILL_SOAK_MINUTES", "GRIBMILL_KERNEL"}


def _numeric(value: Any) -> Any:
    """True would pass for 1."""
    if isinstance(value, bool):
        raise ValueError("a number is needed here, not true or false")
    return value


Number = Annotated[float, BeforeValidator(_numeric)]
Whole = Annotated[int, BeforeValidator(_numeric)]
# A century, and more than any machine has use for: what is larger is a slip, and may not fit into a date or a word.
Days = Annotated[Number, Field(gt=0, le=36_500)]
PositiveInt = Annotated[Whole, Field(gt=0, le=1_000_000_000)]


def _split(value: Any) -> Any:
    """Names in one text, as a variable of the environment holds them: hrrr,gfs."""
    return tuple(name.strip() for name in value.split(",") if name.strip()) if isinstance(value, str) else value


Names = Annotated[tuple[str, ...], BeforeValidator(_split)]


def _nameable(path: Any) -> Any:
    """What no file system can hold is refused here, and an empty path, which would pass for the working folder."""
    if "\0" in str(path):
        raise ValueError("no file can have a NUL in its name")
    if path == "":
        raise ValueError("it names nothing: leave it out, or give a path")
    return path


Place = Annotated[Path, BeforeValidator(_nameable)]


class SettingsError(GribmillError):
    """A setting that cannot be used; the sentence names its key."""


class Section(BaseModel):
    """A table of the settings file: unknown keys are refused, values never change."""

    # Only the whole is ever validated: checks of its parts alone would cost every start their time.
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


class LogSettings(Section):
    """How gribmill logs."""

    level: Literal["debug", "info", "warning", "error"] = Field("info", description="Least severity that is logged.")
    format: Literal["human", "json"] = Field("human", description="Lines for people, or JSON lines.")


class QueueSettings(Section):
    """The job queue."""

    synchronous: Literal["full", "normal"] = Field(
        "full", description="full: a commit survives power loss. normal: it survives a crash; faster."
    )
    lease_seconds: Annotated[Number, Field(ge=1, le=3600)] = Field(
        60.0, description="A worker that is silent for so long has lost its jobs."
    )
    poll_seconds: Annotated[Number, Field(ge=0.05, le=60)] = Field(
        1.0, description="How often an idle worker looks, should a wake-up get lost."
    )
    allow_network_files: bool = Field(False, description="Open jobs.db on a network file system all the same. Unsafe.")
    keep_completed_days: Days = Field(3.0, description="Completed and cancelled jobs are pruned after so long.")
    keep_failed_days: Days = Field(90.0, description="Failed jobs are pruned after so long.")


class WorkerSettings(Section):
    """Worker processes."""

    lanes: dict[str, Annotated[Whole, Field(gt=0, le=999)]] = Field(
        default_factory=lambda: {"fetch": 4, "build": max(1, os.cpu_count() or 1)},
        description="Executor processes per lane: fetch waits on the network, build uses the CPU.",
    )
    build_threads: Annotated[Whole, Field(gt=0, le=64)] = Field(
        1, description="Cores for one build. 1 gives most tiles a minute; more give the first ones sooner."
    )
    max_jobs_per_executor: PositiveInt = Field(1000, description="An executor is replaced after so many jobs.")
    max_memory_mb: PositiveInt = Field(1024, description="An executor that has grown beyond this is replaced.")
    kill_grace_seconds: Annotated[Number, Field(gt=0, le=3600)] = Field(
        5.0, description="Between TERM and KILL of an executor that must stop."
    )


class ChainSettings(Section):
    """What `gribmill run` keeps fresh, and how long."""

    models: Names = Field((), description="The models to follow, such as hrrr, gfs or gefs.p01.")
    regions: Names = Field((), description="The regions to cut; a model is cut for those that it touches.")
    keep_grib: bool = Field(False, description="Keep the downloaded messages when all tiles of an hour are built.")
    runs_back: Annotated[Whole, Field(gt=0, le=1000)] = Field(
        2, description="How many of a model's newest runs a scan looks at."
    )
    keep_days: Days = Field(7.0, description="Runs that got no file for so long are pruned.")
    keep_runs: PositiveInt = Field(200, description="No more runs of a model than this are kept.")
    keep_gigabytes: Annotated[Number, Field(gt=0, le=1e9)] | None = Field(
        None, description="The oldest runs go when tiles and spool need more."
    )


class RegionSettings(Section):
    """One region of your own: a box, or the outlines of a GeoJSON file. `regions/` says what is wrong with it."""

    box: list[Number] | None = Field(None, description="[west, south, east, north] in degrees.")
    geojson: Place | None = Field(None, description="A GeoJSON file whose polygons the region encloses.")
    feature: str | None = Field(None, description="Name or id of the one feature to take from that file.")
    title: str | None = Field(None, description="What people call it.", max_length=200)
    resolution: Number | None = Field(
        None, description="Degrees of a regular grid; without it the model's own grid is kept."
    )
    method: Literal["nearest", "bilinear", "cells"] | None = Field(
        None, description="How values come onto the regular grid."
    )
    encoding: Literal["fast", "compact", "packed"] = Field("fast", description="How tiles are compressed.")


class Settings(Section):
    """Everything that can be set. `data` is the data root."""

    data: Place = Field(
        default_factory=lambda: default_data_root(), description="The data root: jobs.db, grib/, tiles/."
    )
    log: LogSettings = Field(default_factory=LogSettings)
    queue: QueueSettings = Field(default_factory=QueueSettings)
    workers: WorkerSettings = Field(default_factory=WorkerSettings)
    chain: ChainSettings = Field(default_factory=ChainSettings)
    regions: dict[str, RegionSettings] = Field(
        default_factory=dict, description="Regions of your own: [regions.NAME] with a box or a GeoJSON file."
    )
    models: dict[str, dict[str, Any]] = Field(
        default_factory=dict,
        description='Changes to models: [models.NAME] with the keys that differ; like = "hrrr" makes a new one.',
    )
    models_dir: Place | None = Field(None, description="A folder with a TOML file for each model of your own.")
    roots: dict[str, str] = Field(
        default_factory=dict, description='Where mirrors are: aws-hrrr = "http://127.0.0.1:8000/hrrr/".'
    )

    @property
    def data_root(self) -> Path:
        """The data root as an absolute path."""
        return self.data.expanduser().absolute()


@dataclass(frozen=True, slots=True)
class Origin:
    """One leaf of the settings: its dotted key, its value, and where that came from."""

    key: str
    value: Any
    source: str
    description: str


def default_data_root() -> Path:
    """`data/` of the checkout that gribmill runs from, else the user's own data folder."""
    checkout = Path(__file__).resolve().parents[1]
    if (checkout / "pyproject.toml").is_file() and (checkout / "data").is_dir():
        return checkout / "data"
    base = os.environ.get("XDG_DATA_HOME") or "~/.local/share"
    return Path(base).expanduser() / "gribmill"


def load_settings(config_file: Path | None = None, flags: dict[str, Any] | None = None) -> Settings:
    """Defaults, then the file, then GRIBMILL_* variables, then `flags` (dotted keys): the later wins."""
    settings, _ = load_with_origins(config_file, flags)
    return settings


def load_with_origins(
    config_file: Path | None = None, flags: dict[str, Any] | None = None
) -> tuple[Settings, list[Origin]]:
    """The settings, and for each leaf where its value came from."""
    path = find_config(config_file)
    layers = [
        (str(path), _leaves_of_table(_with_paths_beside(path, _read_toml(path))) if path else {}),
        ("environment", _from_environment()),
        ("flag", dict(flags or {})),
    ]
    merged: dict[str, Any] = {name: {} for name in ("log", "queue", "workers", "chain")}
    sources: dict[str, str] = {}
    for source, leaves in layers:
        for key, value in leaves.items():
            _put(merged, key, value)
            sources[key] = f"{ENV_PREFIX}{key.replace('.', '_').upper()}" if source == "environment" else source
    try:
        settings = Settings.model_validate(merged)
    except ValidationError as error:
        raise SettingsError(_explain(error, sources)) from None
    return settings, [
        Origin(key, _leaf(settings, key), sources.get(key, "default"), description)
        for key, description in known_keys().items()
    ]


def find_config(config_file: Path | None) -> Path | None:
    """The settings file in use: as named, GRIBMILL_CONFIG, or gribmill.toml of the working folder."""
    named = config_file or (Path(os.environ["GRIBMILL_CONFIG"]) if os.environ.get("GRIBMILL_CONFIG") else None)
    if named is not None:
        if not named.is_file():
            raise SettingsError(f"there is no settings file {named}; `gribmill init` writes one")
        return named
    local = Path(CONFIG_NAME)
    return local if local.is_file() else None


def known_keys(model: type[BaseModel] = Settings, prefix: str = "") -> dict[str, str]:
    """Every leaf key in dotted form, with its description."""
    keys: dict[str, str] = {}
    for name, field in model.model_fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            keys |= known_keys(field.annotation, f"{prefix}{name}.")
        else:
            keys[f"{prefix}{name}"] = field.description or ""
    return keys


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as file:
            data = file.read(CONFIG_LIMIT_BYTES + 1)
    except OSError as error:
        raise SettingsError(f"{path} cannot be read: {error.strerror}") from None
    if len(data) > CONFIG_LIMIT_BYTES:
        raise SettingsError(f"{path} is larger than {CONFIG_LIMIT_BYTES} bytes: that is no settings file")
    try:
        return tomllib.loads(data.decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path} is not valid TOML: {error}") from None


def _with_paths_beside(path: Path, table: dict[str, Any]) -> dict[str, Any]:
    """Files and folders that the settings file names are looked for from there on, wherever gribmill was started."""
    regions = table.get("regions")
    outlines = [region for region in regions.values() if isinstance(region, dict)] if isinstance(regions, dict) else []
    for place, key in ((table, "data"), (table, "models_dir"), *((region, "geojson") for region in outlines)):
        if isinstance(place.get(key), str) and place[key]:
            place[key] = str(path.absolute().parent / Path(place[key]).expanduser())
    return table


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
    by_variable = {f"{ENV_PREFIX}{key.replace('.', '_').upper()}": key for key in known_keys()}
    leaves: dict[str, Any] = {}
    for variable, text in os.environ.items():
        if not variable.startswith(ENV_PREFIX) or variable in OTHER_VARIABLES or not text:
            continue
        if variable not in by_variable:
            raise SettingsError(f"{variable} is not a setting{_did_you_mean(variable, by_variable)}")
        leaves[by_variable[variable]] = _parse_text(text)
    return leaves


def _parse_text(text: str) -> Any:
    """A variable holds plain text, or a table or list as TOML writes them: {fetch = 2, build = 4}, ["hrrr"]."""
    if text.lstrip().startswith(("{", "[")):
        try:
            return tomllib.loads(f"value = {text}")["value"]
        except tomllib.TOMLDecodeError:
            return text
    return text


def _put(tree: dict[str, Any], key: str, value: Any) -> None:
    *parents, name = key.split(".")
    for parent in parents:
        child = tree.setdefault(parent, {})
        if not isinstance(child, dict):
            raise SettingsError(f"{parent} is a table of settings, not a value")
        tree = child
    tree[name] = value


def _leaf(settings: Settings, key: str) -> Any:
    value: Any = settings
    for name in key.split("."):
        value = getattr(value, name)
    return value


def _explain(error: ValidationError, sources: dict[str, str]) -> str:
    sentences = []
    for problem in error.errors(include_url=False):
        key = ".".join(str(part) for part in problem["loc"])
        where = next((source for known, source in sources.items() if key == known or key.startswith(known + ".")), "")
        place = f" (from {where})" if where else ""
        if problem["type"] == "extra_forbidden":
            sentences.append(f"{key} is not a setting{place}{_did_you_mean(key, known_keys())}")
        else:
            reason = problem["msg"].removeprefix("Value error, ")
            sentences.append(f"{key} = {problem['input']!r} is refused{place}: {reason}")
    return "; ".join(sentences)


def _did_you_mean(word: str, known: dict[str, str]) -> str:
    close = difflib.get_close_matches(word, known, n=1)
    return f"; did you mean {close[0]}?" if close else f"; the settings are: {', '.join(sorted(known))}"
