"""The one table of access: operation id → least role × own or any tenant.

Every route has a line here under its operation id (the name of its function); without one it fails at import.
"""

from __future__ import annotations

from gribmill.server.access.console_operations import CONSOLE_OPERATIONS
from gribmill.server.access.roles import PUBLIC, VIEWER, Access, any_tenant

SERVER = {
    "healthz": PUBLIC,
    "readyz": PUBLIC,
    "openapi_document": PUBLIC,
    "api_docs": PUBLIC,
    "api_docs_style": PUBLIC,
    "log_in": PUBLIC,
    "log_out": PUBLIC,
    "show_session": PUBLIC,
    "metrics": any_tenant(VIEWER),
}

QUEUE: dict[str, Access] = {}

DATA: dict[str, Access] = {
    "list_models": any_tenant(VIEWER),
    "model_update_times": any_tenant(VIEWER),
    "list_regions": any_tenant(VIEWER),
    "list_runs": any_tenant(VIEWER),
    "latest_runs": any_tenant(VIEWER),
    "data_status": any_tenant(VIEWER),
    "download_tile": any_tenant(VIEWER),
    "tile_headers": any_tenant(VIEWER),
    "tile_metadata": any_tenant(VIEWER),
    "tile_picture": any_tenant(VIEWER),
    "tile_arrow": any_tenant(VIEWER),
    "point_forecast": any_tenant(VIEWER),
    "area_statistics": any_tenant(VIEWER),
    "open_meteo_update_times": any_tenant(VIEWER),
    "open_meteo_forecast": any_tenant(VIEWER),
    "edr_landing": any_tenant(VIEWER),
    "edr_landing_slash": any_tenant(VIEWER),
    "edr_conformance": any_tenant(VIEWER),
    "edr_collections": any_tenant(VIEWER),
    "edr_collection": any_tenant(VIEWER),
    "edr_position": any_tenant(VIEWER),
    "edr_area": any_tenant(VIEWER),
    "edr_cube": any_tenant(VIEWER),
}

CONSOLE: dict[str, Access] = {**CONSOLE_OPERATIONS}

ACCESS: dict[str, Access] = {**SERVER, **QUEUE, **DATA, **CONSOLE}


def access_of(operation: str) -> Access:
    """What the operation asks, or a LookupError that says where to write it."""
    try:
        return ACCESS[operation]
    except KeyError:
        raise LookupError(
            f"the operation {operation} has no line in gribmill/server/access/table.py: say who may do it"
        ) from None
