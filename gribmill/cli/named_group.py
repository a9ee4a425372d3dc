"""Groups as command-line arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from gribmill.queue.errors import GroupNotFound

if TYPE_CHECKING:
    from gribmill.queue.model import JobGroup
    from gribmill.queue.store import Store


def tenant_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds --tenant to a command that names a group."""
    option = click.option("--tenant", default="global", show_default=True, help="The tenant that the group belongs to.")
    return option(command)


def named_group(store: Store, name: str, tenant: str) -> JobGroup:
    """The group with this name, or with this id if no group has the name."""
    try:
        return store.groups.find(name, tenant)
    except GroupNotFound:
        if not (name.isascii() and name.isdigit()) or len(name) > 18:
            raise
    group = store.groups.get(int(name))
    if group.tenant_id != tenant:
        raise GroupNotFound(f"there is no group {name} of the tenant {tenant}")
    return group
