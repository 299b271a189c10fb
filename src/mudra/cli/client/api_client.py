"""Calls of member commands to the token service."""

import os
from collections.abc import Callable, Mapping
from typing import Annotated, NoReturn, TypeVar

import httpx2
import msgspec
import typer

from mudra.cli.client.api_responses import IssuedToken, Secret
from mudra.cli.client.tokens_file import SignedIn, TokensFileError, current
from mudra.cli.local.settings import settings_of
from mudra.cli.output.output import Exit, fail

_TIMEOUT_S = 30.0
S = TypeVar("S", bound=msgspec.Struct)

BaseUrl = Annotated[
    str | None,
    typer.Option(
        help="Base address of the token service; else MUDRA_BASE_URL, else that of the "
        "last sign-in, else http://127.0.0.1:8080/iam.",
        show_default=False,
    ),
]


def base_address(given: str | None) -> str:
    """Find the base address that a command means."""
    if given:
        return given.rstrip("/")
    if any(os.environ.get(name) for name in ("MUDRA_BASE_URL", "MUDRA_PORT", "MUDRA_HOST")):
        return settings_of().issuer
    known = _current(None)
    return known.base_url if known else settings_of().issuer


def signed_in(given: str | None) -> SignedIn:
    """Find the kept sign-in, or end with what to do."""
    base_url = base_address(given)
    entry = _current(base_url)
    if entry is None:
        fail(f"not signed in at {base_url}: run mudra login EMAIL", Exit.NOT_SIGNED_IN)
    return entry


def post_form(url: str, fields: dict[str, str]) -> dict[str, object]:
    """Post a form and give the answer's members, or end with the service's sentence."""
    return _answered(url, lambda client: client.post(url, data=fields))


def post_json(url: str, body: dict[str, object], entry: SignedIn) -> dict[str, object]:
    """Post JSON as the signed-in user; ends with the service's sentence."""
    headers = {"Authorization": "Bearer " + entry.secret_token.reveal()}
    return _answered(url, lambda client: client.post(url, json=body, headers=headers))


def post_open(url: str, body: dict[str, object]) -> dict[str, object]:
    """Post JSON to a call that needs no sign-in; ends with the service's sentence."""
    return _answered(url, lambda client: client.post(url, json=body))


def get_json(url: str, query: dict[str, str], entry: SignedIn) -> dict[str, object]:
    """Get JSON as the signed-in user; ends with the service's sentence."""
    headers = {"Authorization": "Bearer " + entry.secret_token.reveal()}
    return _answered(url, lambda client: client.get(url, params=query, headers=headers))


def read_as(response: Mapping[str, object], into: type[S]) -> S:
    """Read a response by its type, or end with what is missing in it."""
    try:
        return msgspec.convert(response, into)
    except msgspec.ValidationError as error:
        fail(f"the service answered something else ({error}): is --base-url right?")


def entity_token(entity_id: str, entry: SignedIn) -> dict[str, object]:
    """Read the secret of an entity and generate an Entity Access Token with it."""
    read = post_json(f"{entry.base_url}/v1/entity/secret/read", {"entityId": entity_id}, entry)
    form = {"id": entity_id, "secret": read_as(read, Secret).secret}
    return post_form(f"{entry.base_url}/v1/entity/token/generate", form)


def as_entity(entity_id: str, entry: SignedIn) -> SignedIn:
    """Give the sign-in with an Entity Access Token in place of the user's."""
    issued = read_as(entity_token(entity_id, entry), IssuedToken)
    return msgspec.structs.replace(entry, token=issued.access_token)


def _current(base_url: str | None) -> SignedIn | None:
    try:
        return current(base_url)
    except TokensFileError as error:
        fail(str(error), Exit.NOT_SIGNED_IN)


def send_json(
    method: str, url: str, body: object, entry: SignedIn
) -> tuple[int, dict[str, object]]:
    """Send JSON as the signed-in user; gives status and members, whatever the service said."""
    headers = {"Authorization": "Bearer " + entry.secret_token.reveal()}
    return _sent(url, lambda client: client.request(method, url, json=body, headers=headers))


def refused(status: int, members: dict[str, object]) -> NoReturn:
    """End with the sentence of a refusal."""
    fail(
        f"{members.get('errorMsg', 'refused')} "
        f"({members.get('errorCode', status)}, txnId {members.get('txnId')})",
        _exit_code(status),
    )


def _answered(url: str, call: Callable[[httpx2.Client], httpx2.Response]) -> dict[str, object]:
    status, members = _sent(url, call)
    if not httpx2.codes.is_success(status):
        refused(status, members)
    return members


def _sent(
    url: str, call: Callable[[httpx2.Client], httpx2.Response]
) -> tuple[int, dict[str, object]]:
    try:
        with httpx2.Client(timeout=_TIMEOUT_S, follow_redirects=False) as client:
            response = call(client)
    except (httpx2.InvalidURL, httpx2.UnsupportedProtocol, UnicodeError) as error:
        fail(f"{url} is no address of a service ({error}): is --base-url right?")
    except httpx2.HTTPError as error:
        fail(
            f"{url} did not answer ({type(error).__name__}): is the service running, "
            "and is --base-url right?",
            Exit.UNREACHABLE,
        )
    try:
        members = response.json()
    except ValueError:
        members = None
    if not isinstance(members, dict):
        fail(f"{url} answered {response.status_code} without JSON: is --base-url right?")
    return response.status_code, members


def _exit_code(status: int) -> Exit:
    if status == httpx2.codes.TOO_MANY_REQUESTS:
        return Exit.WAIT
    if status == httpx2.codes.SERVICE_UNAVAILABLE:
        return Exit.UNREACHABLE
    return Exit.FAILED
