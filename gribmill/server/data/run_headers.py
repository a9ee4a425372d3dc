"""Headers that name the run of a response, for formats without a field for it."""

from __future__ import annotations

from datetime import UTC, datetime


def run_headers(model: str, run: str, ingested_at: datetime | None, built_at: datetime | None) -> dict[str, str]:
    """The model, the run, and when it was downloaded and built, if known."""
    found = {"Gribmill-Model": model, "Gribmill-Run": run}
    for key, moment in (("Ingested", ingested_at), ("Built", built_at)):
        if moment is not None:
            found[f"Gribmill-{key}-At"] = f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"
    return found
