"""mudra conformance: check an implementation of the specification, or a member's API."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final

import httpx2
import typer

from mudra.cli.commands.conformance import member_check, options
from mudra.cli.commands.conformance.options import entity_from, safe_url, secret_from
from mudra.cli.commands.conformance.shown import finish, shown_as_it_comes, waits
from mudra.cli.local.settings import AsJson
from mudra.cli.output.output import Exit, fail, show_json
from mudra.client import clock
from mudra.conformance.answer import Caller
from mudra.conformance.check import Need
from mudra.conformance.redaction import Redaction
from mudra.conformance.result import Report
from mudra.conformance.run import run_checks, selected
from mudra.conformance.service.checks.catalogue import SERVICE_CHECKS
from mudra.conformance.service.implementation import Implementation
from mudra.conformance.service.target import Target, UserCredentials
from mudra.shared.secret_text import SecretText
from mudra.shared.time_text import iso_ms

TIMEOUT_S: Final = 60.0

app = typer.Typer(no_args_is_help=True)
app.command(epilog=member_check.EXAMPLE)(member_check.member)


@app.command(
    epilog="Example: mudra conformance run --base-url https://iam.example.org/iam --entity-id "
    "ACME-FIP --secret-file secret --username asha@acme.example --password-file password "
    "--html report.html · mudra conformance run --base-url … --only 4.4 --json"
)
def run(  # noqa: PLR0913, PLR0917  # its options
    base_url: options.TokenService,
    registry_url: options.RegistryUrl = "",
    metrics_url: options.MetricsUrl = "",
    entity_id: options.EntityId = "",
    secret_file: options.SecretFile = None,
    username: options.Username = "",
    password_file: options.PasswordFile = None,
    aa_id: options.AaId = "",
    aa_secret_file: options.AaSecretFile = None,
    resets: options.Resets = False,
    all_resets: options.AllResets = False,
    register: options.Register = False,
    push: options.Push = False,
    only: options.Only = None,
    specification_only: options.SpecificationOnly = False,
    sandbox_url: options.SandboxUrl = "",
    expired_token_file: options.ExpiredTokenFile = None,
    allow_http: options.AllowHttp = False,
    junit: options.JunitFile = None,
    html: options.HtmlFile = None,
    as_json: AsJson = False,
) -> None:
    """Check a service from outside, part by part; exits with 1 when one failed or none ran.

    Without credentials only what needs none is checked; nothing is changed without --resets,
    --register or --push, which are for entities of your own on a test network.
    """
    permits = {
        Need.RESETS: resets,
        Need.ALL_RESETS: all_resets,
        Need.REGISTER: register,
        Need.PUSH: push,
        Need.CLOCK: bool(sandbox_url),
    }
    target = Target(
        base_url=safe_url("--base-url", base_url, allow_http=allow_http),
        registry_url=registry_url
        and safe_url("--registry-url", registry_url, allow_http=allow_http),
        metrics_url=metrics_url and safe_url("--metrics-url", metrics_url, allow_http=allow_http),
        entity=entity_from("--entity-id", entity_id, secret_file, options.ENTITY_SECRET),
        user=_user(username, secret_from(password_file, options.PASSWORD)),
        aa=entity_from("--aa-id", aa_id, aa_secret_file, options.AA_SECRET),
        expired=secret_from(expired_token_file, ""),
        permits=frozenset(need for need, given in permits.items() if given),
    )
    report = _report(
        target, only or [], sandbox_url, decisions=not specification_only, quiet=as_json
    )
    finish(report, junit, html, as_json=as_json)


@app.command("list", epilog="Example: mudra conformance list --only 4.4 --json")
def list_checks(only: options.Only = None, as_json: AsJson = False) -> None:
    """List the checks of a service, with the line that each proves and what it needs."""
    checks = selected(SERVICE_CHECKS, only or [], decisions=True)
    if as_json:
        show_json(
            [
                {
                    "checkId": one.check_id,
                    "part": one.part,
                    "title": one.title,
                    "line": one.line,
                    "basis": one.basis,
                    "needs": list(one.needs),
                }
                for one in checks
            ]
        )
        return
    for one in checks:
        typer.echo(f"{one.check_id:9} {one.title}\n{'':10}{one.basis}: {one.line}")
        if one.needs:
            typer.echo(f"{'':10}needs {', '.join(one.needs)}")


def _report(
    target: Target, only: list[str], sandbox_url: str, *, decisions: bool, quiet: bool
) -> Report:
    checks = selected(SERVICE_CHECKS, only, decisions=decisions)
    if not checks:
        fail("--only: no such part or check; mudra conformance list shows them", Exit.USAGE)
    redaction = Redaction()
    started = datetime.fromtimestamp(clock.wall(), UTC)
    with httpx2.Client(timeout=TIMEOUT_S) as client:
        caller = Caller(client, waits)
        one = Implementation(target, caller, redaction, _pause(caller, sandbox_url), clock.wall)
        if (reached := one.refused_form).status == 0:
            fail(f"{target.base_url}: {reached.described()}", Exit.UNREACHABLE)
        show = shown_as_it_comes(len(checks), quiet=quiet)
        results = run_checks(checks, one, target.given, redaction, clock.steady, show)
    if one.resets:
        typer.echo(
            f"mudra: the secret of {one.entity.entity_id} was reset {one.resets} times: "
            "read the current one with mudra secret read, or in the console",
            err=True,
        )
    return Report(target.base_url, iso_ms(started), results)


def _pause(caller: Caller, sandbox_url: str) -> Callable[[float], None]:
    """Return what waits; in a sandbox it moves the clock."""

    def advance(seconds: float) -> None:
        url = f"{sandbox_url.rstrip('/')}/sandbox/v1/clock"
        body = b'{"advance":"PT' + str(round(seconds)).encode() + b'S"}'
        moved = caller.ask("POST", url, headers={"Content-Type": "application/json"}, content=body)
        if moved.status != httpx2.codes.OK:
            fail(f"--sandbox-url: its clock was not moved: {moved.described()}")

    return advance if sandbox_url else waits


def _user(username: str, password: SecretText | None) -> UserCredentials | None:
    if not username:
        return None
    if password is None:
        fail(f"--username needs --password-file or {options.PASSWORD}", Exit.USAGE)
    return UserCredentials(username, password)
