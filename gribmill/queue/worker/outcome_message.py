"""How an attempt ended, as JSON: from an executor to its supervisor, and from a worker to a server."""

from __future__ import annotations

from dataclasses import asdict
from functools import lru_cache
from typing import Any

from pydantic import TypeAdapter, ValidationError

from gribmill.queue.errors import QueueError
from gribmill.queue.model import Failed, Outcome, Snoozed, Stopped, Succeeded

LONGEST_SNOOZE_SECONDS = 10 * 366 * 86400.0
_KINDS: dict[str, type[Outcome]] = {
    "succeeded": Succeeded,
    "failed": Failed,
    "snoozed": Snoozed,
    "stopped": Stopped,
}
_NAMES = {kind: name for name, kind in _KINDS.items()}


def outcome_to_message(outcome: Outcome) -> dict[str, Any]:
    return {"kind": _NAMES[type(outcome)], **asdict(outcome)}


def outcome_from_message(message: dict[str, Any]) -> Outcome:
    """Validate the outcome that a handler returned."""
    fields = dict(message)
    name = str(fields.pop("kind", None))
    if name not in _KINDS:
        raise QueueError("the handler's outcome has an unknown kind")
    try:
        outcome = _reader(name).validate_python(fields)
    except ValidationError as error:
        problem = error.errors(include_url=False, include_context=False)[0]
        place = ".".join(str(part) for part in problem["loc"])
        raise QueueError(f"the handler's outcome is malformed: {place}: {problem['msg']}") from None
    if isinstance(outcome, Snoozed) and not 0 <= outcome.seconds <= LONGEST_SNOOZE_SECONDS:
        raise QueueError(f"the handler snoozed for {outcome.seconds} s, which is not between 0 and ten years")
    if isinstance(outcome, Failed) and not 0 <= (outcome.retry_in or 0) <= LONGEST_SNOOZE_SECONDS:
        raise QueueError(f"the handler wants a retry in {outcome.retry_in} s, which is not between 0 and ten years")
    transfer = None if isinstance(outcome, Stopped) else outcome.transfer
    if transfer and not all(0 <= (size or 0) < 2**63 for size in (transfer.downloaded, transfer.written)):
        raise QueueError("the handler reports a number of bytes that is negative or too large")
    return outcome


@lru_cache
def _reader(name: str) -> TypeAdapter[Outcome]:
    """The validator of an outcome, built on first use: executors do not need it."""
    return TypeAdapter(_KINDS[name])
