"""`gribmill serve` as a process."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from gribmill.cli.serve import server_settings
from gribmill.queue.errors import StoreReadOnly
from gribmill.server.serving import serve
from gribmill.settings.schema import Settings

pytestmark = pytest.mark.process


def start(data: Path, *words: str) -> tuple[subprocess.Popen[str], str]:
    command = [sys.executable, "-m", "gribmill", "--data", str(data), "serve", "--port", "0", *words]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line.startswith("listening on http://127.0.0.1:"), line + process.stdout.read()
    return process, line.removeprefix("listening on ").strip()


def test_serves_until_term_and_ends_with_code_0(tmp_path: Path) -> None:
    process, url = start(tmp_path / "data")
    try:
        assert httpx.get(f"{url}/readyz").status_code == 200
    finally:
        process.send_signal(signal.SIGTERM)
        out, _ = process.communicate(timeout=60)
    assert (process.returncode, out) == (0, "")


def test_port_in_use_is_reported_in_one_sentence(tmp_path: Path) -> None:
    process, url = start(tmp_path / "data")
    port = url.rpartition(":")[2]
    command = [sys.executable, "-m", "gribmill", "--data", str(tmp_path / "data"), "serve", "--port", port]
    try:
        second = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    finally:
        process.terminate()
        process.communicate(timeout=60)
    assert second.returncode == 1
    assert second.stderr == f"error: cannot listen on 127.0.0.1 port {port}: Address already in use\n"


def test_unusable_data_root_is_reported_in_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file")
    settings = server_settings(Settings(data=tmp_path / "data"), port=0)
    with pytest.raises(StoreReadOnly, match="cannot create the queue's folder"):
        serve(settings, extensions=[], ready=pytest.fail)


def test_missing_extra_is_named_with_what_to_install(tmp_path: Path) -> None:
    (tmp_path / "uvicorn.py").write_text("raise ModuleNotFoundError(\"No module named 'uvicorn'\", name='uvicorn')")
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); from gribmill.cli.main import main; main(['serve'])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 1
    assert "pip install 'gribmill[server]'" in done.stderr
