"""Published events against the schemas that `gribmill events names --json` prints."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from gribmill.views.queue.event import PAYLOADS


def undocumented(events: Iterable[tuple[str, Any]]) -> list[str]:
    """Differences from the documentation: undocumented names, keys and types."""
    return [fault for name, payload in events if (fault := _fault(name, payload))]


def _fault(name: str, payload: Any) -> str | None:
    if name not in PAYLOADS:
        return f"{name} is not documented"
    view, _ = PAYLOADS[name]
    if {*payload} != {*view.model_fields}:
        return f"{name} has {sorted(payload)}, and not {sorted(view.model_fields)}"
    try:
        view.model_validate(payload, strict=True)
    except ValueError as error:
        return f"{name}: {error}"
    return None
