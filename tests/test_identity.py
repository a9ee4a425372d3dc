"""Names of models, runs, hours and regions: which are valid, and run ids round-trip."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from gribmill.identity import (
    HourRef,
    IdentityError,
    RunRef,
    TileRef,
    check_model_id,
    check_region_name,
    run_id,
    run_time,
    whole_hour,
)
from gribmill.identity_fields import ModelId, RunId

MOMENTS = st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30), timezones=st.just(UTC)).map(  # noqa: DTZ001
    lambda moment: moment.replace(second=0, microsecond=0)
)


@given(MOMENTS)
def test_run_ids_read_back(moment: datetime) -> None:
    assert run_time(run_id(moment)) == moment


def test_a_run_id_is_in_utc_and_has_minutes_only_where_they_are_needed() -> None:
    assert run_id(datetime(2026, 9, 1, 2, tzinfo=timezone(timedelta(hours=2)))) == "20260901_00"
    assert run_id(datetime(2026, 9, 1, 0, 30, tzinfo=UTC)) == "20260901_0030"
    assert run_id(datetime(20, 9, 1, tzinfo=UTC)) == "00200901_00"


@pytest.mark.parametrize(
    "text",
    ["2026090106", "20260901_24", "20260230_00", "20260901_6", "20260901_0660", "../../x_00", "20260901_06\n",
     "２0260901_06", ""],
)  # fmt: skip
def test_only_a_date_with_an_hour_is_a_run(text: str) -> None:
    with pytest.raises(IdentityError, match="is not a run: use YYYYMMDD_HH"):
        run_time(text)


def test_published_runs_begin_on_the_hour_in_a_known_time_zone() -> None:
    moment = datetime(2026, 9, 1, 6, tzinfo=UTC)
    assert whole_hour(moment) == moment
    for wrong in (moment.replace(tzinfo=None), moment.replace(minute=30), moment.replace(year=999)):
        with pytest.raises(IdentityError):
            whole_hour(wrong)


@pytest.mark.parametrize("name", ["hrrr", "gefs.p01", "gfs-g2", "gefs.p01-g2", "x" * 40])
def test_models_members_and_second_grids_have_names(name: str) -> None:
    assert check_model_id(name) == TypeAdapter(ModelId).validate_python(name) == name


@pytest.mark.parametrize("name", ["", "HRRR", "../hrrr", "a/b", "_a", "-a", "x" * 41, "hrrr\n", ".p01", "hrrr.", "ä"])
def test_names_that_could_leave_a_folder_are_not_model_names(name: str) -> None:
    with pytest.raises(IdentityError, match="is not a model name"):
        check_model_id(name)
    with pytest.raises(ValidationError):
        TypeAdapter(ModelId).validate_python(name)


@pytest.mark.parametrize("name", ["", "Alps", "../x", "a b", "_a", "a" * 41, "a\n", "a.b"])
def test_names_that_could_leave_a_folder_are_not_region_names(name: str) -> None:
    with pytest.raises(IdentityError, match="is not a region name"):
        check_region_name(name)


@pytest.mark.parametrize("text", ["20260901_06\n", "２0260901_06", "20260901_066"])
def test_the_pattern_in_job_arguments_is_the_same_one(text: str) -> None:
    with pytest.raises(ValidationError):
        TypeAdapter(RunId).validate_python(text)


@pytest.mark.parametrize(
    "make",
    [
        lambda: RunRef("../x", "20260901_06"),
        lambda: RunRef("hrrr", "../.."),
        lambda: HourRef("hrrr", "20260901_06", -1),
        lambda: HourRef("hrrr", "20260901_06", 8785),
        lambda: TileRef("hrrr", "20260901_06", 1, "../x"),
    ],
)
def test_a_reference_with_a_wrong_name_is_not_made(make: Callable[[], object]) -> None:
    with pytest.raises(IdentityError):
        make()


def test_references_lead_to_each_other() -> None:
    hour = RunRef("hrrr", "20260901_06").hour(3)
    assert str(hour) == "hrrr/20260901_06/003"
    assert hour.tile("ne").hour_ref == hour
    assert hour.run.time == datetime(2026, 9, 1, 6, tzinfo=UTC)
