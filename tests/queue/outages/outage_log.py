"""Outages as a worker's log reports them."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from tests.queue.worker.worker_driver import Process

OVER = re.compile(r"the queue can be written again, after ([0-9.]+) s")


@dataclass(frozen=True)
class OutageLog:
    """The errors in a worker's log, and the length of each outage."""

    errors: list[str]
    seconds: list[float]

    @classmethod
    def of(cls, worker: Process) -> OutageLog:
        lines = [json.loads(line) for line in worker.log.splitlines() if line.startswith("{")]
        errors = [line["message"] for line in lines if line["level"] == "error"]
        texts = [line["message"] for line in lines]
        return cls(errors, [float(found[1]) for text in texts if (found := OVER.fullmatch(text))])

    def of_store(self) -> list[str]:
        """The errors that report an unusable database."""
        return [text for text in self.errors if "trying again every" in text]
