"""mudra serve: start the service."""

import sys
from pathlib import Path
from typing import Annotated, Final

import typer

from mudra.cli.local.program import program
from mudra.cli.local.settings import DataDir
from mudra.cli.output.output import Exit, fail
from mudra.cli.table import Extra
from mudra.demo.network import DEMO_NETWORK, DEMO_OPERATORS, DEMO_PASSWORD, FIRST_DAYS, Demo
from mudra.settings.settings import Settings

_USUAL_ISSUER: Final = "http://127.0.0.1:8080/iam"


def serve(
    host: Annotated[str | None, typer.Option(help="Where to listen; MUDRA_HOST.")] = None,
    port: Annotated[int | None, typer.Option(min=0, max=65535, help="Port; MUDRA_PORT.")] = None,
    data_dir: DataDir = None,
    workers: Annotated[
        int | None, typer.Option(min=1, max=64, help="Processes that serve HTTP; MUDRA_WORKERS.")
    ] = None,
    sandbox: Annotated[
        bool, typer.Option("--sandbox", help="Loopback only, with mailbox and time machine.")
    ] = False,
    demo: Annotated[
        bool, typer.Option("--demo", help="Set up a demonstration network (sandbox only).")
    ] = False,
    traffic: Annotated[
        bool, typer.Option(help="Whether its AAs have agents and traffic (with --demo).")
    ] = True,
) -> None:
    """Start the service; it brings its own PostgreSQL unless MUDRA_DATABASE_URL is set."""
    overrides: dict[str, object] = {
        "host": host,
        "port": port,
        "data_dir": data_dir,
        "workers": workers,
        "sandbox": sandbox or None,
    }
    shape = (Demo.ALIVE if traffic else Demo.STILL) if demo else Demo.NONE
    if demo and not program().settings(overrides).sandbox:
        fail("--demo needs --sandbox: its passwords are published", Exit.USAGE)
    if shape is Demo.ALIVE and not Extra.AGENT.is_installed:
        wanted = f"pip install '{Extra.AGENT.requirement}', or add --no-traffic"
        fail(f"--demo runs agents and needs the extra [agent]: {wanted}", Exit.NOT_INSTALLED)
    code = program().serve(overrides, lambda ready: _announce(ready, shape), shape)
    raise typer.Exit(code)


def _announce(settings: Settings, demo: Demo) -> None:
    root = settings.issuer.removesuffix(settings.token_prefix)
    pages = f"{root}/docs/reference/api.html, " if program().has_documentation() else ""
    lines = [
        "",
        f"Mudra answers at {settings.issuer}",
        f"  keys       {settings.issuer}/.well-known/jwks.json",
        f"  API        {pages}{root}/schema/openapi.json",
        f"  figures    http://{settings.telemetry_host}:{settings.telemetry_port}/metrics",
        f"  listens    {settings.host}:{settings.port}",
        f"  data       {settings.data_dir.resolve()}",
    ]
    if settings.sandbox:
        lines.insert(2, f"  look here  {root}/")
        lines.insert(3, f"  console    {root}/console")
        lines.append(f"  log        {settings.data_dir.resolve() / 'mudra.log'}")
    if demo is not Demo.NONE:
        lines += _demo_lines(settings, demo)
    sys.stdout.write("\n".join(lines) + "\n\n")
    sys.stdout.flush()


def _demo_lines(settings: Settings, demo: Demo) -> list[str]:
    command = _command()
    where = "" if settings.issuer == _USUAL_ISSUER else f"--base-url {settings.issuer} "
    first = next(member for member in DEMO_NETWORK if member.entity_type == "FIU")
    rows = [f"  {m.entity_type:<4} {m.entity_id:<19} {m.name:<29} {m.admin}" for m in DEMO_NETWORK]
    return [
        "",
        f"The demonstration network (every admin's password: {DEMO_PASSWORD})",
        *rows,
        *[f"  operator: {o.email} ({', '.join(o.scopes) or 'all scopes'})" for o in DEMO_OPERATORS],
        "",
        "Paste these into another terminal; they end in a verified token:",
        "",
        f"  {command} login {first.admin} {where}--password-stdin <<< {DEMO_PASSWORD}",
        f"  {command} token entity {first.entity_id} > token.jwt",
        f"  {command} token verify < token.jwt",
        "",
        *(_life_lines(settings, command) if demo is Demo.ALIVE else ()),
        "Ctrl-C stops it; the data stays.",
    ]


def _life_lines(settings: Settings, command: str) -> list[str]:
    aa = next(member.entity_id for member in DEMO_NETWORK if member.entity_type == "AA")
    config = settings.data_dir / "agents" / aa / "agent.toml"
    return [
        f"Every AA runs an agent; the last {FIRST_DAYS} days fill up within the next minute:",
        "",
        f"  {command} agent status --config {config}",
        f"  {command} sandbox traffic --data-dir {settings.data_dir} --days 30",
        "",
    ]


def _command() -> str:
    """Return how to call this program from the user's directory."""
    program = Path(sys.argv[0]).absolute()
    here = Path.cwd()
    return str(program.relative_to(here)) if program.is_relative_to(here) else program.name
