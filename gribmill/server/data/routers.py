"""The routers of everything that is read from tiles."""

from __future__ import annotations

from gribmill.server.data.point_routes import router as point_router
from gribmill.server.data.routes import open_meteo_meta
from gribmill.server.data.routes import router as data_router
from gribmill.server.data.tile_routes import router as tile_router
from gribmill.server.edr.query_routes import router as edr_query_router
from gribmill.server.edr.routes import router as edr_router
from gribmill.server.openmeteo.routes import router as open_meteo_router
from gribmill.server.router import SecuredRouter

DATA_ROUTERS: tuple[SecuredRouter, ...] = (
    point_router,
    open_meteo_router,
    tile_router,
    data_router,
    open_meteo_meta,
    edr_router,
    edr_query_router,
)
