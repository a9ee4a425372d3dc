"""A job in a few words: `hrrr 20261117_00 +7 ne`, and why it failed without the addresses."""

from __future__ import annotations

import json
import re
from typing import Any

from gribmill.ingest.http.errors import without_addresses

_PLACE = re.compile(r"^[a-z][\w.]* \d{8}_\d{2}(?:\d{2})? hour \d+: ")


def job_text(args: Any) -> str:
    """What a job is about: model, run, hour and region. Arguments of other jobs as JSON, text as it is."""
    if isinstance(args, str):
        return args
    if not isinstance(args, dict):
        return json.dumps(args, ensure_ascii=False)
    left = dict(args)
    words = [str(left.pop(name)) for name in ("model_id", "run_id") if isinstance(left.get(name), str)]
    if isinstance(left.get("hour"), int):
        words.append(f"+{left.pop('hour')}")
    if isinstance(left.get("region"), str):
        words.append(left.pop("region"))
    if isinstance(left.get("regions"), list | tuple):
        words.append(",".join(map(str, left.pop("regions"))))
    if left or not words:
        words.append(json.dumps(left, separators=(",", ":"), ensure_ascii=False))
    return " ".join(words)


def short_error(text: str) -> str:
    """The first line of a job's error, without the addresses and without repeating what the job is about."""
    return _PLACE.sub("", without_addresses(text.strip().partition("\n")[0]))
