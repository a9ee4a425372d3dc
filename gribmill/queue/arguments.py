"""Job arguments as pydantic models. Imported on first validation, so read-only commands start without pydantic."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field


class Args(BaseModel):
    """The base of every argument model: unknown keys are refused."""

    # Built on first use, so executors do not build validators for types that they never run.
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True, ser_json_inf_nan="constants")


class CommandArgs(Args):
    """Any object; the definition's JSON Schema constrains it further."""

    model_config = ConfigDict(extra="allow", frozen=True)


class SleepArgs(Args):
    """How long to sleep, what to print, and how to end."""

    seconds: Annotated[float, Field(ge=0, le=86_400)] = 0.0
    say: Annotated[str, Field(max_length=10_000)] = ""
    fail: Literal["never", "always", "once", "permanently", "crash"] = "never"
    snooze_seconds: Annotated[float, Field(ge=0, le=86_400)] | None = None
