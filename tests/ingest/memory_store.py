"""A store of objects in memory."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from gribmill.sandbox.publisher.stored_object import BytesObject


class MemoryStore:
    """Objects by key in `objects`, which may be changed while it is served."""

    def __init__(self) -> None:
        self.objects: dict[str, BytesObject] = {}

    def put(self, key: str, data: bytes, modified: datetime) -> BytesObject:
        """Store an object, in place of any other with that key."""
        stored = BytesObject(key, data, modified)
        self.objects[key] = stored
        return stored

    def find(self, key: str) -> BytesObject | None:
        """The object with that key."""
        return self.objects.get(key)

    def is_folder(self, key: str) -> bool:
        """Any bucket exists, as an empty one; folders exist by the objects below them."""
        name = key.rstrip("/")
        return "/" not in name or next(self.walk(f"{name}/"), None) is not None

    def walk(self, prefix: str) -> Iterator[BytesObject]:
        """Every object whose key begins with the prefix, ordered by the keys' bytes."""
        for key in sorted(self.objects.copy(), key=str.encode):
            if key.startswith(prefix) and (stored := self.objects.get(key)):
                yield stored

    def names(self, key: str) -> list[tuple[str, BytesObject | None]]:
        """The entries of one folder: objects, and None for folders."""
        above = f"{key}/" if key else ""
        found: dict[str, BytesObject | None] = {}
        for stored in self.walk(above):
            name, slash, _ = stored.key.removeprefix(above).partition("/")
            found[name] = None if slash else stored
        return list(found.items())
