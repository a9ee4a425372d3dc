"""`gribmill templates show`."""

from __future__ import annotations

import json

import click

from gribmill.cli.output import print_json
from gribmill.cli.templates.fields import TENANT
from gribmill.cli.text.format_duration import format_duration
from gribmill.errors import printable
from gribmill.pipeline.open_queue import open_queue_for_reading
from gribmill.queue.redact import redact_json
from gribmill.queue.store.types.templates import TemplateUse
from gribmill.queue.times import to_rfc3339
from gribmill.settings.schema import Settings
from gribmill.views.queue.job_template import TemplateDetailView


@click.command()
@click.argument("name")
@TENANT
@click.option("--json", "as_json", is_flag=True, help="The template as JSON.")
@click.pass_obj
def show(settings: Settings, name: str, tenant: str, as_json: bool) -> None:
    """Show one template: its arguments and options, what each job must give, and the triggers that use it."""
    found = open_queue_for_reading(settings).templates.use(name, tenant)
    if as_json:
        print_json(TemplateDetailView.of_use(found))
        return
    for title, text in _facts(found).items():
        if text:
            click.echo(f"{title:<13}{printable(text)}")


def _facts(found: TemplateUse) -> dict[str, str]:
    one = found.template
    by = f" by {one.created_by}" if one.created_by else ""
    return {
        "template": one.name,
        "description": one.description,
        "type": one.type,
        "tenant": one.tenant_id,
        "arguments": json.dumps(redact_json(one.args), ensure_ascii=False, sort_keys=True),
        "still needed": ", ".join(found.missing),
        "priority": str(one.priority),
        "timeout": "" if one.timeout_seconds is None else format_duration(one.timeout_seconds),
        "attempts": "" if one.max_attempts is None else str(one.max_attempts),
        "dedupe key": one.dedupe_key or "",
        "triggers": ", ".join(f"{trigger.id} ({trigger.label})" for trigger in found.triggers),
        "added": f"{to_rfc3339(one.created_at)}{by}",
        "changed": to_rfc3339(one.updated_at) or "" if one.updated_at != one.created_at else "",
    }
