"""Options of the conformance commands; secrets come from files or the environment alone."""

import os
from pathlib import Path
from typing import Annotated, Final

import typer

from mudra.cli.output.output import Exit, fail
from mudra.client.address import checked_url
from mudra.conformance.service.target import EntityCredentials
from mudra.shared.secret_text import SecretText
from mudra.shared.text.byte_order_mark import NotUtf8, without_mark

ENTITY_SECRET: Final = "CONFORMANCE_SECRET"  # noqa: S105  # the name of a variable
PASSWORD: Final = "CONFORMANCE_PASSWORD"  # noqa: S105  # the name of a variable
AA_SECRET: Final = "CONFORMANCE_AA_SECRET"  # noqa: S105  # the name of a variable

TokenService = Annotated[
    str, typer.Option("--base-url", help="Address of the token service, as before /v1.")
]
RegistryUrl = Annotated[
    str, typer.Option(help="Address before /entityInfo; else /cr/v2 of the same host.")
]
MetricsUrl = Annotated[
    str, typer.Option(help="Address of the push; else /metrics/perf/v1/push of the same host.")
]
EntityId = Annotated[str, typer.Option(help="An entity of yours, best of type FIP.")]
SecretFile = Annotated[
    Path | None, typer.Option(help=f"File with its secret; else {ENTITY_SECRET}.")
]
Username = Annotated[str, typer.Option(help="An admin of that entity.")]
PasswordFile = Annotated[
    Path | None, typer.Option(help=f"File with the password; else {PASSWORD}.")
]
AaId = Annotated[str, typer.Option(help="An AA of yours.")]
AaSecretFile = Annotated[
    Path | None, typer.Option(help=f"File with the AA's secret; else {AA_SECRET}.")
]
Resets = Annotated[
    bool, typer.Option(help="Reset the entity's secret three times: takes 10 minutes.")
]
AllResets = Annotated[
    bool, typer.Option(help="Use up the entity's five resets of the day: takes 25 minutes.")
]
Register = Annotated[bool, typer.Option(help="Submit a right entry of the entity as well.")]
Push = Annotated[bool, typer.Option(help="Push metrics of the AA, in windows of last week.")]
Only = Annotated[
    list[str] | None,
    typer.Option(help="A part (4, 4.4, D3) or the beginning of an ID (T-4.4-1); repeatable."),
]
SpecificationOnly = Annotated[
    bool,
    typer.Option(help="Leave out what the network decided and the specification does not say."),
]
SandboxUrl = Annotated[
    str,
    typer.Option(
        help="A Mudra sandbox: its clock is moved in place of waiting, with --resets by days."
    ),
]
ExpiredTokenFile = Annotated[
    Path | None,
    typer.Option(help="File with an Entity Access Token that has expired: yesterday's."),
]
AllowHttp = Annotated[
    bool, typer.Option(help="Send credentials over plain http, on a network that is yours.")
]
JunitFile = Annotated[Path | None, typer.Option("--junit", help="Write JUnit XML for CI.")]
HtmlFile = Annotated[Path | None, typer.Option("--html", help="Write one HTML page.")]


def secret_from(file: Path | None, variable: str) -> SecretText | None:
    """Read a secret from its file, else from the environment; None where neither is given."""
    if file is None:
        text = os.environ.get(variable, "")
    else:
        try:
            text = without_mark(file.read_bytes()).decode().strip()
        except (OSError, UnicodeDecodeError, NotUtf8):
            fail(f"{file} cannot be read", Exit.USAGE)
        if not text:
            fail(f"{file} is empty", Exit.USAGE)
    return SecretText(text) if text else None


def entity_from(
    option: str, entity_id: str, file: Path | None, variable: str
) -> EntityCredentials | None:
    """Return an entity's credentials; None without an ID, and the end without its secret."""
    if not entity_id:
        return None
    secret = secret_from(file, variable)
    if secret is None:
        fail(f"{option} needs the file of its secret, or {variable}", Exit.USAGE)
    return EntityCredentials(entity_id, secret)


def safe_url(option: str, url: str, *, allow_http: bool) -> str:
    """Return the address without a final slash, or end when credentials may not go there."""
    try:
        return checked_url(url, allow_http=allow_http)
    except ValueError as error:
        reason = str(error).replace("pass allow_http=True", "give --allow-http")
        fail(f"{option}: {reason}", Exit.USAGE)
