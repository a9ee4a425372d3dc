"""The fields of a published file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from gribmill.views.view import View

if TYPE_CHECKING:
    from gribmill.ingest.download.remote_inventory import RemoteInventory


class RemoteFieldView(View):
    """One field: its name in gribmill or null, the texts of the index, and its byte range; `end` is null if unknown."""

    number: str
    name: str | None
    element: str
    level: str
    time: str
    extra: str
    start: int
    end: int | None
    line: str


class RemoteInventoryView(View):
    """The contents of a published file, and the URL of its index."""

    model: str
    run: str
    hour: int
    mirror: str
    url: str
    index_url: str
    fields: tuple[RemoteFieldView, ...]

    @classmethod
    def of(cls, inventory: RemoteInventory) -> Self:
        fields = tuple(RemoteFieldView.copy_of(one) for one in inventory)
        return cls.copy_of(inventory, fields=fields)
