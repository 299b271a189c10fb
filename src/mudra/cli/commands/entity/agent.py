"""`mudra agent`: the monitoring agent at an account aggregator."""

import asyncio
import json
import random
import sqlite3
import sys
from pathlib import Path
from typing import Annotated, Final

import msgspec
import typer

from mudra.agent.clock import MachineClock
from mudra.agent.host.check import check as run_checks
from mudra.agent.host.check import refused
from mudra.agent.host.config import Config, ConfigError, log_of, read_config
from mudra.agent.host.log_check import CheckResult
from mudra.agent.host.replay import Replay, UnreadableLog
from mudra.agent.host.run import run as run_until_stopped
from mudra.agent.host.status import Status, ask_status, no_spool
from mudra.agent.sources.left_out import Reason
from mudra.agent.sources.logs.log_formats import FORMATS
from mudra.agent.spool.dead_letter import FOLDER, dead_letters, request_resend
from mudra.shared.build_version import version

app = typer.Typer(no_args_is_help=True, rich_markup_mode="markdown")

DEFAULT_CONFIG: Final = Path("/etc/mudra/agent.toml")

ConfigPath = Annotated[
    Path, typer.Option("--config", "-c", help="The agent's configuration file.", metavar="FILE")
]
AsJson = Annotated[bool, typer.Option("--json", help="Write JSON, for programs.")]


@app.command()
def run(config: ConfigPath = DEFAULT_CONFIG, *, as_json: AsJson = False) -> None:
    """Run the agent until it is stopped; its log goes to standard error, as JSON lines.

    Example: `mudra agent run --config /etc/mudra/agent.toml`
    """
    read = _read(config)
    if as_json:
        started = {"aaId": read.aa_id, "agentVersion": version(), "listen": read.http.listen}
        typer.echo(msgspec.json.encode(started).decode())
    else:
        typer.echo(f"the agent of {read.aa_id} listens at {', '.join(read.http.listen)}")
    raise typer.Exit(run_until_stopped(read))


@app.command()
def check(config: ConfigPath = DEFAULT_CONFIG, *, as_json: AsJson = False) -> None:
    """Check configuration, credentials, reachability, clock and disk, each with the way out.

    Example: `mudra agent check --config agent.toml`; exits with 1 when something is wrong.
    """
    try:
        read = read_config(config)
    except ConfigError as error:
        checked = refused(error)
    else:
        checked = asyncio.run(run_checks(read, MachineClock(), random.SystemRandom().uniform))
    if as_json:
        typer.echo(msgspec.json.encode(checked).decode())
    else:
        for one in checked:
            typer.echo(_line(one))
    if not all(one.ok for one in checked):
        raise typer.Exit(1)


@app.command()
def status(config: ConfigPath = DEFAULT_CONFIG, *, as_json: AsJson = False) -> None:
    """Show last window, last receipt, backlog, drops and clock offset.

    Asks the running agent; when it is down, reads its disk.

    Example: `mudra agent status --json`; exits with 1 when the agent is not ready.
    """
    read = _read(config)
    try:
        found = ask_status(read)
    except (sqlite3.Error, OSError) as error:
        typer.echo(no_spool(error, read), err=True)
        raise typer.Exit(1) from None
    typer.echo(msgspec.json.encode(found).decode() if as_json else _table(found))
    if not found.ready:
        raise typer.Exit(1)


@app.command()
def replay(
    file: Annotated[Path, typer.Argument(help="A JSON access log.", metavar="FILE")],
    config: ConfigPath = DEFAULT_CONFIG,
    log_format: Annotated[
        str, typer.Option("--format", help=f"{', '.join(FORMATS)}; default: as configured.")
    ] = "",
    *,
    from_fips: Annotated[
        bool, typer.Option("--from-fips", help="The log is of calls received, not made.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON document, with what was not counted.")
    ] = False,
) -> None:
    """Turn a log into payloads, one a line, without sending anything.

    The configuration names the format of each log; it applies to rotated files too, packed or not.

    Example: `mudra agent replay /var/log/nginx/fips.json.1 | jq .fips[0]`
    """
    read = _read(config)
    if not file.exists():
        typer.echo(f"{file} cannot be read: there is no such file", err=True)
        raise typer.Exit(1)
    known = log_of(file, read.log)
    if known is None and log_format not in FORMATS:
        typer.echo(
            f"--format must be one of {', '.join(FORMATS)}: "
            f"{file} is neither a log of {config} nor a rotated one",
            err=True,
        )
        raise typer.Exit(2)
    fields = known.names if known is not None and not log_format else FORMATS[log_format]
    inbound = from_fips or (known is not None and known.direction == "from-fips")
    fips = {host.lower(): fip for host, fip in read.fips.items()}
    made = Replay(read.aa_id, fields, fips, inbound=inbound)
    try:
        _write_payloads(made, file, as_json=as_json)
    except UnreadableLog as error:
        typer.echo(f"{file} cannot be read: {error}", err=True)
        raise typer.Exit(1) from None
    _refuse_unread(made, file)


def _write_payloads(made: Replay, file: Path, *, as_json: bool) -> None:
    """Write the payloads of a log, and what of it is in none. Raises UnreadableLog."""
    payloads, left = (payload.body for payload in made.payloads(file)), made.metrics
    if as_json:
        raws = [msgspec.Raw(body) for body in payloads]
        counts = {
            "otherCalls": left.counts[Reason.OTHER_CALL],
            "unknownFip": left.counts[Reason.UNKNOWN_PEER],
            "unproven": left.counts[Reason.UNPROVEN],
            "unreadable": left.unreadable,
        }
        document = {"payloads": raws, "notCounted": counts}
        typer.echo(msgspec.json.encode(document).decode())
        return
    for body in payloads:
        sys.stdout.write(body.decode() + "\n")
    sys.stdout.flush()
    typer.echo(
        f"not counted: {left.counts[Reason.OTHER_CALL]} calls of other kinds, "
        f"{left.counts[Reason.UNKNOWN_PEER]} of unknown FIPs, {left.unreadable} unreadable lines",
        err=True,
    )


def _refuse_unread(made: Replay, file: Path) -> None:
    """Say what is wrong with lines that are not counted; fail where no line can be read."""
    for sample in made.metrics.samples.values():
        typer.echo(f"such as {sample}", err=True)
    if made.metrics.unreadable and not made.lines_read:
        typer.echo(
            f"no line of {file} can be read: is it the log in JSON, of the format given?", err=True
        )
        raise typer.Exit(1)


@app.command()
def resend(
    files: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[LETTERS]...", help="Dead letters; default: all."),
    ] = None,
    config: ConfigPath = DEFAULT_CONFIG,
    *,
    as_json: AsJson = False,
) -> None:
    """Send dead letters again, once the reason of their refusal is gone.

    The agent queues them within a minute, or when it starts. Windows of more than
    7 days ago stay where they are: the operator no longer accepts them.

    Example: `mudra agent resend --config agent.toml`
    """
    directory = Path(_read(config).directory)
    missing = [path for path in files or () if not path.is_file()]
    if missing:
        typer.echo(f"{missing[0]} is not a dead letter; they are in {directory / FOLDER}", err=True)
        raise typer.Exit(2)
    try:
        wanted = files or dead_letters(directory)
        sent, old = request_resend(directory, wanted, MachineClock().wall())
    except OSError as error:
        typer.echo(
            f"{error.filename or directory} cannot be read or written: {error.strerror}", err=True
        )
        raise typer.Exit(1) from None
    if as_json:
        result = {"resent": [one.name for one in sent], "tooOld": [one.name for one in old]}
        typer.echo(msgspec.json.encode(result).decode())
    else:
        typer.echo(f"{len(sent)} will be sent again, {len(old)} are too old")


def _read(path: Path) -> Config:
    try:
        return read_config(path)
    except ConfigError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(2) from None


def _line(one: CheckResult) -> str:
    mark = "ok   " if one.ok else "WRONG"
    return f"{mark} {one.name:<14} {one.found}" + (
        f"\n      -> {one.way_out}" if one.way_out else ""
    )


def _table(found: Status) -> str:
    fields = json.loads(msgspec.json.encode(found))
    return "\n".join(f"{name:<20} {_text(value)}" for name, value in fields.items())


def _text(value: object) -> str:
    if isinstance(value, list):
        return "; ".join(map(str, value)) or "-"
    if isinstance(value, dict):
        return ", ".join(f"{name}: {number}" for name, number in value.items()) or "-"
    return "-" if value in {None, ""} else str(value)
