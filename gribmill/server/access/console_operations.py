"""The roles that the console's pages and buttons need, as for the same operations of the API."""

from __future__ import annotations

from gribmill.server.access.roles import ADMIN, PUBLIC, SUPER_ADMIN, VIEWER, Access, any_tenant, own

FOR_ALL = ("console_static", "console_login")
FOR_VIEWERS = (
    "console_definitions",
    "console_definition",
    "console_events",
    "console_event",
    "console_webhooks",
    "console_webhook",
    "console_groups",
    "console_group",
    "console_jobs",
    "console_job",
    "console_job_log",
    "console_overview",
    "console_runs",
    "console_run",
    "console_hour",
    "console_triggers",
    "console_trigger",
)
FORECASTS = (
    "console_map",
    "console_map_tiles",
    "console_map_colours",
    "console_map_variable",
    "console_map_coastlines",
)
FOR_ADMINS = (
    "console_enqueue_job",
    "console_redeliver_event",
    "console_add_webhook",
    "console_test_webhook",
    "console_enable_webhook",
    "console_disable_webhook",
    "console_remove_webhook",
    "console_cancel_group",
    "console_retry_group",
    "console_change_jobs",
    "console_cancel_job",
    "console_retry_job",
    "console_run_job",
    "console_advance_job",
    "console_postpone_job",
    "console_new_trigger",
    "console_add_trigger",
    "console_edit_trigger",
    "console_fire_trigger",
    "console_enable_trigger",
    "console_disable_trigger",
    "console_remove_trigger",
)
FOR_OPERATORS = (
    "console_new_backfill",
    "console_workers",
    "console_sources",
    "console_storage",
    "console_tenants",
    "console_tenant",
    "console_tokens",
    "console_audit",
    "console_pause_type",
    "console_resume_type",
    "console_activate_type",
    "console_deactivate_type",
    "console_estimate_backfill",
    "console_start_backfill",
    "console_drain_worker",
    "console_dismiss_worker",
    "console_clear_mirror",
    "console_prune_runs",
    "console_release_reservation",
    "console_fetch_hour",
    "console_add_tenant",
    "console_edit_tenant",
    "console_enable_tenant",
    "console_disable_tenant",
    "console_create_token",
    "console_rotate_token",
    "console_revoke_token",
)

CONSOLE_OPERATIONS: dict[str, Access] = {
    **dict.fromkeys(FOR_ALL, PUBLIC),
    **dict.fromkeys(FOR_VIEWERS, own(VIEWER)),
    **dict.fromkeys(FORECASTS, any_tenant(VIEWER)),
    **dict.fromkeys(FOR_ADMINS, own(ADMIN)),
    **dict.fromkeys(FOR_OPERATORS, any_tenant(SUPER_ADMIN)),
}
