"""`gribmill serve`: the HTTP API, the console and the metrics."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from gribmill.cli.options.config_variable import share_config_file
from gribmill.errors import GribmillError
from gribmill.settings.schema import Settings

PORT = click.IntRange(0, 65535)
FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command()
@click.option("--host", metavar="H", help="The address to listen on. [default: 127.0.0.1]")
@click.option("--port", type=PORT, metavar="N", help="The port; 0 for any free one. [default: 8760]")
@click.option("--tls-cert", type=FILE, help="Certificate chain in PEM, to serve HTTPS; needs --tls-key.")
@click.option("--tls-key", type=FILE, help="Private key of the certificate, in PEM.")
@click.option("--dev", is_flag=True, help="Let requests from this machine make changes without a token.")
@click.pass_obj
def serve(settings: Settings, /, dev: bool, **given: Any) -> None:
    """Serve the HTTP API and the console, until stopped.

    Requests from this machine can read without a token; everything else needs one
    (`gribmill tokens create`). To listen on any other address than loopback, use TLS, or a
    proxy that terminates it.

    \b
    gribmill serve                                   http://127.0.0.1:8760
    gribmill serve --port 9000 --dev                 on this machine, changes allowed without a token
    gribmill serve --host 0.0.0.0 --tls-cert cert.pem --tls-key key.pem
    """
    share_config_file()
    settings = server_settings(settings, **given)
    try:
        from gribmill.console.extension import CONSOLE
        from gribmill.server.serving import serve as serve_until_stopped
    except ModuleNotFoundError as error:
        raise missing_extra(str(error.name)) from None
    serve_until_stopped(settings, dev=dev, extensions=[CONSOLE], ready=lambda url: click.echo(f"listening on {url}"))


def server_settings(settings: Settings, **given: Any) -> Settings:
    """The settings, with [server] overridden by command-line options."""
    changes = {name: value for name, value in given.items() if value is not None}
    return settings.model_copy(update={"server": settings.server.model_copy(update=changes)})


def missing_extra(package: str) -> GribmillError:
    return GribmillError(f"the server needs {package}, which is not installed: pip install 'gribmill[server]'")
