"""The templates of one tenant."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from gribmill.queue.model import JobTemplate, NewJob, NewTemplate
from gribmill.queue.store.types.templates import Templates, TemplateUse


class TenantTemplates:
    """Names are unique per tenant; other tenants may use the same ones."""

    def __init__(self, templates: Templates, tenant_id: str) -> None:
        self._templates = templates
        self._tenant_id = tenant_id

    def add(self, new: NewTemplate) -> JobTemplate:
        return self._templates.add(replace(new, tenant_id=self._tenant_id))

    def list(self) -> Sequence[JobTemplate]:
        return self._templates.list(self._tenant_id)

    def get(self, name: str) -> JobTemplate:
        return self._templates.get(name, self._tenant_id)

    def use(self, name: str) -> TemplateUse:
        return self._templates.use(name, self._tenant_id)

    def edit(self, name: str, /, **changes: Any) -> JobTemplate:
        return self._templates.edit(name, self._tenant_id, **changes)

    def remove(self, name: str) -> None:
        self._templates.remove(name, self._tenant_id)

    def job(self, name: str, args: Mapping[str, Any] | None = None) -> NewJob:
        return self._templates.job(name, self._tenant_id, args)
