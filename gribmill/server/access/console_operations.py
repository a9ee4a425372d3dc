"""Who may see and do what in the console. Buttons do what the same operations of the API do."""

from __future__ import annotations

from gribmill.server.access.roles import ADMIN, PUBLIC, SUPER_ADMIN, VIEWER, Access, any_tenant, own

PAGES = {
    "console_static": PUBLIC,
    "console_login": PUBLIC,
    "console_overview": own(VIEWER),
    "console_jobs": own(VIEWER),
    "console_job": own(VIEWER),
    "console_job_log": own(VIEWER),
    "console_runs": own(VIEWER),
    "console_run": own(VIEWER),
    "console_hour": own(VIEWER),
    "console_map": any_tenant(VIEWER),
    "console_map_tiles": any_tenant(VIEWER),
    "console_map_colours": any_tenant(VIEWER),
    "console_map_variable": any_tenant(VIEWER),
    "console_map_coastlines": any_tenant(VIEWER),
}
ACTIONS = {
    "console_release_reservation": any_tenant(SUPER_ADMIN),
    "console_change_jobs": own(ADMIN),
    "console_cancel_job": own(ADMIN),
    "console_retry_job": own(ADMIN),
    "console_run_job": own(ADMIN),
    "console_advance_job": own(ADMIN),
    "console_postpone_job": own(ADMIN),
    "console_fetch_hour": any_tenant(SUPER_ADMIN),
}

CONSOLE_OPERATIONS: dict[str, Access] = {**PAGES, **ACTIONS}
