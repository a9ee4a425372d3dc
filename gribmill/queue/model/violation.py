"""Violations of the queue's invariants."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Violation:
    """Which invariant is violated, by which job, and how."""

    invariant: str
    job_id: int | None
    detail: str
