"""Checks that a model's description is consistent: keys can be parsed, variables are found, the grid is known."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from gribmill.errors import GribmillError
from gribmill.ingest.index.entry import Inventory
from gribmill.ingest.index.parse import parse_index
from gribmill.ingest.index.sample import sample_index, sample_source
from gribmill.ingest.index.select import select, wanted
from gribmill.ingest.models.model import Model
from gribmill.regions.grids.spec import named_grids

DAY = timedelta(days=1)
HOUR = timedelta(hours=1)
# Sums and extremes have other windows in a run's first hours: enough hours to see each kind.
TRIED_HOURS = 13
MOST_PROBLEMS = 5


@dataclass(slots=True)
class Findings:
    """What was checked for one model, and the problems found."""

    model: str
    # Where the variables were searched: `real`, `reported` or `made up` for a sample inventory, `index` for a given
    # one, None if the model has no index; and a description.
    source: str | None = None
    source_text: str = ""
    keys: int = 0
    found: set[str] = field(default_factory=set)
    missing: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    unchecked: str | None = None
    """What could not be checked, and how to check it."""


def check_model(model: Model, now: datetime, inventory: Inventory | None = None, hour: int | None = None) -> Findings:
    """Check all that can be checked offline; variables against `inventory`, or an index made from the sample."""
    findings = Findings(model.id)
    if model.grid is not None and model.grid not in {grid.name for grid in named_grids()}:
        findings.problems.append(f"there is no grid {model.grid!r}")
    if not model.latencies:
        findings.problems.append("no latency is given, so it is unknown when to look for runs")
    for run in _runs_to_try(model, now):
        findings.keys += _check_keys(model, run, findings.problems)
    if inventory is None and all(layout.index == "none" for layout in model.layouts):
        findings.unchecked = (
            f"the {len(model.variables)} variables, because its files have no index; fetch an hour and list it with"
            " `gribmill grib ls`"
        )
        return findings
    try:
        if inventory is not None:
            findings.source, findings.source_text = "index", inventory.source
            _try_variables(model, inventory, hour or 0, findings)
        else:
            findings.source, findings.source_text = sample_source(model)
            _try_sample(model, now, findings)
    except GribmillError as error:
        findings.problems.append(str(error))
    findings.missing = [name for name in model.variables if name not in findings.found]
    if findings.missing:
        findings.problems.append(f"not found in the index: {', '.join(findings.missing)}")
    return findings


def _runs_to_try(model: Model, now: datetime) -> Iterator[datetime]:
    """A run of each cycle, now and before and after each date at which the description changes."""
    dates = {now}
    changes = [(row.begins, row.ends) for row in model.layouts]
    changes += [(row.begins, row.ends) for row in model.schedules]
    changes += [(mirror.begins, mirror.ends) for mirror in model.mirrors]
    dates |= {moment for pair in changes for date in pair if date for moment in (date + DAY, date - HOUR)}
    tried: set[object] = set()
    for date in sorted(dates):
        for run in model.runs(date, back=DAY):
            alike = (run.hour, model.hours(run), tuple(model.list_prefix(run, one) is None for one in model.mirrors))
            layouts = tuple(layout for layout in model.layouts if layout.fits(run))
            if (alike, layouts) not in tried:
                tried.add((alike, layouts))
                yield run


def _check_keys(model: Model, run: datetime, problems: list[str]) -> int:
    """Check the keys of a run: filled in for every mirror, parsed back, found below the listing's prefix. Returns how
    many were checked."""
    prefixes = {mirror.name: model.list_prefix(run, mirror) or "/" for mirror in model.mirrors}
    tried: set[str] = set()
    for hour in model.hours(run):
        sources = model.urls(run, hour)
        if not sources:
            problems.append(f"no mirror has the run {run:%Y-%m-%d %H}")
        for mirror, grib_url, index_url, _ in sources:
            key = grib_url.removeprefix(mirror.root)
            if key in tried:
                continue
            tried.add(key)
            if model.parse_key(key) != (run, hour) or not key.startswith(prefixes[mirror.name]):
                problems.append(f"{key} does not read back as hour {hour} of {run:%Y-%m-%d %H}")
            if index_url and model.parse_index_key(index_url.removeprefix(mirror.root)) != (run, hour):
                problems.append(f"{index_url} does not read back as an index")
        if len(problems) > MOST_PROBLEMS:
            break
    return len(tried)


def _try_sample(model: Model, now: datetime, findings: Findings) -> None:
    run = next(iter(model.runs(now)), None) or last_run(model)
    if run is None:
        raise GribmillError(f"{model.id} has no run at all")
    for hour in model.hours(run)[:TRIED_HOURS]:
        data = sample_index(model, run, hour)
        inventory = parse_index(model.layouts[0].index, data, f"the sample index of hour {hour}", run)
        _try_variables(model, inventory, hour, findings)


def _try_variables(model: Model, inventory: Inventory, hour: int, findings: Findings) -> None:
    chosen = select(inventory, wanted(model.variables), hour, extras=model.extras, offset_minutes=model.offset_minutes)
    findings.found |= chosen.found.keys()


def last_run(model: Model) -> datetime | None:
    """The newest run of a model that has ended."""
    ends = [model.ends, *(row.ends for row in model.layouts), *(row.ends for row in model.schedules)]
    runs = (run for end in sorted(filter(None, ends), reverse=True) for run in model.runs(end, back=2 * DAY))
    return next(runs, None)
