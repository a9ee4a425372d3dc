"""Object-created notifications (S3, SNS, SQS) as hints to scan a run now. They may be late or repeated."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import unquote_plus

from gribmill.errors import GribmillError
from gribmill.identity import run_id
from gribmill.ingest.models.model import Model
from gribmill.ingest.models.registry import find_key
from gribmill.pipeline.job_types import scan_job
from gribmill.queue.model import NewJob

SIZE_LIMIT = 2_000_000
KEY_LIMIT = 1024
MOST_RECORDS = 1000
# SNS in SQS in a Lambda event, each a list: notifications are not nested deeper.
DEEPEST = 8


class EventError(GribmillError):
    """A notification that cannot be read."""


def scans_for(data: bytes, models: Mapping[str, Model]) -> list[NewJob]:
    """One scan per model and run that the notification names."""
    if len(data) > SIZE_LIMIT:
        raise EventError(f"a notification of more than {SIZE_LIMIT} bytes is too large")
    try:
        value = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise EventError(f"the notification is not JSON: {error}") from None
    runs = {(model.id, run_id(run)): key for key in _keys(value, DEEPEST) for model, run, _ in find_key(models, key)}
    return [scan_job(*scanned, source="event", source_ref=f"object {key}") for scanned, key in runs.items()]


def _keys(value: Any, depth: int) -> Iterator[str]:
    """The object keys in an S3 event, an SNS envelope around one, or a list of either."""
    if depth == 0:
        return
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return
    if isinstance(value, dict):
        yield from _own_key(value)
        for name in ("Message", "body", "Records", "Sns"):
            if name in value:
                listed = name == "Records" and isinstance(value[name], list)
                yield from _keys(value[name], depth if listed else depth - 1)
    elif isinstance(value, list):
        for one in value[:MOST_RECORDS]:
            yield from _keys(one, depth - 1)


def _own_key(record: dict[str, Any]) -> Iterator[str]:
    s3 = record.get("s3")
    stored = s3.get("object") if isinstance(s3, dict) else None
    key = stored.get("key") if isinstance(stored, dict) else None
    if isinstance(key, str) and 0 < len(key) <= KEY_LIMIT:
        yield unquote_plus(key)
