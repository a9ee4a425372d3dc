"""The named statements that a remote worker may run, and their parameters as JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from gribmill.errors import quoted
from gribmill.queue.errors import BadArguments
from gribmill.queue.times import to_datetime

_TIME = "$time"


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and "\0" not in value  # which PostgreSQL refuses


class _Kind(NamedTuple):
    """What a parameter is called in an error, and whether a decoded value is one."""

    name: str
    holds: Callable[[Any], bool]


_TEXT = _Kind("text", _is_text)
_TEXT_OR_NULL = _Kind("text or null", lambda value: value is None or _is_text(value))
_TEXTS = _Kind("a list of texts", lambda value: isinstance(value, list) and all(map(_is_text, value)))
_NUMBER = _Kind("a whole number from 0 to 2^63 - 1", lambda value: type(value) is int and 0 <= value < 2**63)
_FLAG = _Kind("true or false", lambda value: isinstance(value, bool))
_MOMENT = _Kind("a time", lambda value: isinstance(value, datetime))
_RUN = {"model_id": _TEXT, "run_id": _TEXT}

# The statements that a worker and the chain's handlers use, with their parameters. Each is a single SELECT; others are
# refused. PostgreSQL would report a value of another type as an error of the database.
READS: Mapping[str, Mapping[str, _Kind]] = {
    "attempts/within": {"first": _NUMBER, "end": _NUMBER},
    "catalogue/bytes_of_regions": {"regions": _TEXTS},
    "catalogue/given_up_work": {"since": _MOMENT, "limit": _NUMBER},
    "catalogue/list_freshness": {},
    "catalogue/list_hours": _RUN,
    "catalogue/list_lacking": {**_RUN, "regions": _TEXTS},
    "catalogue/list_lost_runs": {"model_id": _TEXT},
    "catalogue/list_mirrors": {},
    "catalogue/list_outages": {},
    "catalogue/list_runs": {"model_id": _TEXT_OR_NULL, "limit": _NUMBER},
    "catalogue/list_tiles": {**_RUN, "lost": _FLAG},
    "catalogue/newest_complete": {"model_id": _TEXT, "region": _TEXT},
    "catalogue/one_hour": {**_RUN, "hour": _NUMBER},
    "catalogue/regions_of_model": {"model_id": _TEXT},
    "catalogue/runs_in_use": {},
    "catalogue/waiting_bytes": {},
    "jobs/active_like": {"tenant_id": _TEXT, "dedupe_keys": _TEXTS},
    "jobs/failed_like": {"dedupe_keys": _TEXTS},
    "jobs/find_active": {"tenant_id": _TEXT, "dedupe_key": _TEXT},
    "leases/cancellations": {"worker_id": _TEXT},
    "reservations/active": {},
    "tenants/list": {},
    "triggers/next_slot": {"types": _TEXTS},
    "types/list": {},
    "workers/lease": {"name": _TEXT},
    "workers/list": {},
}


def params_to_json(params: Mapping[str, Any]) -> dict[str, Any]:
    """Encode parameters as JSON; only times need a special form."""
    return {
        name: {_TIME: value.isoformat()} if isinstance(value, datetime) else value for name, value in params.items()
    }


def params_from_json(statement: str, params: Mapping[str, Any]) -> dict[str, Any]:
    """Decode the parameters of a statement; raises BadArguments if workers may not read it, or not with these."""
    kinds = READS.get(statement)
    if kinds is None:
        raise BadArguments(f"workers do not read {quoted(statement)}: update the server, or this worker")
    if unknown := next((name for name in params if name not in kinds), None):
        raise BadArguments(f"{statement} has no parameter {quoted(unknown)}: update the server, or this worker")
    found = {name: _decoded(params.get(name)) for name in kinds}
    for name, kind in kinds.items():
        if not kind.holds(found[name]):
            raise BadArguments(f"the parameter {name} of {statement} must be {kind.name}")
    return found


def _decoded(value: Any) -> Any:
    """A time in its special form as such; None if it is malformed. Other values are as they are in JSON."""
    if not (isinstance(value, dict) and value.keys() == {_TIME}):
        return value
    return to_datetime(value[_TIME]) if isinstance(value[_TIME], str) else None
