"""S3 notifications in any envelope become one scan per run; other input is ignored or refused."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gribmill.pipeline.context import Context
from gribmill.pipeline.s3_events import SIZE_LIMIT, EventError, scans_for

KEY = "hrrr.20261115/conus/hrrr.t06z.wrfsfcf05.grib2"


def s3_event(*keys: str) -> dict[str, Any]:
    return {"Records": [{"s3": {"bucket": {"name": "noaa-hrrr-bdp-pds"}, "object": {"key": key}}} for key in keys]}


def scans(context: Context, value: object) -> list[tuple[str, str]]:
    jobs = scans_for((value if isinstance(value, str) else json.dumps(value)).encode(), context.models)
    return [(job.args["model_id"], job.args["run_id"]) for job in jobs]


@pytest.mark.parametrize(
    "wrap",
    [
        lambda event: event,
        lambda event: {"Type": "Notification", "Message": json.dumps(event)},
        lambda event: {"Records": [{"Sns": {"Message": json.dumps(event)}}]},
        lambda event: [{"body": json.dumps({"Message": json.dumps(event)})}],
    ],
    ids=["plain", "sns", "lambda", "sqs"],
)
def test_notification_becomes_a_scan_of_its_run(context: Context, wrap: Any) -> None:
    assert scans(context, wrap(s3_event(KEY))) == [("hrrr", "20261115_06")]


def test_many_files_of_a_run_are_one_scan(context: Context) -> None:
    keys = [KEY, KEY + ".idx", KEY.replace("f05", "f06")]
    assert scans(context, s3_event(*keys)) == [("hrrr", "20261115_06")]


def test_key_may_be_percent_encoded(context: Context) -> None:
    assert scans(context, s3_event(KEY.replace("/", "%2F"))) == [("hrrr", "20261115_06")]


@pytest.mark.parametrize(
    "value",
    [
        {},
        [],
        "null",
        "3",
        s3_event("hrrr.20261115/conus/../../etc/passwd", "x" * 5000, "other/file.grib2"),
        {"Records": [{"s3": None}, {"s3": {"object": []}}, {"s3": {"object": {"key": 7}}}, None, 4]},
        {"Message": "not json"},
        {"Message": "[" * 100_000},
        "[" * 500 + "]" * 500,
    ],
)
def test_a_notification_of_an_unknown_file_is_ignored(context: Context, value: object) -> None:
    assert scans(context, value) == []


def test_deeply_nested_notifications_are_refused(context: Context) -> None:
    value: object = s3_event(KEY)
    for _ in range(50):
        value = {"Message": json.dumps(value)} if len(json.dumps(value)) < 100_000 else value
    assert scans(context, value) == []


def test_records_that_are_not_a_list_count_as_nesting(context: Context) -> None:
    value = s3_event(KEY)
    for _ in range(50):
        value = {"Records": value}
    assert scans(context, value) == []


@pytest.mark.parametrize("data", [b"{", b"", b"\xff\xfe\xed", b"GRIB\0\0\0\2", b"[" * 100_000, b"x" * (SIZE_LIMIT + 1)])
def test_input_that_is_not_a_notification_is_refused(context: Context, data: bytes) -> None:
    with pytest.raises(EventError, match="notification"):
        scans_for(data, context.models)
