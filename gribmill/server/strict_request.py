"""Requests whose JSON bodies must not have duplicate keys."""

from __future__ import annotations

import json
from typing import Any

from fastapi import Request

from gribmill.errors import quoted
from gribmill.server.problems import HttpProblem


class StrictRequest(Request):
    """Refuses JSON objects with duplicate keys: parsers differ in which value they use, so a proxy might have checked
    another one."""

    async def json(self) -> Any:
        if not hasattr(self, "_json"):
            self._json = json.loads(await self.body(), object_pairs_hook=_object)
        return self._json


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        twice = next(name for name, _ in pairs if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise HttpProblem(400, f"the key {quoted(twice)} occurs twice in an object of the body")
    return found
