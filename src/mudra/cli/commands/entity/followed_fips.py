"""mudra entity followed, follow and unfollow: the FIPs of which a FIU gets alarms."""

from http import HTTPMethod
from typing import Annotated
from urllib.parse import quote

import httpx2
import typer

from mudra.cli.client.api_client import (
    BaseUrl,
    as_entity,
    get_json,
    read_as,
    refused,
    send_json,
    signed_in,
)
from mudra.cli.client.api_responses import FollowedFips
from mudra.cli.client.tokens_file import SignedIn
from mudra.cli.local.settings import AsJson
from mudra.cli.output.output import show_json, show_table

_Fiu = Annotated[str, typer.Argument(help="ID of a FIU that you administer.")]
_Fips = Annotated[list[str], typer.Argument(help="IDs of FIPs.")]
_Prefix = Annotated[str, typer.Option("--prefix", help="Path of the network's metrics.")]
_PREFIX = "/metrics/perf/v1"


def followed(
    entity_id: _Fiu, prefix: _Prefix = _PREFIX, base_url: BaseUrl = None, as_json: AsJson = False
) -> None:
    """List the FIPs that a FIU follows: it gets alarms about these."""
    holder, url = _call(entity_id, prefix, base_url)
    _show(get_json(url, {}, holder), as_json=as_json)


def follow(
    entity_id: _Fiu,
    fips: _Fips,
    prefix: _Prefix = _PREFIX,
    base_url: BaseUrl = None,
    as_json: AsJson = False,
) -> None:
    """Follow FIPs, 500 at most; ends at the first that is refused."""
    _show(_each(HTTPMethod.PUT, fips, *_call(entity_id, prefix, base_url)), as_json=as_json)


def unfollow(
    entity_id: _Fiu,
    fips: _Fips,
    prefix: _Prefix = _PREFIX,
    base_url: BaseUrl = None,
    as_json: AsJson = False,
) -> None:
    """Stop following FIPs."""
    _show(_each(HTTPMethod.DELETE, fips, *_call(entity_id, prefix, base_url)), as_json=as_json)


def _call(entity_id: str, prefix: str, base_url: str | None) -> tuple[SignedIn, str]:
    entry = signed_in(base_url)
    url = str(httpx2.URL(entry.base_url).copy_with(path=f"{prefix}/followed-fips"))
    return as_entity(entity_id, entry), url


def _each(method: HTTPMethod, fips: list[str], holder: SignedIn, url: str) -> dict[str, object]:
    answer: dict[str, object] = {}
    for fip_id in fips:
        status, answer = send_json(method, f"{url}/{quote(fip_id, safe='')}", None, holder)
        if not httpx2.codes.is_success(status):
            refused(status, answer)
    return answer


def _show(answer: dict[str, object], *, as_json: bool) -> None:
    found = read_as(answer, FollowedFips).fips
    if as_json:
        show_json(found)
    elif found:
        show_table(["FIP"], [[one] for one in found])
    else:
        typer.echo("No FIP is followed: the page Health shows all, and no alarms come.")
