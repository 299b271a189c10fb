"""mudra conformance member: does a member's API refuse the tokens that it must refuse."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Final

import httpx2
import msgspec
import typer

from mudra.cli.commands.conformance import options
from mudra.cli.commands.conformance.options import entity_from, safe_url, secret_from
from mudra.cli.commands.conformance.shown import finish, shown_as_it_comes, waits
from mudra.cli.local.given_file import read_file
from mudra.cli.local.settings import AsJson
from mudra.cli.output.output import Exit, fail
from mudra.client import clock
from mudra.client.web.token_headers import TOKEN_HEADERS
from mudra.conformance.answer import Caller
from mudra.conformance.check import NoToken
from mudra.conformance.member.address import api_address
from mudra.conformance.member.catalogue import MEMBER_CHECKS
from mudra.conformance.member.entry import NoEntry, baseurl_of, read_baseurl
from mudra.conformance.member.peer import MemberTarget, Peer
from mudra.conformance.redaction import Redaction
from mudra.conformance.result import Report
from mudra.conformance.run import run_checks
from mudra.conformance.service.checks.keys import published_keys
from mudra.conformance.service.implementation import Implementation
from mudra.conformance.service.target import Target
from mudra.shared.time_text import iso_ms

_TIMEOUT_S: Final = 30.0
_HEADER_OF: Final = {"AA": "aa_api_key", "FIP": "fip_api_key", "FIU": "client_api_key"}
EXAMPLE: Final = (
    "Example: mudra conformance member KAVERI-FIP --base-url https://iam.example.org/iam "
    "--entity-id SAARTHI-AA --secret-file secret --expired-token-file yesterday.jwt "
    "--html kaveri.html"
)


def member(  # noqa: PLR0913, PLR0917  # its options
    member_id: Annotated[str, typer.Argument(help="The member whose API is checked.")],
    base_url: options.TokenService,
    entity_id: Annotated[str, typer.Option(help="Your entity, in whose name it is called.")],
    secret_file: options.SecretFile = None,
    registry_url: options.RegistryUrl = "",
    entry: Annotated[
        Path | None, typer.Option(help="File with the registry payload; else it is read.")
    ] = None,
    header: Annotated[
        str, typer.Option(help="Header of the token; else by the type of the entity.")
    ] = "",
    expired_token_file: options.ExpiredTokenFile = None,
    other_audience_token_file: Annotated[
        Path | None, typer.Option(help="File with a token for another audience.")
    ] = None,
    allow_http: options.AllowHttp = False,
    junit: options.JunitFile = None,
    html: options.HtmlFile = None,
    as_json: AsJson = False,
) -> None:
    """Call a member's Heartbeat with right, forged and ended tokens; exits with 1 when one fails.

    The member sees calls in the name of --entity-id, and nothing else.
    """
    if header and header.lower() not in {one.lower() for one in TOKEN_HEADERS}:
        fail(f"--header must be one of {', '.join(TOKEN_HEADERS)}", Exit.USAGE)
    target = Target(
        base_url=safe_url("--base-url", base_url, allow_http=allow_http),
        registry_url=registry_url
        and safe_url("--registry-url", registry_url, allow_http=allow_http),
        entity=entity_from("--entity-id", entity_id, secret_file, options.ENTITY_SECRET),
    )
    redaction = Redaction()
    started = datetime.fromtimestamp(clock.wall(), UTC)
    with httpx2.Client(timeout=_TIMEOUT_S) as client:
        caller = Caller(client, waits)
        one = Implementation(target, caller, redaction, _never_waits, clock.wall)
        try:
            baseurl = read_baseurl(one, member_id) if entry is None else baseurl_of(_read(entry))
            token = one.entity_bearer
        except (NoEntry, NoToken) as refused:
            fail(str(refused))
        peer_target = MemberTarget(
            base_url=api_address(baseurl),
            header=header or _HEADER_OF.get(one.type_of(token), TOKEN_HEADERS[0]),
            token=token,
            keys=published_keys(one.keys_answer),
            expired=secret_from(expired_token_file, ""),
            other_audience=secret_from(other_audience_token_file, ""),
        )
        show = shown_as_it_comes(len(MEMBER_CHECKS), quiet=as_json)
        peer = Peer(peer_target, caller, redaction)
        results = run_checks(MEMBER_CHECKS, peer, peer_target.given, redaction, clock.steady, show)
    finish(Report(member_id, iso_ms(started), results), junit, html, as_json=as_json)


def _read(entry: Path) -> object:
    try:
        return msgspec.json.decode(read_file(entry))
    except (msgspec.DecodeError, UnicodeDecodeError):
        fail(f"{entry} cannot be read as JSON", Exit.USAGE)


def _never_waits(_: float) -> None:
    """Nothing that a member is asked needs time to pass."""
