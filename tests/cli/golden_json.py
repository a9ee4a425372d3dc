"""A command's JSON output without values that differ from run to run."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema

from tests.cli.json_outputs import OUTPUTS

FOLDER = Path(__file__).with_name("golden")
TIME = re.compile(r"20[2-9]\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
DATABASE_TIME = re.compile(r"20[2-9]\d-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}")
PORT = re.compile(r"127\.0\.0\.1:\d+")
# These depend on the machine, the user, the clock, or the release.
VOLATILE = {
    "seconds", "heartbeat_age_seconds", "clock_offset_seconds", "oldest_ready_seconds",
    "wait_p50", "wait_p95", "run_p50", "run_p95",
    "hostname", "version", "gribmill", "created_by", "changed_by", "reserved_by", "correlation_id", "sha256", "etag",
    "bytes", "disk_free", "disk_total", "metadata",
    "requests",
}  # fmt: skip
# The wording of sentences may change.
PROSE = {
    "error", "damaged", "description", "detail", "reason", "note", "says", "why", "problems", "licence",
    "attribution", "long_name", "summary", "text",
}  # fmt: skip


def check_golden(command: str, text: str, *places: Path, case: str = "") -> None:
    """Compare a command's JSON with its stored golden (keys, their order, and values), and with its view.

    A new golden is written and fails once: review it, and run the test again.
    """
    value = json.loads(text)
    assert text == json.dumps(value, ensure_ascii=False, indent=2) + "\n", "another layout, or keys that occur twice"
    jsonschema.validate(value, OUTPUTS[command].json_schema(mode="serialization", by_alias=True))
    steady = _steady(value, _shortener(places))
    path, name = FOLDER / f"{command.split()[0]}.json", f"{command}, {case}" if case else command
    stored = json.loads(path.read_text()) if path.exists() else {}
    if name not in stored:
        path.write_text(json.dumps(stored | {name: steady}, ensure_ascii=False, indent=1) + "\n")
        raise AssertionError(f"{name!r} of {path} is new: look at it, and run the test again")
    now, before = (json.dumps(one, ensure_ascii=False, indent=1).splitlines() for one in (steady, stored[name]))
    assert now == before, "\n".join(difflib.unified_diff(before, now, "stored", "now", lineterm=""))


def _shortener(places: tuple[Path, ...]) -> Callable[[str], str]:
    def shorten(text: str) -> str:
        for place in places:
            text = text.replace(str(place), f"<{place.name}>")
        return PORT.sub("127.0.0.1:<port>", DATABASE_TIME.sub("<database time>", TIME.sub("<time>", text)))

    return shorten


def _is_volatile(key: str, value: Any) -> bool:
    # In the schema of an event's payload, the key of this number has an object.
    return (key in VOLATILE | PROSE and value is not None) or (key == "wait_seconds" and isinstance(value, float))


def _steady(value: Any, shorten: Callable[[str], str]) -> Any:
    if isinstance(value, dict):
        return {
            key: f"<{type(one).__name__}>" if _is_volatile(key, one) else _steady(one, shorten)
            for key, one in value.items()
        }
    if isinstance(value, list):
        return [_steady(one, shorten) for one in value]
    if isinstance(value, float):
        # Decoders and libraries may differ in the last digits.
        return float(f"{value:.4g}")
    return shorten(value) if isinstance(value, str) else value
