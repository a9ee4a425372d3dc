"""The key that keeps two equal jobs from being active at once."""

from __future__ import annotations

import json
from typing import Any

_CANONICAL = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def dedupe_key(type_key: str, tenant_id: str, args: dict[str, Any]) -> str:
    """`<type>::<tenant>::<args as JSON with sorted keys>`."""
    return f"{type_key}::{tenant_id}::{canonical_json(args)}"


def canonical_json(value: Any) -> str:
    """The one JSON text of a value: sorted keys, no spaces, no NaN."""
    return _CANONICAL.encode(value)
