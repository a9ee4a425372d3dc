"""Removes secrets from what jobs print and from their errors."""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from gribmill.queue.model import Failed, Outcome, Snoozed, Stopped, Succeeded

HIDDEN = "[redacted]"
SHORTEST_SECRET = 6
# The longest error or reason that the queue stores.
TEXT_LIMIT = 20_000

# Patterns are anchored at word starts and do not backtrack, so long words take linear time.
_AUTHORIZATION = re.compile(
    r"(?i)(?<!\w)(authorization[\"']?\s*+[:=]\s*+[\"']?(?:(?:bearer|basic|digest|token)\s++)?)([^\s\"',;]+)"
)
_BEARER = re.compile(r"(?i)(?<!\w)(bearer\s++)([\w.~+/=-]{8,})")
_URL = re.compile(r"(?<!\w)(\w++://[^/\s:@]*+:)([^@\s/]++)(?=@)")
_AWS_KEY = re.compile(r"(?<!\w)()((?:AKIA|ASIA)[A-Z0-9]{16})\b")
_ACCESS_TOKEN = re.compile(r"(?<!\w)()(gm_[a-z0-9]{8}_[A-Za-z0-9_-]{32}_[0-9a-f]{8})")
_WORD = re.compile(r"(?<![\w.-])[\w.-]++")
# The part after the name in name=value and "name": "value", and in --name value.
_VALUE = re.compile(r"([\"']?\s*+[=:]\s*+)(\"[^\"\n]*+\"?|'[^'\n]*+'?|[^\s\"'&,;}]++)")
_FLAG_VALUE = re.compile(r"([ \t]++)(\"[^\"\n]*+\"?|'[^'\n]*+'?|[^\s\"'&,;}]++)")
_SECRET_NAME = re.compile(
    r"(?i)password|passwd|passphrase|secret|token|api[_-]?key|access[_-]?key|credential|signature"
    r"|(?:^|[_.-])(?:pass|pwd|auth|sig)(?:$|[_.-])"
)
_SECRET_VARIABLE = re.compile(r"(?i)(password|secret|token|api_?key|access_?key|credential)")


def redact(text: str, environment: Mapping[str, str] | None = None) -> str:
    """Hide values whose names look like secrets, and the values of such environment variables."""
    for name, value in (os.environ if environment is None else environment).items():
        if len(value) >= SHORTEST_SECRET and _SECRET_VARIABLE.search(name):
            text = text.replace(value, HIDDEN)
    for pattern in (_AUTHORIZATION, _BEARER, _URL, _AWS_KEY, _ACCESS_TOKEN):
        text = pattern.sub(rf"\g<1>{HIDDEN}", text)
    return _hide_named(text)


def redacted(outcome: Outcome) -> Outcome:
    """Redact the messages of an outcome: errors quote URLs, and URLs may carry signatures."""
    if isinstance(outcome, Succeeded):
        return dataclasses.replace(outcome, skipped=clean(outcome.skipped)) if outcome.skipped else outcome
    if isinstance(outcome, Snoozed):
        return dataclasses.replace(outcome, reason=clean(outcome.reason))
    assert isinstance(outcome, Failed | Stopped)
    return dataclasses.replace(outcome, error=clean(outcome.error))


def clean(text: str) -> str:
    """Redact, shorten and make storable: file names may contain bytes that are not valid text."""
    storable = text[-TEXT_LIMIT:].encode("utf-8", errors="backslashreplace").decode()
    return redact(storable)


def redact_json(value: Any) -> Any:
    """A JSON value, such as a job's arguments, with secrets hidden."""
    if isinstance(value, dict):
        return {
            key: HIDDEN if isinstance(key, str) and _SECRET_NAME.search(key) else redact_json(item)
            for key, item in value.items()
        }
    if isinstance(value, list):
        return [HIDDEN if _is_flag_value(*two) else redact_json(two[1]) for two in pairwise([None, *value])]
    return redact(value) if isinstance(value, str) else value


def _is_flag_value(before: Any, item: Any) -> bool:
    """Whether an item of a command is the value of the option before it, and that looks like a secret's name. A
    placeholder (`{{token}}`) is not a secret."""
    if not isinstance(before, str) or not isinstance(item, str) or item.startswith(("-", "{{")):
        return False
    return before.startswith("-") and _SECRET_NAME.search(before) is not None


def unredacted(given: Any, stored: Any) -> Any:
    """A value that was shown with secrets hidden, and sent back changed: what is still hidden is as stored."""
    return _restored(given, stored, redact_json(stored))


def _restored(given: Any, stored: Any, shown: Any) -> Any:
    if given == shown:
        return stored
    if isinstance(given, dict) and isinstance(stored, dict):
        return {key: _restored(item, stored[key], shown[key]) if key in stored else item for key, item in given.items()}
    if isinstance(given, list) and isinstance(stored, list) and len(given) == len(stored):
        return [_restored(*three) for three in zip(given, stored, shown, strict=True)]
    return given


def _hide_named(text: str) -> str:
    """Hide the value after a name that looks like a secret."""
    kept: list[str] = []
    done = 0
    for word in _WORD.finditer(text):
        if word.start() < done or not _SECRET_NAME.search(word[0]):
            continue
        value = _VALUE.match(text, word.end())
        if value is None and word[0].startswith("--"):
            value = _FLAG_VALUE.match(text, word.end())
        if value is not None:
            quote = value[2][0] if value[2][0] in "\"'" else ""
            kept += [text[done : value.start(2)], quote, HIDDEN, quote]
            done = value.end()
    return "".join([*kept, text[done:]])
