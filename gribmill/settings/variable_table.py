"""A variable of the user's own: [variables.NAME] in gribmill.toml, or [NAME] in the file that variables_file names."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from gribmill.settings.settings_table import Number, SettingsTable, Whole

_Words = Annotated[str, Field(min_length=1, max_length=200)]
_OneOrMore = _Words | Annotated[list[_Words], Field(min_length=1, max_length=20)]


class VariableSettings(SettingsTable):
    """A variable of your own, by the words of an index or by GRIB keys. `gribmill models check` looks for it."""

    long_name: _Words = Field(description="What it is, for people.")
    units: _Words = Field(description="The units of the GRIB's values.")
    standard_name: _Words | None = Field(None, description="Its CF standard name.")
    palette: _Words | None = Field(None, description="A palette of gribmill's maps.")
    range: Annotated[list[Number], Field(min_length=2, max_length=2)] | None = Field(
        None, description="[lowest, highest] value of a map's scale."
    )
    noaa: _OneOrMore | None = Field(None, description="Element in NOAA's indexes: APCP.")
    level: _OneOrMore | None = Field(None, description="Level as NOAA's indexes write it: 2 m above ground.")
    time: _Words | None = Field(
        None, description="Any time of such a field, as NOAA's indexes write it: 6-12 hour acc fcst."
    )
    extra: _Words | None = Field(None, description="The end of its index lines: prob >0.254:prob fcst 255/255.")
    ecmwf: _OneOrMore | None = Field(None, description="param in ECMWF's indexes.")
    levtype: Literal["sfc", "pl", "sol", "hl", "pv"] | None = Field(None, description="levtype in ECMWF's indexes.")
    levelist: Annotated[str, Field(pattern=r"^[0-9.]{1,9}$")] | None = Field(
        None, description="levelist in ECMWF's indexes."
    )
    grib2: _OneOrMore | None = Field(None, description="discipline.category.number in GRIB2; @7 for one centre.")
    grib1: _OneOrMore | None = Field(None, description="centre:table.number in GRIB1.")
    statistic: Literal["instant", "accum", "avg", "max", "min"] | None = Field(None, description="Over time.")
    hours: Annotated[Number, Field(gt=0, le=2400)] | None = Field(None, description="Length of its time range.")
    since: Literal["run", "bucket"] | None = Field(None, description="Of sums: since the run began, or later.")
    above: Number | None = Field(None, description="A probability of values above this.")
    below: Number | None = Field(None, description="A probability of values below this.")
    percentile: Annotated[Whole, Field(ge=0, le=100)] | None = Field(None, description="Of the ensemble.")
    ensemble: Literal["standard deviation", "normalised standard deviation", "spread", "interquartile range"] | None = (
        Field(None, description="A spread of the ensemble.")
    )
    fill: Annotated[list[Number], Field(max_length=20)] | None = Field(None, description="Numbers that mean no value.")
