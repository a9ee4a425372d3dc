"""Mirrors and their circuit breakers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Self

from gribmill.views.view import Time, View

if TYPE_CHECKING:
    from gribmill.pipeline.status.mirror_status import MirrorStatus


class MirrorStatusView(View):
    """The health of one mirror, according to the latest requests."""

    name: str
    state: str
    failures: int
    last_reason: str
    sick_until: Time | None
    last_success: Time | None
    last_failure: Time | None
    summary: str

    @classmethod
    def of(cls, mirror: MirrorStatus) -> Self:
        return cls.copy_of(mirror)


class MirrorView(MirrorStatusView):
    """A mirror with the models that use it; the members of a family are listed under the family's name."""

    models: tuple[str, ...]

    @classmethod
    def used_by(cls, mirror: MirrorStatus, models: Sequence[str]) -> Self:
        return cls.copy_of(mirror, models=tuple(models))
