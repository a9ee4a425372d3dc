"""Violations of the queue's invariants."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Violation:
    """A violated invariant, the job that violates it, and how."""

    invariant: str
    job_id: int | None
    detail: str
