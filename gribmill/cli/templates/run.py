"""`gribmill templates run`."""

from __future__ import annotations

from typing import Any

import click

from gribmill.cli.jobs.enqueue import enqueue, job_options


@click.command()
@click.argument("name")
@click.argument("args", default="{}", metavar="[JSON|-]")
@job_options
@click.pass_context
def run(ctx: click.Context, /, name: str, args: str, **options: Any) -> None:
    """Enqueue a job of the template NAME. JSON or --set override its arguments.

    The same as `gribmill jobs enqueue --template NAME`.

    \b
    gribmill templates run nap
    gribmill templates run nap '{"seconds": 3}' --set say=hello --priority 9
    """
    ctx.invoke(enqueue, type_key=None, args=args, template_name=name, **options)
