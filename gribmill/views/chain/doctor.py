"""The findings of `gribmill doctor`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from gribmill.views.view import View

if TYPE_CHECKING:
    from gribmill.pipeline.checkup.finding import Finding


class FindingView(View):
    """One check. `good` is null for information that is not a problem."""

    check: str
    good: bool | None
    detail: str
    remedy: str

    @classmethod
    def of(cls, finding: Finding) -> Self:
        return cls(check=finding.check, good=finding.good, detail=finding.detail, remedy=finding.remedy)
