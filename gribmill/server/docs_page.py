"""The OpenAPI document, and a page that shows it as plain HTML, without files from other servers."""

from __future__ import annotations

import json
from functools import lru_cache
from html import escape
from typing import Any

from fastapi import FastAPI, Request
from starlette.responses import Response

from gribmill.server.router import SecuredRouter

router = SecuredRouter("/api", tag="health", in_docs=False)

STYLE = """\
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 60rem; padding: 1rem; }
summary { cursor: pointer; padding: .25rem 0; }
summary code { font-weight: 600; }
pre { overflow: auto; padding: .5rem; border: 1px solid #8886; }
table { border-collapse: collapse; } td, th { padding: .1rem .8rem .1rem 0; text-align: left; vertical-align: top; }
"""
PAGE = """\
<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>gribmill API</title><link rel="stylesheet" href="/api/docs.css"></head>
<body><h1>gribmill API {version}</h1><p>{description} <a href="/api/openapi.json">OpenAPI document</a></p>
{operations}</body></html>
"""


@router.get("/openapi.json")
async def openapi_document(request: Request) -> Response:
    """The OpenAPI 3.1 document of this server."""
    return Response(_document(request.app), media_type="application/json", headers={"Cache-Control": "no-cache"})


@router.get("/docs")
async def api_docs(request: Request) -> Response:
    """The API documentation as an HTML page."""
    return Response(_page(request.app), media_type="text/html", headers={"Cache-Control": "no-cache"})


@router.get("/docs.css")
async def api_docs_style() -> Response:
    """The stylesheet of the documentation page."""
    return Response(STYLE, media_type="text/css", headers={"Cache-Control": "public, max-age=3600"})


@lru_cache(maxsize=4)
def _document(app: FastAPI) -> bytes:
    return json.dumps(app.openapi()).encode()


@lru_cache(maxsize=4)
def _page(app: FastAPI) -> str:
    document = app.openapi()
    by_tag: dict[str, list[str]] = {}
    for path, methods in document.get("paths", {}).items():
        for method, operation in methods.items():
            by_tag.setdefault(operation.get("tags", ["other"])[0], []).append(_operation(path, method, operation))
    parts = [f"<h2>{escape(tag)}</h2>{''.join(lines)}" for tag, lines in by_tag.items()]
    info = document["info"]
    return PAGE.format(
        version=escape(info["version"]), description=escape(info["description"]), operations="".join(parts)
    )


def _operation(path: str, method: str, operation: dict[str, Any]) -> str:
    rows = "".join(
        f"<tr><td><code>{escape(one['name'])}</code></td><td>{escape(one['in'])}</td>"
        f"<td>{escape(one.get('description', ''))}</td></tr>"
        for one in operation.get("parameters", [])
    )
    table = f"<table><tr><th>parameter<th>in<th></tr>{rows}</table>" if rows else ""
    shapes = {
        "request": operation.get("requestBody", {}).get("content"),
        "responses": {code: one.get("content") for code, one in operation.get("responses", {}).items()},
    }
    return (
        f"<details><summary><code>{method.upper()} {escape(path)}</code> {escape(operation.get('summary', ''))}"
        f"</summary><p>{escape(operation.get('description', ''))}</p>{table}"
        f"<pre>{escape(json.dumps(shapes, indent=1))}</pre></details>"
    )
