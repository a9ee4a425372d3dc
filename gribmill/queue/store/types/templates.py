"""Job templates: adding, changing, removing, and creating jobs from them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, NamedTuple

from gribmill.database.protocol import Snapshot
from gribmill.queue.errors import BadTemplate, NotAllowed, TemplateNotFound
from gribmill.queue.job_type import check_job, check_tenant_of_type
from gribmill.queue.model import DEFAULT_TENANT, JobTemplate, NewJob, NewTemplate
from gribmill.queue.store.base import ID_LIMIT, Facet, retried
from gribmill.queue.store.tenants import refuse_disabled

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}")
DESCRIPTION_LIMIT = 500
DEDUPE_LIMIT = 1000


class UsedBy(NamedTuple):
    """A trigger that uses a template."""

    id: int
    label: str


@dataclass(frozen=True, slots=True)
class TemplateUse:
    """A template, the arguments that each job must still give, and the triggers that use it."""

    template: JobTemplate
    missing: tuple[str, ...]
    triggers: tuple[UsedBy, ...]


class Templates(Facet):
    """Changing a template affects later jobs only: a job keeps the values it was created with."""

    @retried
    def add(self, new: NewTemplate) -> JobTemplate:
        """Store a template; raises BadTemplate, BadArguments or UnknownJobType if no job could be created from it."""
        self._check(new)
        with self.database.write() as tx:
            refuse_disabled(tx, new.tenant_id)
            if not tx.change("templates/insert", asdict(new)):
                raise BadTemplate(f"there is a template {new.name} of the tenant {new.tenant_id} already")
            return get_template(tx, new.name, new.tenant_id)

    def list(self, tenant_id: str | None = None) -> Sequence[JobTemplate]:
        """The templates of one tenant, or of all."""
        with self.database.read() as tx:
            return tx.query(JobTemplate, "templates/list", {"tenant_id": tenant_id})

    def get(self, name: str, tenant_id: str = DEFAULT_TENANT) -> JobTemplate:
        """The tenant's template of that name, or TemplateNotFound."""
        with self.database.read() as tx:
            return get_template(tx, name, tenant_id)

    def find(self, template_id: int) -> JobTemplate | None:
        """The template of that id; None if it was removed."""
        with self.database.read() as tx:
            return find_template(tx, template_id)

    def use(self, name: str, tenant_id: str = DEFAULT_TENANT) -> TemplateUse:
        with self.database.read() as tx:
            template = get_template(tx, name, tenant_id)
            triggers = tuple(tx.query(UsedBy, "templates/triggers", {"id": template.id}))
        return TemplateUse(template, self._check(_as_new(template)), triggers)

    @retried
    def edit(self, name: str, tenant_id: str = DEFAULT_TENANT, /, **changes: Any) -> JobTemplate:
        """Change fields of NewTemplate, except type and tenant. Existing jobs are not affected."""
        with self.database.write() as tx:
            tx.hold_edits()
            old = get_template(tx, name, tenant_id)
            new = replace(_as_new(old), **changes)
            if (new.type, new.tenant_id) != (old.type, old.tenant_id):
                raise BadTemplate("the type and the tenant of a template cannot be changed: add another one")
            self._check(new)
            taken = tx.first(JobTemplate, "templates/by_name", {"name": new.name, "tenant_id": tenant_id})
            if taken is not None and taken.id != old.id:
                raise BadTemplate(f"there is a template {new.name} of the tenant {tenant_id} already")
            tx.change("templates/update", {"id": old.id, **asdict(new)})
            return get_template(tx, new.name, tenant_id)

    @retried
    def remove(self, name: str, tenant_id: str = DEFAULT_TENANT) -> None:
        """Remove a template; its jobs stay. NotAllowed while a trigger uses it."""
        with self.database.write() as tx:
            template = get_template(tx, name, tenant_id)
            if users := tx.query(UsedBy, "templates/triggers", {"id": template.id}):
                names = ", ".join(f"{one.id} ({one.label})" for one in users[:5])
                more = f" and {len(users) - 5} more" if len(users) > 5 else ""
                raise NotAllowed(f"template {name} is used by trigger {names}{more}: change or remove that first")
            tx.change("templates/delete", {"id": template.id})

    def job(self, name: str, tenant_id: str = DEFAULT_TENANT, args: Mapping[str, Any] | None = None) -> NewJob:
        """Build a job from the template; `args` override its arguments. The job is not enqueued."""
        return job_of(self.get(name, tenant_id), args or {})

    def _check(self, new: NewTemplate) -> tuple[str, ...]:
        """Validate a template as far as possible; return the arguments that are still missing."""
        if not NAME.fullmatch(new.name):
            raise BadTemplate(
                f"{new.name[:60]!r} is not the name of a template: use 1 to 100 letters, digits, _, . and -,"
                " beginning with a letter or a digit"
            )
        if len(new.description) > DESCRIPTION_LIMIT or not (new.description or " ").isprintable():
            raise BadTemplate(f"a description has at most {DESCRIPTION_LIMIT} printable characters")
        if new.dedupe_key is not None and (not 0 < len(new.dedupe_key) <= DEDUPE_LIMIT):
            raise BadTemplate(f"a dedupe key has 1 to {DEDUPE_LIMIT} characters")
        kind = self.registry.expect(new.type)
        options = {name: getattr(new, name) for name in ("priority", "timeout_seconds", "max_attempts", "tenant_id")}
        check_job(NewJob(new.type, **options))
        check_tenant_of_type(kind, new.tenant_id)
        return kind.check_partly({**(kind.default_args or {}), **new.args})


def job_of(template: JobTemplate, args: Mapping[str, Any]) -> NewJob:
    """A job with the template's arguments and options; `args` override them."""
    if not isinstance(template.args, dict):
        raise BadTemplate(f"the arguments of template {template.name} are not a JSON object")
    return NewJob(
        template.type,
        {**template.args, **args},
        template.priority,
        dedupe_key=template.dedupe_key,
        max_attempts=template.max_attempts,
        tenant_id=template.tenant_id,
        timeout_seconds=template.timeout_seconds,
        template_id=template.id,
    )


def find_template(tx: Snapshot, template_id: int) -> JobTemplate | None:
    return tx.first(JobTemplate, "templates/get", {"id": template_id}) if 0 < template_id < ID_LIMIT else None


def get_template(tx: Snapshot, name: str, tenant_id: str) -> JobTemplate:
    """The tenant's template of that name, or TemplateNotFound."""
    found = tx.first(JobTemplate, "templates/by_name", {"name": name, "tenant_id": tenant_id})
    if found is None:
        raise TemplateNotFound(
            f"the tenant {tenant_id} has no template {name[:100]!r}; `gribmill templates list` shows them all"
        )
    return found


def _as_new(template: JobTemplate) -> NewTemplate:
    return NewTemplate(**{one.name: getattr(template, one.name) for one in fields(NewTemplate)})
