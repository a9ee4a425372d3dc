"""`gribmill jobs types`, `pause` and `resume`: the job types and their arguments, and pausing them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from gribmill.checked.constraints import either
from gribmill.cli.output import print_json, print_table
from gribmill.cli.text.figures import format_duration
from gribmill.pipeline.open_queue import open_queue, open_queue_for_reading
from gribmill.settings.schema import Settings
from gribmill.views.queue.job_type import JobTypeView

if TYPE_CHECKING:
    from gribmill.queue.job_type import JobType

# JSON Schema's types, in words.
_KINDS = {
    "object": "table",
    "array": "list",
    "string": "text",
    "boolean": "true or false",
    "integer": "whole number",
    "number": "number",
}


@click.command()
@click.argument("type_key", required=False, metavar="[TYPE]")
@click.option("--json", "as_json", is_flag=True, help="With the JSON Schema of the arguments.")
@click.pass_obj
def types(settings: Settings, type_key: str | None, as_json: bool) -> None:
    """List the job types; with TYPE, show one type and its arguments."""
    store = open_queue_for_reading(settings)
    states = {**dict.fromkeys(store.types.paused(), "paused"), **dict.fromkeys(store.types.inactive(), "inactive")}
    kinds = [store.registry[type_key]] if type_key is not None else sorted(store.registry, key=lambda kind: kind.key)
    if as_json:
        print_json([JobTypeView.of(kind, state=states.get(kind.key)) for kind in kinds])
    elif type_key is not None:
        _show(kinds[0], states.get(kinds[0].key))
    else:
        columns = ["type", "lane", "state", "timeout", "attempts", "arguments"]
        rows = [_row(kind, states.get(kind.key)) for kind in kinds]
        print_table(columns, rows, right=["timeout", "attempts"], wrap="arguments")


@click.command()
@click.argument("type_keys", nargs=-1, required=True, metavar="TYPE...")
@click.pass_obj
def pause(settings: Settings, type_keys: tuple[str, ...]) -> None:
    """Stop starting jobs of these types until they are resumed. Running jobs continue."""
    store = open_queue(settings)
    keys = [store.registry[key].key for key in type_keys]
    for key in keys:
        store.types.pause(key)
        click.echo(f"{key} is paused; `gribmill jobs resume {key}` resumes it")


@click.command()
@click.argument("type_keys", nargs=-1, required=True, metavar="TYPE...")
@click.pass_obj
def resume(settings: Settings, type_keys: tuple[str, ...]) -> None:
    """Start jobs of paused types again."""
    store = open_queue(settings)
    keys = [store.registry[key].key for key in type_keys]
    for key in keys:
        store.types.resume(key)
        click.echo(f"{key} is resumed")


def _state(kind: JobType, state: str | None) -> str:
    """The state of a type. Jobs without a handler here can be enqueued, and wait for a worker that has it."""
    return state or ("runs" if kind.handler else "no handler")


def _backoff(kind: JobType) -> str:
    return f"{format_duration(kind.backoff_base_s)} to {format_duration(kind.backoff_cap_s)}"


def _row(kind: JobType, state: str | None) -> list[Any]:
    names = ", ".join(_argument_names(kind))
    return [kind.key, kind.lane, _state(kind, state), format_duration(kind.timeout_seconds), kind.max_attempts, names]


def _argument_names(kind: JobType) -> list[str]:
    schema = kind.schema()
    required = set(schema.get("required", ()))
    return [name if name in required else f"[{name}]" for name in schema.get("properties", {})]


def _show(kind: JobType, state: str | None) -> None:
    facts = {
        "lane": kind.lane,
        "state": _state(kind, state),
        "timeout": format_duration(kind.timeout_seconds),
        "attempts": kind.max_attempts,
        "backoff": _backoff(kind),
        "batch": f"up to {kind.batch_max} jobs of one group" if kind.batch_max > 1 else "one job at a time",
        "limit": f"{kind.max_running} at once" if kind.max_running else "none",
        "worker dies": "retried" if kind.on_lost == "retry" else "failed",
        "equal jobs": "enqueued once while active" if kind.dedupe else "all enqueued",
    }
    click.echo(f"{kind.key}: {kind.description}\n")
    for name, value in facts.items():
        click.echo(f"  {name:<12} {value}")
    click.echo("")
    print_table(["argument", "kind", "default", ""], list(_arguments(kind)), wrap="")


def _arguments(kind: JobType) -> list[list[Any]]:
    schema = kind.schema()
    required = set(schema.get("required", ()))
    return [
        [
            name,
            _describe_type(field),
            "required" if name in required else field.get("default"),
            field.get("description", ""),
        ]
        for name, field in schema.get("properties", {}).items()
    ]


def _describe_type(field: dict[str, Any]) -> str:
    """The values that a field of a JSON Schema allows: `number, 0 to 3600`, `full or normal`."""
    if "enum" in field:
        return either(str(value) for value in field["enum"])
    if "anyOf" in field:
        return either(_describe_type(option) for option in field["anyOf"] if option.get("type") != "null")
    if isinstance(field.get("type"), list):
        return either(_describe_type({**field, "type": kind}) for kind in field["type"] if kind != "null")
    words = [_KINDS.get(field.get("type", ""), "")]
    low, high = field.get("minimum"), field.get("maximum")
    if low is not None and high is not None:
        words.append(f"{low:g} to {high:g}")
    elif low is not None:
        words.append(f"at least {low:g}")
    elif high is not None:
        words.append(f"at most {high:g}")
    if "exclusiveMinimum" in field:
        words.append(f"more than {field['exclusiveMinimum']:g}")
    if "pattern" in field:
        words.append(field["pattern"])
    if "maxLength" in field:
        words.append(f"up to {field['maxLength']} characters")
    return ", ".join(words).strip()
