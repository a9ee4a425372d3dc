"""Which values an operator may give a job type, and the sentence where one is refused."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from gribmill.errors import quoted
from gribmill.queue.errors import BadDefinition
from gribmill.queue.job_type import JobType
from gribmill.queue.model import TUNABLE

Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,31}$")]
Seconds = Annotated[float, Field(ge=0, le=7 * 86_400, allow_inf_nan=False)]


class Tuning(BaseModel):
    """The values, each within its bounds. None where there may be no limit."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    timeout_seconds: Annotated[int, Field(ge=1, le=7 * 86_400)] = 3600
    max_attempts: Annotated[int, Field(ge=1, le=1000)] = 3
    backoff_base_s: Seconds = 30.0
    backoff_cap_s: Seconds = 600.0
    backoff_jitter: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)] = 0.1
    batch_max: Annotated[int, Field(ge=1, le=1000)] = 1
    max_running: Annotated[int, Field(ge=1, le=100_000)] | None = None
    lane: Name = "command"
    resources: Annotated[tuple[Name, ...], Field(max_length=20)] = ()
    on_lost: Literal["retry", "fail"] = "retry"
    retry_as: Literal["same_row", "new_job"] = "same_row"
    poll_limit: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    default_args: dict[str, Any] = Field(default_factory=dict)


def check_tuning(kind: JobType, changes: Mapping[str, Any]) -> dict[str, Any]:
    """The changes as plain values, or BadDefinition in one sentence."""
    try:
        tuning = Tuning.model_validate(dict(changes))
    except ValidationError as error:
        raise BadDefinition(f"{kind.key}: {_explain(error)}") from None
    given = {name: getattr(tuning, name) for name in TUNABLE if name in tuning.model_fields_set}
    if given.get("batch_max", 1) > 1 and kind.group_by is None:
        raise BadDefinition(f"{kind.key}: batch_max has no effect: jobs of this type are not grouped")
    names = kind.argument_names
    if names is not None and (strange := sorted(given.get("default_args", {}).keys() - set(names))):
        known = ", ".join(names)
        raise BadDefinition(f"{kind.key}: default_args: no argument {quoted(strange[0])}; there are: {known}")
    return given


def check_backoff(key: str, values: Mapping[str, Any]) -> None:
    """Base and cap may come from different hands: they are checked together, as they are in force."""
    if values["backoff_base_s"] > values["backoff_cap_s"]:
        raise BadDefinition(
            f"{key}: backoff_base_s {values['backoff_base_s']:g} is greater than backoff_cap_s"
            f" {values['backoff_cap_s']:g}"
        )


def _explain(error: ValidationError) -> str:
    problem = error.errors(include_url=False, include_context=False)[0]
    place = ".".join(str(part) for part in problem["loc"])
    if problem["type"] == "extra_forbidden":
        return f"{quoted(place)} cannot be set; these can: {', '.join(TUNABLE)}"
    if problem["type"] == "string_pattern_mismatch":
        return f"{place}: use lower-case letters, digits and _, beginning with a letter"
    return f"{place}: {problem['msg'][:1].lower()}{problem['msg'][1:]}"
