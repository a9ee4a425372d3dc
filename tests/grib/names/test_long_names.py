"""ecCodes' name of a quantity is looked up once for all hours, and again where it may differ."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from gribmill.grib.decode.eccodes import describe
from gribmill.grib.decode.field import Field, fields
from gribmill.grib.names import long_names as module
from gribmill.grib.names.long_names import long_name
from tests import make_grib


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    messages: list[bytes] = []
    monkeypatch.setattr(module, "_cached", {})

    def counting(message: bytes) -> Any:
        messages.append(message)
        return describe(message)

    monkeypatch.setattr(module, "describe", counting)
    return messages


def field(name: str = "2t", grid: str = "ecmwf-small", **facts: Any) -> Field:
    return next(iter(fields(make_grib.make_message(grid, name, **facts), "made")))


@pytest.mark.parametrize("window", [0, 1])
def test_the_same_quantity_of_other_hours_is_looked_up_once(asked: list[bytes], window: int) -> None:
    found = [
        field(
            "tp" if window else "2t",
            reference=make_grib.REFERENCE + timedelta(hours=hours),
            step=hours,
            window=(hours - window, hours) if window else None,
        )
        for hours in (1, 6, 30)
    ]
    assert len({one.keys.end for one in found}) == len({one.keys.reference for one in found}) == 3
    assert len({long_name(one) for one in found}) == 1
    assert len(asked) == 1


def test_another_level_time_range_or_parameter_is_looked_up_again(asked: list[bytes]) -> None:
    pressure = {"typeOfLevel": "isobaricInhPa"}
    for one in (
        field("2t"),
        field("2d"),
        field("t", keys=pressure | {"level": 500}),
        field("t", keys=pressure | {"level": 850}),
        field("tp", window=(0, 6), step=6),
        field("tp", window=(3, 6), step=6),
        field("tp", window=(0, 6), step=6, statistic="max"),
    ):
        long_name(one)
    assert len(asked) == 7


def test_names_and_units_are_those_of_eccodes(asked: list[bytes]) -> None:
    assert long_name(field("2t")) == long_name(field("2t", step=3)) == ("2 metre temperature", "K")
    assert len(asked) == 1


def test_eccodes_is_not_used_for_ncep_quantities(asked: list[bytes]) -> None:
    frictional = {"parameterCategory": 2, "parameterNumber": 197}
    assert long_name(field("t", "hrrr-small", keys=frictional)) == ("Frictional velocity", "m s-1")
    assert long_name(field("tp", "hrrr-small", window=(0, 6), step=6)) == ("Total Precipitation", "kg m-2")
    assert not asked
