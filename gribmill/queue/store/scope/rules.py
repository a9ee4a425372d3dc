"""What the requests of a tenant may not do, though operators may do it for the tenant."""

from __future__ import annotations

from dataclasses import dataclass

from gribmill.queue.errors import BadArguments
from gribmill.queue.job_type import Registry


@dataclass(frozen=True, slots=True)
class TenantRules:
    """Priorities and job types are open to operators without limit: `by_operator` is for one who acts for a tenant."""

    least_priority: int
    top_priority: int
    by_operator: bool = False

    def check_type(self, registry: Registry, type_key: str | None) -> None:
        """Refuse a type whose jobs only operators may enqueue. Unknown types are left to other checks."""
        if self.by_operator or type_key is None or type_key not in registry:
            return
        if registry[type_key].for_operators:
            raise BadArguments(f"only operators may enqueue {type_key} jobs")

    def check_priority(self, priority: int | None) -> None:
        """Refuse a priority that would go ahead of the operators' work. None: that of a template, or the default."""
        if self.by_operator or priority is None or self.least_priority <= priority <= self.top_priority:
            return
        raise BadArguments(
            f"priority {priority} is not for tenants: theirs are {self.least_priority} to {self.top_priority}"
            f" (in the API, where lower means sooner: {100 - self.top_priority} to {100 - self.least_priority})"
        )
