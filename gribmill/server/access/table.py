"""The access table: operation id → minimum role, and own or any tenant.

Every route needs an entry under its operation id (the name of its function); without one, importing it fails.
"""

from __future__ import annotations

from gribmill.server.access.console_operations import CONSOLE_OPERATIONS
from gribmill.server.access.roles import ADMIN, PUBLIC, SUPER_ADMIN, VIEWER, WORKER, Access, any_tenant, own

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

QUEUE: dict[str, Access] = {
    "create_job": own(ADMIN),
    "list_jobs": own(VIEWER),
    "summarize_jobs": own(VIEWER),
    "show_job": own(VIEWER),
    "list_attempts": own(VIEWER),
    "cancel_job": own(ADMIN),
    "retry_job": own(ADMIN),
    "run_job_now": own(ADMIN),
    "move_job": own(ADMIN),
    "bulk_jobs": own(ADMIN),
    "show_bulk": own(VIEWER),
    "list_triggers": own(VIEWER),
    "create_trigger": own(ADMIN),
    "show_trigger": own(VIEWER),
    "edit_trigger": own(ADMIN),
    "delete_trigger": own(ADMIN),
    "fire_trigger": own(ADMIN),
    "list_definitions": any_tenant(VIEWER),
    "show_definition": any_tenant(VIEWER),
    "create_definition": any_tenant(SUPER_ADMIN),
    "edit_definition": any_tenant(SUPER_ADMIN),
    "list_groups": own(VIEWER),
    "open_group": own(ADMIN),
    "show_group": own(VIEWER),
    "cancel_group": own(ADMIN),
    "retry_group": own(ADMIN),
    "resume_group": own(ADMIN),
    "list_templates": own(VIEWER),
    "create_template": own(ADMIN),
    "show_template": own(VIEWER),
    "edit_template": own(ADMIN),
    "delete_template": own(ADMIN),
    "run_template": own(ADMIN),
    "claim_jobs": any_tenant(WORKER),
    "heartbeat_job": any_tenant(WORKER),
    "complete_job": any_tenant(WORKER),
    "fail_job": any_tenant(WORKER),
    "list_workers": any_tenant(SUPER_ADMIN),
    "drain_worker": any_tenant(SUPER_ADMIN),
    "dismiss_worker": any_tenant(SUPER_ADMIN),
    "list_reservations": any_tenant(SUPER_ADMIN),
    "create_reservation": any_tenant(SUPER_ADMIN),
    "extend_reservation": any_tenant(SUPER_ADMIN),
    "release_reservation": any_tenant(SUPER_ADMIN),
    "emit_event": own(ADMIN),
    "list_events": own(VIEWER),
    "stream_events": own(VIEWER),
    "show_event": own(VIEWER),
    "list_webhooks": own(ADMIN),
    "create_webhook": own(ADMIN),
    "show_webhook": own(ADMIN),
    "edit_webhook": own(ADMIN),
    "delete_webhook": own(ADMIN),
    "list_deliveries": own(ADMIN),
    "check_webhook": own(ADMIN),
    "redeliver_event": own(ADMIN),
    "list_tenants": own(VIEWER),
    "show_tenant": own(VIEWER),
    "create_tenant": any_tenant(SUPER_ADMIN),
    "edit_tenant": any_tenant(SUPER_ADMIN),
    "list_tokens": own(ADMIN),
    "create_token": own(ADMIN),
    "rotate_token": own(ADMIN),
    "revoke_token": own(ADMIN),
    "list_audit": own(ADMIN),
    "tick": any_tenant(SUPER_ADMIN),
}

DATA: dict[str, Access] = {
    "list_models": any_tenant(VIEWER),
    "model_update_times": any_tenant(VIEWER),
    "list_regions": any_tenant(VIEWER),
    "list_runs": any_tenant(VIEWER),
    "latest_runs": any_tenant(VIEWER),
    "data_status": any_tenant(VIEWER),
    "download_tile": any_tenant(VIEWER),
    "tile_metadata": any_tenant(VIEWER),
    "tile_picture": any_tenant(VIEWER),
    "tile_table": any_tenant(VIEWER),
    "point_forecast": any_tenant(VIEWER),
    "area_statistics": any_tenant(VIEWER),
    "open_meteo_update_times": any_tenant(VIEWER),
    "open_meteo_forecast": any_tenant(VIEWER),
    "edr_landing": any_tenant(VIEWER),
    "edr_landing_slash": any_tenant(VIEWER),
    "edr_conformance": any_tenant(VIEWER),
    "edr_collections": any_tenant(VIEWER),
    "edr_collection": any_tenant(VIEWER),
    "edr_instances": any_tenant(VIEWER),
    "edr_instance": any_tenant(VIEWER),
    "edr_instance_position": any_tenant(VIEWER),
    "edr_instance_area": any_tenant(VIEWER),
    "edr_instance_cube": any_tenant(VIEWER),
    "edr_position": any_tenant(VIEWER),
    "edr_area": any_tenant(VIEWER),
    "edr_cube": any_tenant(VIEWER),
}

REMOTE_WORKERS: dict[str, Access] = dict.fromkeys(
    (
        "remote_read",
        "remote_exchange",
        "remote_siblings",
        "remote_heartbeat",
        "remote_upkeep",
        "remote_triggers",
        "remote_due",
    ),
    any_tenant(WORKER),
)

CONSOLE: dict[str, Access] = {**CONSOLE_OPERATIONS}

ACCESS: dict[str, Access] = {**SERVER, **QUEUE, **DATA, **REMOTE_WORKERS, **CONSOLE}


def access_of(operation: str) -> Access:
    """What the operation requires; raises LookupError if it has no entry."""
    try:
        return ACCESS[operation]
    except KeyError:
        raise LookupError(
            f"the operation {operation} has no entry in gribmill/server/access/table.py: add the role that may do it"
        ) from None
