"""The models and variables of the settings. Separate from `model_check`, which most commands do not need."""

from __future__ import annotations

import sys

from gribmill.config_file import expand_user
from gribmill.ingest.models.model import Model
from gribmill.ingest.models.registry import OwnModels, load_models
from gribmill.settings.schema import Settings

_LEXICON = "gribmill.grib.names.lexicon"


def use_configured_variables(settings: Settings) -> None:
    """Add the variables of these settings to the lexicon; raises OwnVariableError if one cannot be used."""
    if settings.variables:
        _use_variables(settings)
    elif _LEXICON in sys.modules:  # most commands start without the lexicon
        from gribmill.grib.names.lexicon import use_own_variables

        use_own_variables(())


def _use_variables(settings: Settings) -> None:
    from gribmill.draw.palette import palettes
    from gribmill.grib.names.lexicon import use_own_variables
    from gribmill.grib.names.own_variables import OwnVariableError, own_variables
    from gribmill.tiles.format.meta import RESERVED

    tables = {name: table.model_dump(exclude_none=True) for name, table in settings.variables.items()}
    for name, table in tables.items():
        if name in RESERVED:
            raise OwnVariableError(f"[variables.{name}]: tiles have an array of that name; choose another name")
        if table.get("palette", "generic") not in palettes():
            known = ", ".join(sorted(palettes()))
            raise OwnVariableError(f"[variables.{name}]: there is no palette {table['palette']}; use one of {known}")
    use_own_variables(own_variables(tables))


def configured_models(settings: Settings) -> dict[str, Model]:
    """Every model and member by its id, with the user's changes, folder and roots."""
    use_configured_variables(settings)
    folder = expand_user(settings.models_dir).absolute() if settings.models_dir else None
    return load_models(OwnModels(settings.models, folder, settings.roots))
