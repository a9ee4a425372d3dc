"""Validates the values that operators can change for a job type."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from gribmill.checked.constraints import Bounds, CheckFailed, Length, Matches, WrongValue
from gribmill.checked.table import read
from gribmill.errors import quoted
from gribmill.queue.errors import BadDefinition
from gribmill.queue.job_type import JobType
from gribmill.queue.model import TUNABLE

Name = Annotated[str, Matches("[a-z][a-z0-9_]{0,31}")]
Seconds = Annotated[float, Bounds(ge=0, le=7 * 86_400)]


@dataclass(frozen=True, kw_only=True)
class Tuning:
    """The tunable values and their bounds. None means no limit."""

    timeout_seconds: Annotated[int, Bounds(ge=1, le=7 * 86_400)] = 3600
    max_attempts: Annotated[int, Bounds(ge=1, le=1000)] = 3
    backoff_base_s: Seconds = 30.0
    backoff_cap_s: Seconds = 600.0
    backoff_jitter: Annotated[float, Bounds(ge=0, le=1)] = 0.1
    batch_max: Annotated[int, Bounds(ge=1, le=1000)] = 1
    max_running: Annotated[int, Bounds(ge=1, le=100_000)] | None = None
    lane: Name = "command"
    resources: Annotated[tuple[Name, ...], Length(most=20)] = ()
    on_lost: Literal["retry", "fail"] = "retry"
    retry_as: Literal["same_row", "new_job"] = "same_row"
    poll_limit: Annotated[int, Bounds(ge=1, le=1_000_000)] | None = None
    queue_order: Literal["arrival", "due"] = "arrival"
    default_args: dict[str, Any] = field(default_factory=dict)


def check_tuning(kind: JobType, changes: Mapping[str, Any]) -> dict[str, Any]:
    """Validate changes and return them as plain values; raises BadDefinition."""
    try:
        tuning = read(Tuning, changes)
    except CheckFailed as error:
        raise BadDefinition(f"{kind.key}: {_explain(error.problems[0])}") from None
    given = {name: getattr(tuning, name) for name in TUNABLE if name in changes}
    if given.get("batch_max", 1) > 1 and kind.group_by is None:
        raise BadDefinition(f"{kind.key}: batch_max has no effect: jobs of this type are not grouped")
    names = kind.argument_names
    if names is not None and (strange := sorted(given.get("default_args", {}).keys() - set(names))):
        known = ", ".join(names)
        raise BadDefinition(f"{kind.key}: default_args: no argument {quoted(strange[0])}; there are: {known}")
    return given


def check_backoff(key: str, values: Mapping[str, Any]) -> None:
    """Check the effective base and cap together: code and operator may have set one each."""
    if values["backoff_base_s"] > values["backoff_cap_s"]:
        raise BadDefinition(
            f"{key}: backoff_base_s {values['backoff_base_s']:g} is greater than backoff_cap_s"
            f" {values['backoff_cap_s']:g}"
        )


def _explain(problem: WrongValue) -> str:
    if problem.kind == "unknown key":
        return f"{quoted(problem.key)} cannot be set; these can: {', '.join(TUNABLE)}"
    if problem.text.startswith("must match"):
        return f"{problem.key}: use lower-case letters, digits and _, beginning with a letter"
    return f"{problem.key}: {problem.text}"
