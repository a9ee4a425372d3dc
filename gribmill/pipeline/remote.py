"""Access to published files from Python and the command line: their inventory, and selected messages."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gribmill.errors import GribmillError
from gribmill.identity import IdentityError, run_id, run_time, whole_hour
from gribmill.ingest.available_hours import Published, published
from gribmill.ingest.download.download import download
from gribmill.ingest.download.remote_inventory import RemoteInventory, remote_inventory
from gribmill.ingest.errors import SourceError
from gribmill.ingest.http.client import SourceSession
from gribmill.ingest.index.search import compile_search
from gribmill.ingest.index.select import wanted
from gribmill.ingest.models.model import Model
from gribmill.ingest.models.registry import models_named
from gribmill.pipeline.models import configured_models
from gribmill.pipeline.publisher_turns import rate_limit
from gribmill.settings.load import load_settings
from gribmill.settings.schema import Settings

if TYPE_CHECKING:
    import xarray as xr

    from gribmill.ingest.download.download_plan import Downloaded

LATEST = "latest"
# How far back `latest` reaches: the slowest publishers need hours, and an outage may last a day.
LATEST_BACK = timedelta(days=3)
# Hourly models have dozens of runs in that time, and each costs at least one request.
LATEST_RUNS = 6


@dataclass(frozen=True, slots=True)
class FetchedFile:
    """A GRIB file with the requested messages, each verified. It can be used as a path."""

    path: Path
    model: str
    run: str
    hour: int
    mirror: str
    url: str
    messages: int
    bytes: int
    sha256: str
    found: tuple[str, ...]
    missing: tuple[str, ...]

    def __fspath__(self) -> str:
        return str(self.path)

    def datasets(self, **filter_by_keys: Any) -> list[xr.Dataset]:
        """The fields as cfgrib reads them: one dataset per kind of level. Winds are kept as in the file."""
        from gribmill.grib.open_grib import open_grib  # late: loads xarray and ecCodes

        return open_grib(self.path, **filter_by_keys)

    def to_xarray(self, **filter_by_keys: Any) -> xr.Dataset:
        """All fields as one dataset. With several kinds of level, each variable has its level as an attribute."""
        import xarray as xr

        several = self.datasets(**filter_by_keys)
        if len(several) == 1:
            return several[0]
        names = [str(name) for dataset in several for name in dataset.data_vars]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise GribmillError(
                f"{self.path} has {', '.join(twice)} on several kinds of level: use datasets(), or filter them with "
                'to_xarray(typeOfLevel="surface")'
            )
        return xr.merge([_without_levels(dataset) for dataset in several], compat="override", combine_attrs="override")


def fetch(
    model: str,
    run: str | datetime = LATEST,
    hour: int = 0,
    *,
    search: str | None = None,
    variables: Iterable[str] | None = None,
    out: str | Path | None = None,
    data: str | Path | None = None,
) -> FetchedFile:
    """Download some messages of one published file: forecast hour `hour` of a run of `model`.

    `run` is `latest`, YYYYMMDD_HH or a datetime (UTC if it has no time zone). `search` is a regular expression over the
    lines of the index, such as ":TMP:2 m above ground:"; `variables` are names such as t2m. If neither is given, the
    model's variables are fetched. `out` is a file or a folder, by default the working directory. `gribmill.inventory`
    lists the lines.
    """
    settings = _settings(data)
    with open_source(settings) as session:
        chosen = one_model(configured_models(settings), model)
        moment, known = find_run(chosen, run, hour, session)
        target = target_path(out if out is None else Path(out), chosen.id, run_id(moment), hour, search)
        names = None if variables is None else tuple(variables)
        got = fetch_messages(chosen, moment, hour, target, session, names=names, search=search, known=known)
    return FetchedFile(
        got.path, chosen.id, run_id(moment), hour, got.mirror, got.url, len(got.messages), got.bytes, got.sha256,
        got.found, got.missing,
    )  # fmt: skip


def inventory(
    model: str,
    run: str | datetime = LATEST,
    hour: int = 0,
    *,
    search: str | None = None,
    data: str | Path | None = None,
) -> RemoteInventory:
    """The fields of one published file, from its index: names, levels, times and byte ranges.

    `run` is as in `fetch`; `search` is a regular expression over the lines.
    """
    settings = _settings(data)
    with open_source(settings) as session:
        return list_fields(settings, model, run, hour, session, search)


def list_fields(
    settings: Settings, model: str, run: str | datetime, hour: int, session: SourceSession, search: str | None
) -> RemoteInventory:
    """The inventory of one published file, or the lines of it that match the search."""
    pattern = None if search is None else compile_search(search)
    chosen = one_model(configured_models(settings), model)
    moment, _ = find_run(chosen, run, hour, session)
    found = remote_inventory(chosen, moment, hour, session=session)
    return found if pattern is None else found.matching(pattern)


def fetch_messages(
    model: Model,
    run: datetime,
    hour: int,
    target: Path,
    session: SourceSession,
    *,
    names: tuple[str, ...] | None = None,
    search: str | None = None,
    known: Published | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Downloaded:
    """The messages of these variables, or of the lines that match; by default those of the model."""
    if names is not None and search is not None:
        raise GribmillError("give either variables or a search, not both")
    if search is not None:
        pattern = compile_search(search)
        return download(
            model, run, hour, (), target, session=session, known=known, progress=progress, line_search=pattern
        )
    words = wanted(names or model.variables)
    return download(model, run, hour, words, target, session=session, known=known, progress=progress)


def open_source(settings: Settings) -> SourceSession:
    """A session with pooled connections; rate limits apply across all processes that share the data root or the
    database."""
    return SourceSession(rate_limit(settings))


def one_model(models: Mapping[str, Model], name: str) -> Model:
    """The model of that name, which must not be an ensemble."""
    found = models_named(dict(models), name)
    if len(found) > 1:
        some = ", ".join(one.id for one in found[:4])
        raise GribmillError(f"{name} has {len(found)} members; name one of them: {some}, …")
    return found[0]


def check_run(run: str) -> None:
    """Raise IdentityError unless it is `latest` or the id of a run."""
    if run == LATEST:
        return
    try:
        run_time(run)
    except IdentityError as error:
        raise IdentityError(f"{error}, or {LATEST}") from None


def find_run(model: Model, run: str | datetime, hour: int, session: SourceSession) -> tuple[datetime, Published | None]:
    """The start of the run; for `latest`, the newest run that has this hour, and where its file is."""
    if run == LATEST:
        return newest_run(model, hour, session)
    if isinstance(run, datetime):
        return whole_hour(run if run.tzinfo else run.replace(tzinfo=UTC)), None
    return run_time(run), None


def newest_run(model: Model, hour: int, session: SourceSession) -> tuple[datetime, Published]:
    """The newest run whose file of this hour is on some mirror."""
    now = datetime.now(UTC)
    runs = [run for run in model.runs(now, back=LATEST_BACK) if hour in model.hours(run)][:LATEST_RUNS]
    trouble: dict[str, str] = {}
    for run in runs:
        # A mirror that failed is not asked about older runs: without a network, each request may take long to fail.
        for mirror in (one for one in model.mirrors if one.name not in trouble):
            try:
                found = published(model, run, mirror, session, hours={hour})
            except SourceError as error:
                trouble[mirror.name] = error.reason
                continue
            if hour in found:
                return run, found[hour]
            if now < model.expected_at(run, hour).late:
                break  # not published yet, so other mirrors do not have it either
    if not runs:
        raise GribmillError(f"no run of {model.id} in the last {LATEST_BACK.days} days has an hour {hour}")
    why = _by_reason(trouble) or "no mirror lists it"
    if len(trouble) == len(model.mirrors):
        raise GribmillError(f"no mirror of {model.id} can be read: {why}")
    raise GribmillError(f"hour {hour} of {model.id} was not found in any of the last {len(runs)} runs: {why}")


def _by_reason(trouble: Mapping[str, str]) -> str:
    """`aws-hrrr, gcs-hrrr: the host name cannot be resolved (DNS); nomads-hrrr: …`."""
    names: dict[str, list[str]] = {}
    for name, reason in trouble.items():
        names.setdefault(reason, []).append(name)
    return "; ".join(f"{', '.join(alike)}: {reason}" for reason, alike in names.items())


def target_path(out: Path | None, model_id: str, run: str, hour: int, search: str | None = None) -> Path:
    """The file to write. With a search, its name has an additional part, because each search finds other messages."""
    part = f".{hashlib.sha256(search.encode()).hexdigest()[:8]}" if search else ""
    name = f"{model_id}.{run}.f{hour:03d}{part}.grib2"
    if out is None:
        return Path(name)
    target = out / name if out.is_dir() else out
    if not target.absolute().parent.is_dir():
        raise GribmillError(f"there is no folder {target.parent} for the file")
    return target


def _settings(data: str | Path | None) -> Settings:
    return load_settings(flags={} if data is None else {"data": Path(data)})


def _without_levels(dataset: xr.Dataset) -> xr.Dataset:
    """The dataset with its level, which differs between datasets, as an attribute of each variable."""
    levels = [name for name, value in dataset.coords.items() if "GRIB_" not in str(name) and value.ndim == 0]
    kept = {"time", "step", "valid_time", "number"}
    gone = [str(name) for name in levels if name not in kept]
    for variable in dataset.data_vars.values():
        variable.attrs |= {name: float(dataset[name]) for name in gone}
    return dataset.drop_vars(gone)
