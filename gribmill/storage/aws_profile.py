"""Reads the keys of an AWS profile from ~/.aws/credentials and ~/.aws/config, as other tools do."""

from __future__ import annotations

import configparser
import os
from pathlib import Path

from gribmill.errors import GribmillError, quoted
from gribmill.regular_file import open_regular

LIMIT_BYTES = 1_000_000
# What a profile may have instead of keys; only AWS's own tools support these.
INDIRECT = ("sso_session", "sso_start_url", "role_arn", "credential_process")


def profile_options() -> dict[str, str]:
    """Keys, region and endpoint of the profile in use (AWS_PROFILE, else `default`); empty if there is none.

    Reads nothing if the environment has keys, which take precedence.
    """
    if os.environ.get("AWS_ACCESS_KEY_ID"):
        return {}
    named = os.environ.get("AWS_PROFILE")
    name = named or "default"
    keys = _section(_file("AWS_SHARED_CREDENTIALS_FILE", "credentials"), name)
    config = _section(_file("AWS_CONFIG_FILE", "config"), name if name == "default" else f"profile {name}")
    both = {**config, **keys}
    if named and not both:
        raise GribmillError(
            f"there is no AWS profile {quoted(named)} (AWS_PROFILE) in ~/.aws/credentials or ~/.aws/config"
        )
    if "aws_access_key_id" not in both:
        if named and any(key in both for key in INDIRECT):
            raise GribmillError(
                f"the AWS profile {quoted(named)} contains no keys; run `aws configure export-credentials"
                f" --profile {name} --format env` and set what it prints"
            )
        return {key: both[key] for key in ("region", "endpoint_url") if key in both}
    wanted = ("aws_access_key_id", "aws_secret_access_key", "aws_session_token", "region", "endpoint_url")
    return {key: both[key] for key in wanted if key in both}


def _file(variable: str, name: str) -> Path:
    named = os.environ.get(variable)
    return Path(named) if named else Path(os.environ.get("HOME", "/")) / ".aws" / name


def _section(path: Path, name: str) -> dict[str, str]:
    try:
        with open_regular(path) as file:
            text = file.read(LIMIT_BYTES).decode("utf-8", "replace")
    except OSError:
        return {}
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        parser.read_string(text)
    except configparser.Error as error:
        raise GribmillError(f"{path} cannot be read: {error.message.splitlines()[0]}") from None
    return dict(parser[name]) if name in parser else {}
