"""Job templates: named arguments and options."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from gribmill.queue.model import JobTemplate
from gribmill.queue.redact import redact, redact_json
from gribmill.views.view import Time, View

if TYPE_CHECKING:
    from gribmill.queue.store.types.templates import TemplateUse


class TemplateView(View):
    """A template. Null options default to the job type's values."""

    id: int
    name: str
    type: str
    args: Any
    description: str
    priority: int
    timeout_seconds: int | None
    max_attempts: int | None
    dedupe_key: str | None
    tenant_id: str
    created_by: str | None
    created_at: Time | None
    updated_at: Time | None

    @classmethod
    def of(cls, template: JobTemplate) -> Self:
        return cls.copy_of(template, **_redacted(template))


class TemplateTriggerView(View):
    """A trigger that uses a template."""

    id: int
    label: str


class TemplateDetailView(TemplateView):
    """A template, the arguments that each job must still supply, and the triggers that use it."""

    missing: tuple[str, ...]
    triggers: tuple[TemplateTriggerView, ...]

    @classmethod
    def of_use(cls, found: TemplateUse) -> Self:
        triggers = tuple(TemplateTriggerView.copy_of(one) for one in found.triggers)
        return cls.copy_of(found.template, missing=found.missing, triggers=triggers, **_redacted(found.template))


def _redacted(template: JobTemplate) -> dict[str, Any]:
    """The fields that could contain secrets, redacted."""
    return {
        "args": redact_json(template.args),
        "dedupe_key": redact(template.dedupe_key) if template.dedupe_key else None,
    }
