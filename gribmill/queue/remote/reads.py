"""The named statements that a remote worker may run, and their parameters as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from gribmill.queue.errors import BadArguments
from gribmill.queue.times import to_datetime

# The statements that a worker and the chain's handlers use. Each is a single SELECT; other names are refused.
READS = frozenset(
    {
        "attempts/within",
        "catalogue/bytes_of_regions",
        "catalogue/given_up_work",
        "catalogue/list_freshness",
        "catalogue/list_hours",
        "catalogue/list_lacking",
        "catalogue/list_lost_runs",
        "catalogue/list_mirrors",
        "catalogue/list_outages",
        "catalogue/list_runs",
        "catalogue/list_tiles",
        "catalogue/newest_complete",
        "catalogue/one_hour",
        "catalogue/regions_of_model",
        "catalogue/runs_in_use",
        "catalogue/waiting_bytes",
        "jobs/active_like",
        "jobs/failed_like",
        "jobs/find_active",
        "leases/cancellations",
        "reservations/active",
        "tenants/list",
        "triggers/next_slot",
        "types/list",
        "workers/lease",
        "workers/list",
    }
)
_TIME = "$time"


def params_to_json(params: Mapping[str, Any]) -> dict[str, Any]:
    """Encode parameters as JSON; only times need a special form."""
    return {
        name: {_TIME: value.isoformat()} if isinstance(value, datetime) else value for name, value in params.items()
    }


def params_from_json(params: Mapping[str, Any]) -> dict[str, Any]:
    """Decode parameters; raises BadArguments."""
    return {name: _value(name, value) for name, value in params.items()}


def _value(name: str, value: Any) -> Any:
    if not (isinstance(value, dict) and value.keys() == {_TIME}):
        return value
    moment = to_datetime(value[_TIME]) if isinstance(value[_TIME], str) else None
    if moment is None:
        raise BadArguments(f"the parameter {name} is not a time")
    return moment
