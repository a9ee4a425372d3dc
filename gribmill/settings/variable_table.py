"""A user-defined variable: [variables.NAME] in gribmill.toml, or [NAME] in the file given by `variables_file`."""

from __future__ import annotations

from typing import Annotated, Literal

from gribmill.checked.constraints import Bounds, Length, Matches, field
from gribmill.settings.settings_table import SettingsTable, settings_table

_Words = Annotated[str, Length(1, 200)]
_OneOrMore = _Words | Annotated[list[_Words], Length(1, 20)]


@settings_table
class VariableSettings(SettingsTable):
    """A variable of your own, by the words of an index or by GRIB keys. `gribmill models check` looks for it."""

    long_name: _Words = field(description="What it is, for people.")
    units: _Words = field(description="The units of the GRIB's values.")
    standard_name: _Words | None = field(None, description="Its CF standard name.")
    palette: _Words | None = field(None, description="Its palette on gribmill's maps.")
    range: Annotated[list[float], Length(2, 2)] | None = field(
        None, description="[lowest, highest] value of a map's scale."
    )
    noaa: _OneOrMore | None = field(None, description="Element in NOAA's indexes: APCP.")
    level: _OneOrMore | None = field(None, description="Level as NOAA's indexes write it: 2 m above ground.")
    time: _Words | None = field(
        None, description="Any time of such a field, as NOAA's indexes write it: 6-12 hour acc fcst."
    )
    extra: _Words | None = field(None, description="The end of its index lines: prob >0.254:prob fcst 255/255.")
    ecmwf: _OneOrMore | None = field(None, description="param in ECMWF's indexes.")
    levtype: Literal["sfc", "pl", "sol", "hl", "pv"] | None = field(None, description="levtype in ECMWF's indexes.")
    levelist: Annotated[str, Matches("[0-9.]{1,9}")] | None = field(None, description="levelist in ECMWF's indexes.")
    grib2: _OneOrMore | None = field(None, description="discipline.category.number in GRIB2; @7 for one centre.")
    grib1: _OneOrMore | None = field(None, description="centre:table.number in GRIB1.")
    statistic: Literal["instant", "accum", "avg", "max", "min"] | None = field(
        None, description="Its statistic over a time range."
    )
    hours: Annotated[float, Bounds(gt=0, le=2400)] | None = field(None, description="Length of its time range.")
    since: Literal["run", "bucket"] | None = field(
        None, description="For sums: since the start of the run, or since a later reset."
    )
    above: float | None = field(None, description="For a probability: of values above this.")
    below: float | None = field(None, description="For a probability: of values below this.")
    percentile: Annotated[int, Bounds(ge=0, le=100)] | None = field(
        None, description="For a percentile of the ensemble."
    )
    ensemble: Literal["standard deviation", "normalised standard deviation", "spread", "interquartile range"] | None = (
        field(None, description="For a spread of the ensemble.")
    )
    fill: Annotated[list[float], Length(most=20)] | None = field(None, description="Numbers that mean no value.")
