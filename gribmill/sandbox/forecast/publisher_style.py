"""How a publisher writes its files: the rows of styles.toml."""

from __future__ import annotations

import tomllib
from functools import lru_cache
from importlib.resources import files
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from gribmill.grib.product.keys import Statistic
from gribmill.ingest.models.model import Model


class PublisherStyle(BaseModel):
    """The keys are explained in styles.toml."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    centre: str
    process: int | None = None
    packing: str
    bits: int | None = None
    missing: Literal["bitmap", "management"] = "bitmap"
    scanning: int | None = None
    grid_relative: bool = False
    uv_together: bool = False
    at_zero: frozenset[Statistic] = frozenset()
    simple: frozenset[str] = frozenset()
    param_ids: dict[str, int] = Field(default_factory=dict)
    mars_class: str = Field("", alias="class")
    stream: str = ""


def style_of(model: Model) -> PublisherStyle:
    """The model's own style; unlisted models use the usual style of their kind."""
    tables = _tables()
    return PublisherStyle.model_validate({**tables[model.layouts[0].index], **tables.get(model.family, {})})


@lru_cache(maxsize=1)
def _tables() -> dict[str, dict[str, Any]]:
    return tomllib.loads(files("gribmill.sandbox.forecast").joinpath("styles.toml").read_text(encoding="utf-8"))
