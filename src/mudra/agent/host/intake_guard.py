"""Who may send events: no web page by way of somebody's browser, and only who has the token.

A page can post to an address of its reader's machine. It cannot leave out `Origin`, cannot choose
`Host`, and can send neither JSON nor `Authorization` without asking first, which is never granted.
"""

import hmac
from collections.abc import Mapping
from ipaddress import ip_address
from typing import Final
from urllib.parse import urlsplit

import msgspec

JSON: Final = "application/json"
_LOCAL: Final = "localhost"
_BEARER: Final = "bearer "


class Forbidden(msgspec.Struct, frozen=True):
    """Why a request is not read: status, `errorCode` and text of the response."""

    status: int
    code: str
    message: str


class IntakeGuard(msgspec.Struct, frozen=True):
    """The rules of one agent: the names under which it is called, and its token if it has one."""

    hosts: tuple[str, ...] = ()
    token: bytes = b""

    def __repr__(self) -> str:
        """Without the token."""
        return f"IntakeGuard(hosts={self.hosts!r})"

    def refusal_of(self, headers: Mapping[str, str]) -> Forbidden | None:
        """Return why a POST is refused by its headers (names in lower case); None when it is not.

        An address of numbers cannot be another's name, so it needs no entry in `hosts`.
        """
        if "origin" in headers or headers.get("sec-fetch-site", "none") != "none":
            return Forbidden(403, "Forbidden", "events are not taken from web pages")
        if not self._is_ours(headers.get("host", "")):
            return Forbidden(
                421, "MisdirectedRequest", "this agent has no such name: add it to http.hosts"
            )
        given = headers.get("authorization", "")
        sent = given[len(_BEARER) :].strip() if given[: len(_BEARER)].lower() == _BEARER else ""
        if self.token and not hmac.compare_digest(sent.encode(), self.token):
            return Forbidden(401, "Unauthorized", "send the token of http.token as a bearer token")
        return None

    def _is_ours(self, host: str) -> bool:
        try:
            name = (urlsplit(f"//{host}").hostname or "").lower()
        except ValueError:
            return False
        if name == _LOCAL or name in self.hosts:
            return True
        try:
            ip_address(name)
        except ValueError:
            return False
        return True


def media_type(headers: Mapping[str, str]) -> str:
    """Return the media type of a body, in lower case and without its parameters."""
    return headers.get("content-type", "").partition(";")[0].strip().lower()
