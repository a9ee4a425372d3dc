"""Checks that the models and regions in [chain] and [retention] exist. Too slow to do whenever settings are loaded."""

from __future__ import annotations

import difflib

from gribmill.ingest.models.registry import models_named
from gribmill.pipeline.models import configured_models
from gribmill.regions.errors import RegionError
from gribmill.regions.region import built_in_regions
from gribmill.settings.schema import Settings


def check_chain_models(settings: Settings) -> None:
    """Raise ModelError if a model in [chain] or [retention] does not exist."""
    names = [*settings.chain.models, *settings.retention]
    known = configured_models(settings) if names else {}
    for name in names:
        models_named(known, name)


def check_chain_regions(settings: Settings) -> None:
    """Raise RegionError if a region does not exist."""
    known = {**built_in_regions(), **settings.regions}
    for name in settings.chain.regions:
        if name not in known:
            near = difflib.get_close_matches(name[:100], known, n=3)
            hint = f"did you mean {', '.join(near)}?" if near else "`gribmill regions list` shows them all"
            raise RegionError(f"[chain] regions: there is no region {name!r}; {hint}")
