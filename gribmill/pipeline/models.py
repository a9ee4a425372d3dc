"""The models as the settings have them. Apart from `model_check`, which reads indexes: most commands need no more."""

from __future__ import annotations

from gribmill.config_file import expand_user
from gribmill.ingest.models.model import Model
from gribmill.ingest.models.registry import OwnModels, load_models
from gribmill.pipeline.variables import use_configured_variables
from gribmill.settings.schema import Settings


def configured_models(settings: Settings) -> dict[str, Model]:
    """Every model and member by its id, with the user's changes, folder and roots."""
    use_configured_variables(settings)
    folder = expand_user(settings.models_dir).absolute() if settings.models_dir else None
    return load_models(OwnModels(settings.models, folder, settings.roots))
