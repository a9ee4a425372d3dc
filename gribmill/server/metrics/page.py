"""`GET /metrics` in the text formats of Prometheus and OpenMetrics."""

from __future__ import annotations

from fastapi import Request
from fastapi.responses import Response
from prometheus_client import CONTENT_TYPE_LATEST
from prometheus_client.openmetrics.exposition import CONTENT_TYPE_LATEST as OPENMETRICS_TYPE

from gribmill.server.access.principal import CurrentPrincipal
from gribmill.server.context import Server
from gribmill.server.metrics.collector import MetricsCollector
from gribmill.server.router import SecuredRouter

router = SecuredRouter(tag="metrics")


@router.get("/metrics", response_class=Response, responses={200: {"content": {"text/plain": {}}}})
async def metrics(request: Request, server: Server, principal: CurrentPrincipal) -> Response:
    """All metrics, for Prometheus. A token of one tenant shows only its jobs."""
    collector: MetricsCollector = request.app.state.metrics
    wanted = "application/openmetrics-text" in request.headers.get("accept", "")
    text = await server.run(collector.scrape, principal.tenant_id, as_openmetrics=wanted)
    return Response(text, headers={"Content-Type": OPENMETRICS_TYPE if wanted else CONTENT_TYPE_LATEST})
