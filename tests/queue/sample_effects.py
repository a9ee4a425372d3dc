"""Effects for the handlers in tests: they write notes and pause job types."""

from __future__ import annotations

import json
from typing import Any

from gribmill.database.protocol import Transaction
from gribmill.queue.errors import BadEffect
from gribmill.queue.model import Effect
from gribmill.queue.store.exchange import Change

FIELDS = {"note": {"job_id", "text"}, "pause": {"type"}}


def note(job_id: int, text: str | None) -> Effect:
    """A row with a number and a text. Without a text it passes validation, and the database refuses it."""
    return Effect("note", json.dumps({"job_id": job_id, "text": text}))


def pause(type_key: object) -> Effect:
    return Effect("pause", json.dumps({"type": type_key}))


class SampleEffects:
    """Applies the effects `note` and `pause`."""

    def prepare(self, effect: Effect) -> Change:
        if effect.kind not in FIELDS:
            raise BadEffect(f"there is no effect {effect.kind!r}")
        try:
            payload: dict[str, Any] = json.loads(effect.payload)
        except ValueError as error:
            raise BadEffect(f"{effect.kind}: {error}") from None
        if payload.keys() != FIELDS[effect.kind]:
            raise BadEffect(f"{effect.kind}: a field is missing")
        return lambda tx: _apply(tx, effect.kind, payload)


def _apply(tx: Transaction, kind: str, payload: dict[str, Any]) -> None:
    if kind == "pause":
        tx.change("types/pause", {"key": payload["type"], "paused_at": tx.now})
    else:
        row = {"model_id": payload["text"], "run_id": "r", "region": "x", "hour": payload["job_id"]}
        tx.change("catalogue/record_tile", {**row, "bytes": 1, "generation": 1, "variables": []})
