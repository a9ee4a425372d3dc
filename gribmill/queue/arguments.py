"""Arguments of jobs as pydantic models. Imported when the first arguments are checked: commands that only look need
none."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field


class Args(BaseModel):
    """The base of every argument model: unknown keys are refused."""

    # Checked when the first job of a type comes: executors start without the checks of all others.
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True, ser_json_inf_nan="constants")


class CommandArgs(Args):
    """Any object; the definition's own schema says more."""

    model_config = ConfigDict(extra="allow", frozen=True)


class SleepArgs(Args):
    """How long, what to say, how to end."""

    seconds: Annotated[float, Field(ge=0, le=86_400)] = 0.0
    say: Annotated[str, Field(max_length=10_000)] = ""
    fail: Literal["never", "always", "once", "permanently", "crash"] = "never"
    snooze_seconds: Annotated[float, Field(ge=0, le=86_400)] | None = None
