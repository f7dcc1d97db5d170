"""`plgd doctor`: what is missing or slow, and what to do about it."""

from __future__ import annotations

import argparse
import platform

import msgspec

from plgd.config import load_config
from plgd.doctor import check_installation
from plgd.errors import ConfigError, DaemonError, DaemonUnreachable
from plgd.paths import Paths
from plgd.protocol.base import NoParams
from plgd.protocol.daemon import DoctorResult, Finding
from plgd.protocol.methods import DOCTOR
from plgd.version import __version__
from plgd_cli.ask import ask
from plgd_cli.output import write
from plgd_cli.parser import Parser
from plgd_cli.table import columns

__all__ = ("register", "run")


def register(_name: str, parser: Parser) -> None:
    """Add the arguments of `plgd doctor`."""
    parser.add_argument("--json", action="store_true", help="print the findings as JSON")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Carry out `plgd doctor`: 1 when something that plgd needs is missing."""
    paths = Paths.from_environment()
    own = _own_findings(paths)
    can_start = all(finding.level == "ok" for finding in own)
    findings = (*own, *_daemon_findings(paths, can_start=can_start))
    if arguments.json:
        write(msgspec.json.encode(DoctorResult(findings=findings)) + b"\n")
    else:
        write(_as_table(findings))
    return int(any(finding.level == "missing" for finding in findings))


def _own_findings(paths: Paths) -> tuple[Finding, ...]:
    """What can be seen without a daemon."""
    command = Finding(level="ok", subject="command", fact=f"plgd {__version__} on {platform.platform()}")
    try:
        load_config(paths.config_file)
    except ConfigError as error:
        advice = "correct the file; until then the daemon does not start"
        return command, Finding(level="missing", subject="configuration", fact=error.message, advice=advice)
    where = paths.config_file if paths.config_file.exists() else f"defaults (no {paths.config_file})"
    return command, Finding(level="ok", subject="configuration", fact=str(where))


def _daemon_findings(paths: Paths, *, can_start: bool) -> tuple[Finding, ...]:
    """What the daemon sees; when it cannot be asked, that is a finding, after those that need no daemon."""
    try:
        return ask(DOCTOR, NoParams(), start=can_start).findings
    except DaemonError as error:
        if not can_start and isinstance(error, DaemonUnreachable):
            return check_installation(paths)  # why it is not running was found already
        advice = "read the log with `plgd logs`, then try `plgd restart`"
        unreachable = Finding(level="missing", subject="daemon", fact=error.message, advice=advice)
        return *check_installation(paths), unreachable


def _as_table(findings: tuple[Finding, ...]) -> str:
    rows: list[tuple[str, str, str]] = []
    for finding in findings:
        rows.append((finding.level, finding.subject, finding.fact))
        if finding.advice:
            rows.append(("", "", f"-> {finding.advice}"))
    return columns(rows)
