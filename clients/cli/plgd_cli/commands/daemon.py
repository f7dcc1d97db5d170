"""`plgd start`, `stop`, `restart`, `status`: the daemon's life."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from contextlib import suppress

import msgspec

from plgd.config import load_config
from plgd.errors import ConfigError, DaemonError, DaemonUnreachable, VersionMismatch
from plgd.paths import Paths
from plgd.protocol.base import NoParams
from plgd.protocol.daemon import DocumentInfo, SharingInfo, StatusResult, StopParams, WarmInfo
from plgd.protocol.methods import STATUS, STOP
from plgd_cli.ask import ask
from plgd_cli.output import report, say, write
from plgd_cli.parser import Parser
from plgd_cli.table import duration, fields, size

__all__ = ("register",)


def register(name: str, parser: Parser) -> None:
    """Add the arguments of one of the commands."""
    runs: dict[str, Callable[[argparse.Namespace], int]] = {
        "start": _start,
        "stop": _stop,
        "restart": _restart,
        "status": _status,
    }
    parser.set_defaults(run=runs[name])
    if name in {"stop", "restart"}:
        parser.add_argument("--now", action="store_true", help="cancel the running edits instead of finishing them")
    if name == "status":
        parser.add_argument(
            "--json", action="store_true", help="print the status as JSON, each document that was seen included"
        )


def _start(_arguments: argparse.Namespace) -> int:
    try:
        status = ask(STATUS, NoParams(), start=False)
        if status.state != "stopping":
            write(f"plgd {status.version} is running already (process {status.pid}).\n")
            _warn_of_configuration()
            return 0
        say(f"plgd (process {status.pid}) finishes its edits; another starts when it has stopped.")
        ask(STOP, StopParams(), start=False)
    except (DaemonUnreachable, VersionMismatch):
        pass  # none runs, or none any more, or one that makes room
    status = ask(STATUS, NoParams())
    write(f"plgd {status.version} is running (process {status.pid}).\n")
    return 0


def _stop(arguments: argparse.Namespace) -> int:
    try:
        stopped = ask(STOP, StopParams(drain=not arguments.now), start=False)
    except DaemonUnreachable:
        write("plgd is not running.\n")
    else:
        write(f"plgd stopped (process {stopped.pid}).\n")
    return 0


def _restart(arguments: argparse.Namespace) -> int:
    try:
        load_config(Paths.from_environment().config_file)
    except ConfigError as error:  # the daemon that runs is better than none
        code = report(error, as_json=False)
        if _runs():
            say("The daemon that runs was left as it is.")
        return code
    with suppress(VersionMismatch):  # it makes room already, or the start says why not
        _stop(arguments)
    return _start(arguments)


def _warn_of_configuration() -> None:
    """Say what is wrong with the configuration, which the daemon that runs read before it was so."""
    try:
        load_config(Paths.from_environment().config_file)
    except ConfigError as error:
        say(f"plgd: {error.message}")
        say("The daemon goes on with the configuration that it started with; the next one will not start.")


def _runs() -> bool:
    try:
        ask(STATUS, NoParams(), start=False)
    except DaemonError:
        return False
    return True


def _status(arguments: argparse.Namespace) -> int:
    status = ask(STATUS, NoParams(), start=False)
    write(msgspec.json.encode(status) + b"\n" if arguments.json else _as_table(status))
    return 0


def _documents(documents: Sequence[DocumentInfo]) -> str:
    if not documents:
        return ""
    parts = [f"{len(documents):,} seen"]
    if n_open := sum(document.is_open for document in documents):
        parts.append(f"{n_open:,} open")
    if warm := [document.warm_tokens for document in documents if document.warm_tokens]:
        parts.append(f"{len(warm):,} warm ({sum(warm):,} tokens)")
    return ", ".join(parts)


def _warmth(warm: WarmInfo) -> str:
    if not warm.kv_limit_bytes:
        return ""
    used = f"{size(warm.kv_bytes)} of {size(warm.kv_limit_bytes)}"
    if not warm.prompts:
        return used
    share = 100.0 * warm.cached_tokens / warm.prompt_tokens
    return f"{used}; {warm.warm_prompts:,} of {warm.prompts:,} prompts began warm ({share:.0f} % of their tokens)"


def _on_disk(warm: WarmInfo) -> str:
    if not warm.spill_limit_bytes:
        return ""
    parts = [f"{size(warm.spill_bytes)} of {size(warm.spill_limit_bytes)}", f"{warm.spill_states:,} kept"]
    if warm.spill_hits:
        parts.append(f"{warm.spill_hits:,} came back")
    if warm.spill_refused:
        parts.append(f"{warm.spill_refused:,} unusable")
    if warm.spill_unwritten:
        parts.append(f"{warm.spill_unwritten:,} not written")
    return ", ".join(parts)


def _sharing(sharing: SharingInfo) -> str:
    """Say how rounds of several edits went, once there were any."""
    parts = []
    if sharing.joint_turns:
        rows = sharing.joint_rows / sharing.joint_turns
        parts.append(f"{sharing.joint_turns:,} rounds of {rows:.1f} edits on average ({sharing.joint_passes:,} passes)")
    if sharing.turns_because:
        parts.append(f"edits take turns: {sharing.turns_because}")
    return "; ".join(parts)


def _as_table(status: StatusResult) -> str:
    loading = f" {status.loading_percent:.0f} %" if status.state == "loading" else ""
    rows = [
        ("state", f"{status.state}{loading}"),
        ("message", status.message),
        ("model", status.model or "none in memory"),
        ("device", f"{status.device}, {size(status.device_bytes)} of arrays" if status.device else ""),
        ("memory", size(status.resident_bytes)),
        ("edits", f"{status.n_edits:,} answered"),
        ("completions", f"{status.n_completions:,} answered" if status.n_completions else ""),
        *(("job", f"{job.name}, {job.stage.value} {job.percent:.0f} %") for job in status.jobs),
        ("sharing", _sharing(status.sharing)),
        ("documents", _documents(status.documents)),
        ("warm", _warmth(status.warm)),
        ("on disk", _on_disk(status.warm)),
        ("process", f"{status.pid}, plgd {status.version}, up {duration(status.uptime_s)}"),
        ("socket", status.socket),
    ]
    return fields(rows)
