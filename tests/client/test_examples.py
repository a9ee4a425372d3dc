"""The examples of docs/server.md, run against a live server."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.server.live_server import LiveServer

PAGE = Path(__file__).parents[2] / "docs" / "server.md"
EXAMPLES = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
ADDRESS = "http://127.0.0.1:8760"


@pytest.mark.parametrize("number", range(2))
def test_example_works(number: int, live_server: LiveServer, capsys: pytest.CaptureFixture[str]) -> None:
    assert len(EXAMPLES) == 2
    token = live_server.token("tenant_admin", "acme")
    code = compile(EXAMPLES[number].replace(ADDRESS, live_server.url), str(PAGE), "exec")
    exec(code, {"token": token, "__name__": "example"})
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == ("1 queued 1", "10 jobs")[number]
    assert number == 1 or lines[1] == "folder.changed {'path': '/incoming'}"
