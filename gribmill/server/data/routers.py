"""The routers of models, runs, tiles and points."""

from __future__ import annotations

from gribmill.server.data.point_routes import points as point_router
from gribmill.server.data.point_routes import router as area_router
from gribmill.server.data.routes import open_meteo_meta
from gribmill.server.data.routes import router as data_router
from gribmill.server.data.tile_routes import router as tile_router
from gribmill.server.router import SecuredRouter

DATA_ROUTERS: tuple[SecuredRouter, ...] = (
    point_router,
    area_router,
    tile_router,
    data_router,
    open_meteo_meta,
)
