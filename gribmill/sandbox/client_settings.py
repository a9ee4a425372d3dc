"""Settings with which gribmill downloads only from a sandbox."""

from __future__ import annotations

import json
from collections.abc import Iterable

from gribmill.ingest.models.hour_ranges import write_steps
from gribmill.ingest.models.model import Model
from gribmill.sandbox.publication import PublicationPlan, roots


def client_tables(models: Iterable[Model], url: str, made: PublicationPlan | None = None) -> str:
    """[roots] and, if `made` is given, [models]: a run of any cycle is then complete with the generated hours."""
    models = [*models]
    lines = ["[roots]", *(f"{name} = {json.dumps(root)}" for name, root in roots(models, url).items())]
    for family, hours in _hours(made).items():
        cycles = {
            cycle for model in models if model.family == family for row in model.schedules for cycle in row.cycles
        }
        table = f'{{ cycles = "{write_steps(tuple(sorted(cycles)))}", steps = "{write_steps(tuple(sorted(hours)))}" }}'
        lines += ["", f"[models.{family}]", f"hours = [{table}]"]
    return "\n".join(lines) + "\n"


def client_settings(models: Iterable[Model], url: str, made: PublicationPlan | None, regions: Iterable[str]) -> str:
    """A complete settings file. Its data root is the folder `data` beside it."""
    models = [*models]
    names = list(dict.fromkeys(model.id for model in models))
    return "\n".join(
        [
            "# Settings for a sandbox: every mirror of these models is the sandbox.",
            'data = "data"',
            "",
            "[chain]",
            f"models = {json.dumps(names)}",
            f"regions = {json.dumps([*regions])}",
            "runs_back = 1",
            "",
            client_tables(models, url, made),
        ]
    )


def _hours(made: PublicationPlan | None) -> dict[str, set[int]]:
    """The hours that were generated for each family."""
    found: dict[str, set[int]] = {}
    for hour in made.hours if made else ():
        for publication in hour:
            for model in publication.models:
                found.setdefault(model.family, set()).add(publication.hour)
    return found
